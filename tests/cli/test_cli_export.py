"""`harness export`: a file for each scenario, and a reason where there is none."""

import json
from pathlib import Path

import jsonschema_rs
import pytest

from harness import shipped
from tests.cli.conftest import Harness

SCENARIOS = shipped.bundled_folder("scenarios")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_text_fixtures_match_their_schema(harness: Harness) -> None:
    left = harness("export", "text-fixtures", str(SCENARIOS / "kimi"))
    files = sorted(Path("text-fixtures").rglob("*.json"))
    assert left.code == 0
    assert left.out == f"{len(files)} fixtures in text-fixtures\n"
    assert {path.stem for path in files} == {
        path.stem for path in (SCENARIOS / "kimi").glob("*.yaml")
    }
    check = jsonschema_rs.validator_for(harness("schema", "text-fixture").json)
    for path in files:
        fixture = json.loads(path.read_text(encoding="utf-8"))
        check.validate(fixture)
        assert path == Path("text-fixtures") / f"{fixture['scenario']}.json"


def test_scenarios_without_calls_in_the_text_are_a_usage_error(harness: Harness) -> None:
    left = harness("export", "text-fixtures", str(SCENARIOS / "calls"), "-o", "made")
    assert (left.code, Path("made").exists()) == (2, False)
    assert "no scenario has calls in the text" in left.err


def test_a_folder_that_cannot_be_written_is_a_usage_error(harness: Harness) -> None:
    Path("made").mkdir()
    (Path("made") / "kimi").write_text("a file")
    left = harness("export", "text-fixtures", str(SCENARIOS / "kimi"), "-o", "made")
    assert left.code == 2
    assert "cannot write the file" in left.err
    assert "-o" in left.err
