"""`harness schema`: schemas that are valid, and that what they describe fits."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from harness import shipped
from harness.cli.schema import SCHEMAS, schema_of
from harness.judging.scenario_file import find_scenarios
from tests.cli.conftest import Harness


def _schema(harness: Harness, name: str) -> Any:  # noqa: ANN401 - a JSON Schema
    left = harness("schema", name)
    assert (left.code, left.err) == (0, "")
    return left.json


@pytest.mark.parametrize("name", ["scenario", "result", "run", "summary", "text-fixture"])
def test_each_is_a_valid_schema(harness: Harness, name: str) -> None:
    assert jsonschema_rs.meta.is_valid(_schema(harness, name))


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_descriptions_are_the_same_with_each_python_and_msgspec(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = schema_of(name)
    indented = _indented(expected)
    monkeypatch.setitem(SCHEMAS, name, lambda: indented)
    assert schema_of(name) == expected


def _indented(value: Any) -> Any:  # noqa: ANN401 - a JSON Schema
    """Return `value` with the indentation that Python 3.12 keeps in a docstring of a class."""
    match value:
        case {"description": str(text), **rest}:
            first, *lines = text.split("\n")
            indented = [f"    {line}" if line else "" for line in lines]
            return {"description": "\n".join((first, *indented)), **_indented(rest)}
        case dict():
            return {key: _indented(item) for key, item in value.items()}
        case list():
            return [_indented(item) for item in value]
        case _:
            return value


def test_scenario_schema_accepts_bundled_scenarios_and_rejects_unknown_keys(
    harness: Harness,
) -> None:
    check = jsonschema_rs.validator_for(_schema(harness, "scenario"))
    files = [
        yaml.load(path.read_bytes(), yaml.CSafeLoader)
        for path in find_scenarios([shipped.bundled_folder("scenarios")])
    ]
    assert [file["title"] for file in files if not check.is_valid(file)] == []
    assert not check.is_valid({**files[0], "titel": "x"})


@pytest.fixture
def lines(harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.chdir(tmp_path)
    scenario = str(shipped.bundled_folder("scenarios") / "dashscope" / "split-chunks.yaml")
    harness("run", scenario, "-n", "naive", "-n", "reference", "--cuts", "quick")
    return [json.loads(line) for line in Path("reports/run.jsonl").read_text().splitlines()]


def test_run_file_matches_its_schema(harness: Harness, lines: list[Any]) -> None:
    run = jsonschema_rs.validator_for(_schema(harness, "run"))
    assert [line["type"] for line in lines if not run.is_valid(line)] == []
    result = jsonschema_rs.validator_for(_schema(harness, "result"))
    assert [result.is_valid(line) for line in lines if line["type"] == "result"] == [True, True]


def test_run_output_matches_its_schema(harness: Harness, lines: list[Any]) -> None:
    assert lines
    check = jsonschema_rs.validator_for(_schema(harness, "summary"))
    scenario = str(shipped.bundled_folder("scenarios") / "dashscope" / "split-chunks.yaml")
    check.validate(harness("run", scenario, "--cuts", "quick", "--format", "json").json)
