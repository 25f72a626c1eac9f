"""`harness cassettes`: writes what scenarios emulate, and `--check` names what is stale."""

from pathlib import Path

import msgspec
import pytest

from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.interaction import Read
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


# Edited bodies


@pytest.fixture(name="cassette")
def _cassette(harness: Harness, scenario: Path, tmp_path: Path) -> Path:
    harness("cassettes", str(scenario))
    return tmp_path / "cassettes/compatible/any/greeting.yaml"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_edited_body_is_refused_and_then_accepted(harness: Harness, cassette: Path) -> None:
    written = cassette.read_text()
    edit(cassette, "Hello.", "Howdy.")
    refused = harness("show", str(cassette))
    assert refused.code == 2
    assert "harness cassettes --accept-edits FILE" in refused.err
    checked = harness("cassettes", "--accept-edits", "--check", str(cassette.parent))
    assert (checked.code, checked.out) == (1, f"{cassette}\n")
    accepted = harness("cassettes", "--accept-edits", str(cassette))
    assert (accepted.code, accepted.out) == (0, f"{cassette}\n")
    assert accepted.err == "1 cassette, 1 updated\n"
    assert "Howdy." in harness("show", str(cassette)).out
    again = harness("cassettes", "--accept-edits", str(cassette))
    assert (again.code, again.out, again.err) == (0, "", "1 cassette, 0 updated\n")
    edit(cassette, "Howdy.", "Hello.")
    harness("cassettes", "--accept-edits", str(cassette))
    assert cassette.read_text() == written


def test_reads_that_do_not_add_up_become_synthetic(harness: Harness, cassette: Path) -> None:
    loaded = load_cassette(cassette)
    (only,) = loaded.interactions
    reads = (Read(5, 1), Read(len(only.body) - 5, 2))
    kept = msgspec.structs.replace(only, reads=reads, reads_kept=True)
    save_cassette(msgspec.structs.replace(loaded, interactions=(kept,)), cassette)
    edit(cassette, "Hello.", "Howdy.")
    assert harness("cassettes", "--accept-edits", str(cassette)).code == 0
    assert load_cassette(cassette).interactions[0].reads == reads
    edit(cassette, "Howdy.", "Hi.")
    left = harness("cassettes", "--accept-edits", str(cassette))
    assert "the reads of 1 response are synthetic now" in left.err
    assert not load_cassette(cassette).interactions[0].reads_kept


def test_removed_digests_are_written_again(harness: Harness, cassette: Path) -> None:
    lines = cassette.read_text().splitlines(keepends=True)
    start = next(n for n, line in enumerate(lines) if "body_sha256" in line)
    del lines[start : start + 2]
    cassette.write_text("".join(lines))
    assert "--accept-edits" in harness("show", str(cassette)).err
    assert harness("cassettes", "--accept-edits", str(cassette)).code == 0
    assert harness("show", str(cassette)).code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("interactions: []\n", "found one without digests"),
        ("harness: {}\n", "expected a list"),
        ("interactions: [1]\nharness: {}\n", "expected a mapping"),
        ("interactions: [{response: {body: []}}]\nharness: {}\n", "interactions[0].response"),
        ("a: [", "YAML syntax error"),
    ],
)
def test_other_damage_is_not_accepted(
    harness: Harness, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    left = harness("cassettes", "--accept-edits", str(path))
    assert (left.code, said in left.err) == (2, True), left.err
    assert path.read_text() == text
    assert harness("cassettes", "--accept-edits").code == 2
