"""A logged turn -> its row: was it a success, and if not, the blame and the kind of failure.

The response is read once, complete, by `reference`. Blame comes from the oracle, which reads only
turns that failed.
"""

from typing import Final

import msgspec

from harness.dialects.table import oracle_reading
from harness.judging.blame import blame_of_bytes, request_digest, turn_problem
from harness.judging.results import Blame, body_digest
from harness.measuring.records import LoggedTurn
from harness.normalizers import reference
from harness.normalizers.respond import offered_tools
from harness.turns.deltas import CUT_SHORT
from harness.turns.fold import fold
from harness.turns.turn import Turn

SCHEMA: Final = 1
_LONGEST: Final = 300


class TurnRow(msgspec.Struct, frozen=True):
    """One turn of a log: a row of `turns-*.parquet`.

    Fields:
        file, position: where it is in the log: a byte offset, a row, or a number of a member.
        time: ISO 8601; "" if the log does not say so.
        success: as in `harness.judging.blame`.
        kind: what kind of failure it is, such as `parse error`; "" for a success.
        why: the failure in words.
        signature: what failures of one cause have in common: kind, and the first quirk or else the
            dialect.
        blame: the responsible party.
        quirks: ids of the catalogue that the bytes show; only of failed turns.
        calls, parse_errors: numbers of calls that may be executed, and of rejected ones.
        digest, asked: what equal responses and equal requests have in common.
        bytes: size of the response.
        lacks: what the log does not contain, so that it was not judged.
    """

    file: str
    position: int
    time: str
    provider: str
    model: str
    prompt: str
    dialect: str
    success: bool
    kind: str
    why: str
    signature: str
    blame: Blame
    quirks: tuple[str, ...]
    calls: int
    parse_errors: int
    finish: str
    failure: str
    digest: str
    asked: str
    bytes: int
    lacks: tuple[str, ...]


# The types of the fields in Parquet.
COLUMNS: Final[dict[str, str]] = {
    "file": "VARCHAR",
    "position": "BIGINT",
    "time": "VARCHAR",
    "provider": "VARCHAR",
    "model": "VARCHAR",
    "prompt": "VARCHAR",
    "dialect": "VARCHAR",
    "success": "BOOLEAN",
    "kind": "VARCHAR",
    "why": "VARCHAR",
    "signature": "VARCHAR",
    "blame": "VARCHAR",
    "quirks": "VARCHAR[]",
    "calls": "INTEGER",
    "parse_errors": "INTEGER",
    "finish": "VARCHAR",
    "failure": "VARCHAR",
    "digest": "VARCHAR",
    "asked": "VARCHAR",
    "bytes": "BIGINT",
    "lacks": "VARCHAR[]",
}


def measure_turn(logged: LoggedTurn, file: str, position: int) -> TurnRow:
    """Return the row of one turn of the log `file`."""
    interaction = logged.interaction
    turn = fold(reference.normalize(interaction.without_body(), (interaction.body,)))
    tools = None if "request" in logged.lacks else offered_tools(interaction)
    why = turn_problem(turn, tools, interaction.due)
    blame: Blame = ""
    quirks: tuple[str, ...] = ()
    if why or turn.parse_errors:
        reading = oracle_reading(interaction)
        # What the bytes contain is usable, so that it was the reader that did not read it.
        blame = blame_of_bytes(reading, tools, interaction.due) or "normalizer"
        quirks = tuple(sorted(reading.quirks))
    kind = _kind(turn, why)
    return TurnRow(
        file=file,
        position=position,
        time=logged.time,
        provider=logged.provider,
        model=logged.model,
        prompt=logged.prompt,
        dialect=interaction.dialect,
        success=not why,
        kind=kind,
        why=why[:_LONGEST],
        signature=f"{kind} · {quirks[0] if quirks else interaction.dialect}" if why else "",
        blame=blame if why else "",
        quirks=quirks,
        calls=len(turn.tool_calls),
        parse_errors=len(turn.parse_errors),
        finish=turn.finish.reason.value if turn.finish else "",
        failure=turn.failure.code if turn.failure else "",
        digest=body_digest(interaction.body),
        asked=request_digest(interaction.request),
        bytes=len(interaction.body),
        lacks=logged.lacks,
    )


def _kind(turn: Turn, why: str) -> str:
    """Return what kind of failure `why` is, without what differs between turns."""
    if not why:
        return ""
    if turn.failure or turn.finish is None or turn.finish.reason in CUT_SHORT:
        return why
    if turn.parse_errors:
        return "parse error"
    return "unusable call" if turn.tool_calls else "no call"
