"""Folders of rows, as `harness measure` writes them."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.measuring.finished import write_complete
from harness.measuring.measured_turn import COLUMNS, MeasuredTurn
from harness.measuring.parquet import write_rows

A_ROW = MeasuredTurn(
    file="log.jsonl",
    position=0,
    time="2026-10-01T12:00:00Z",
    provider="p",
    model="m",
    prompt="native-tools",
    dialect="openai-chat",
    success=True,
    kind="",
    why="",
    signature="",
    blame="",
    quirks=(),
    calls=1,
    parse_errors=0,
    finish="tool_calls",
    failure="",
    digest="d",
    asked="a",
    bytes=100,
    lacks=(),
)


def failed(row: MeasuredTurn, signature: str = "parse error · ARGS-NULL") -> MeasuredTurn:
    return msgspec.structs.replace(
        row,
        success=False,
        kind="parse error",
        why="arguments are not JSON",
        signature=signature,
        blame="model",
        parse_errors=1,
    )


def rows_of_days(failures: Iterable[int], turns: int = 200, **labels: str) -> list[MeasuredTurn]:
    """Return the turns of the days from 1 October on, with so many failures each."""
    rows = []
    for day, count in enumerate(failures, 1):
        for number in range(turns):
            row = msgspec.structs.replace(
                A_ROW,
                position=day * 1_000 + number,
                time=f"2026-10-{day:02}T12:00:00Z",
                digest=f"{labels} {day} {number}",
                asked=f"{labels} {day} {number}",
                **labels,
            )
            rows.append(failed(row) if number < count else row)
    return rows


def a_folder(folder: Path, rows: Iterable[MeasuredTurn]) -> Path:
    write_complete(folder, write_rows(folder / "turns-000000.parquet", rows, COLUMNS))
    return folder
