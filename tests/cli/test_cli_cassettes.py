"""`harness cassettes`: writes what scenarios emulate, and `--check` names what is stale."""

from pathlib import Path

import pytest

from tests.cli.conftest import Harness

SCENARIO = """\
title: Greets
cassette: compatible/any/greeting
expect: [{text: Hello., finish: stop}]
emulate:
  question: Hello?
  responses:
  - deltas:
    - text: Hello.
    - finish: stop
"""


@pytest.fixture(name="scenario")
def _scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenarios" / "text" / "greeting.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(SCENARIO)
    return path


def test_cassettes_are_written_once(harness: Harness, scenario: Path, tmp_path: Path) -> None:
    written = tmp_path / "cassettes/compatible/any/greeting.yaml"
    first = harness("cassettes", str(scenario))
    assert (first.code, first.out) == (0, f"{written}\n")
    assert "1 emulated cassette, 1 written" in first.err
    assert "Hello." in written.read_text()
    again = harness("cassettes", str(tmp_path / "scenarios"))
    assert (again.code, again.out) == (0, "")


def test_check_writes_nothing_and_exits_with_code_1_if_a_cassette_is_stale(
    harness: Harness, scenario: Path, tmp_path: Path
) -> None:
    written = tmp_path / "cassettes/compatible/any/greeting.yaml"
    checked = harness("cassettes", "--check", str(scenario))
    assert (checked.code, checked.out) == (1, f"{written}\n")
    assert not written.exists()
    harness("cassettes", str(scenario))
    assert harness("cassettes", "--check", str(scenario)).code == 0
    scenario.write_text(SCENARIO.replace("- text: Hello.", "- text: Goodbye."))
    assert harness("cassettes", "--check", str(scenario)).code == 1


def test_scenarios_without_the_key_are_refused(harness: Harness, scenario: Path) -> None:
    scenario.write_text(SCENARIO.partition("emulate")[0])
    left = harness("cassettes", str(scenario))
    assert left.code == 2
    assert "no scenario has the key `emulate`" in left.err


def test_missing_cassette_that_is_kept_by_hand_is_refused(harness: Harness, scenario: Path) -> None:
    scenario.write_text(SCENARIO.partition("emulate")[0] + "emulate: by-hand\n")
    assert harness("cassettes", "--check", str(scenario)).code == 1
    left = harness("cassettes", str(scenario))
    assert left.code == 2
    assert "there is no cassette" in left.err


def test_judging_does_not_read_the_key(harness: Harness, scenario: Path, tmp_path: Path) -> None:
    harness("cassettes", str(scenario))
    scenario.write_text(SCENARIO.replace("question: Hello?", "questin: [unclosed"))
    run = harness("run", str(scenario), "-n", "reference", "--no-report", "-o", str(tmp_path / "r"))
    assert run.code == 0, run.err
    assert harness("cassettes", str(scenario)).code == 2
