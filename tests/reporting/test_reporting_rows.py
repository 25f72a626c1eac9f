"""The columns of the page: what a browser unpacks is what the run holds."""

import base64
import json
import zlib
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.pages.replays import rows
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import Run

_NAMES = st.text(st.characters(codec="utf-8"), max_size=12)


def unpacked(text: str) -> tuple[list[str], dict[str, list[Any]]]:
    """Return the cells, and the values of each column by row."""
    data = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    head = json.loads(data[4 : 4 + length])
    at = -(-(4 + length) // 4) * 4
    columns = {}
    for column in head["columns"]:
        size = column["bytes"]
        codes = data[at : at + size * head["count"]]
        numbers = (codes[place : place + size] for place in range(0, len(codes), size))
        columns[column["name"]] = [
            column["values"][int.from_bytes(each, "little")] for each in numbers
        ]
        at = -(-(at + len(codes)) // 4) * 4
    names = zip(columns["scenario"], columns["normalizer"], strict=True)
    cells = ["/".join(pair) for pair in names]
    return [head["odd"].get(str(place), cell) for place, cell in enumerate(cells)], columns


def _changed(result: Result, scenario: str, normalizer: str, odd: str) -> Result:
    cell = odd or f"{scenario}/{normalizer}"
    return msgspec.structs.replace(
        result, cell=cell, scenario=scenario, normalizer=normalizer, quirks=(scenario, odd)
    )


def test_the_rows_of_a_run_come_back(sample: Run) -> None:
    cells, columns = unpacked(rows(sample.results))
    assert cells == [each.cell for each in sample.results]
    assert columns["outcome"] == [each.outcome.value for each in sample.results]
    assert columns["replays"] == [each.replays for each in sample.results]
    assert columns["quirk"] == [list(each.quirks) for each in sample.results]
    assert columns["rule"] == [
        sorted({finding.rule for finding in each.findings}) for each in sample.results
    ]
    assert set(columns["success"]) == {"", "yes", "no"}


@given(st.lists(st.tuples(_NAMES, _NAMES, _NAMES), max_size=5))
def test_whatever_they_are_called(names: list[tuple[str, str, str]]) -> None:
    results = [_changed(_PLAIN, *each) for each in names]
    text = rows(results)
    cells, columns = unpacked(text)
    assert cells == [each.cell for each in results]
    assert columns["quirk"] == [list(each.quirks) for each in results]
    assert not set(text) & set("<>&\"'")


def test_more_than_256_different_values_take_two_bytes() -> None:
    results = [_changed(_PLAIN, f"scenario {number:04}", "n", "") for number in range(300)]
    cells, columns = unpacked(rows(results))
    assert cells == [each.cell for each in results]
    assert columns["normalizer"] == ["n"] * 300


def test_outcomes_sort_by_how_bad_they_are() -> None:
    results = [msgspec.structs.replace(_PLAIN, outcome=outcome) for outcome in reversed(Outcome)]
    data = zlib.decompress(base64.b64decode(rows(results)))
    head = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    values = {each["name"]: each["values"] for each in head["columns"]}
    assert values["outcome"] == list(Outcome)


_PLAIN = Result(
    cell="s/n",
    scenario="s",
    title="t",
    cassette="c",
    normalizer="n",
    outcome=Outcome.PASS,
    blame="",
    findings=(),
    chunking=(),
    interaction=0,
    replays=1,
    turns=(),
    quirks=(),
    provider="",
    model="",
    prompt="",
    dialect="",
    origin="emulated",
)
