"""`harness list`: the keys that machines rely on, and a table for people."""

import json

import pytest

from harness.judging.rules import RULES
from harness.normalizers.mutants import MUTANTS
from tests.cli.conftest import Harness

KEYS = {
    "scenarios": {"id", "title", "cassette", "quirks", "capabilities", "blame"},
    "cassettes": {
        "id",
        "provider",
        "model",
        "prompt",
        "dialect",
        "origin",
        "interactions",
        "bytes",
    },
    "normalizers": {
        "name",
        "role",
        "summary",
        "dialects",
        "capabilities",
        "streams",
        "breaks",
        "text_dialects",
    },
    "agents": {"name", "role", "summary", "dialects", "prompts", "policies", "breaks"},
    "dialects": {"name", "title", "content_type", "cassettes"},
    "text-dialects": {"name", "title", "scenarios", "normalizers"},
    "prompts": {"id", "protocol", "language", "title", "text_dialects"},
    "rules": {"id", "level", "title", "outcome", "quirks"},
    "quirks": {"id", "severity", "title", "scenarios"},
}


@pytest.mark.parametrize("kind", KEYS)
def test_machines_get_a_list_of_objects(harness: Harness, kind: str) -> None:
    left = harness("list", kind, "--format", "json")
    assert (left.code, left.err) == (0, "")
    assert left.json
    assert all(row.keys() >= KEYS[kind] for row in left.json)
    name = next(iter(left.json[0]))
    assert len({row[name] for row in left.json}) == len(left.json)


@pytest.mark.parametrize("kind", KEYS)
def test_people_get_a_line_for_each(harness: Harness, kind: str) -> None:
    rows = harness("list", kind, "--format", "json").json
    lines = harness("list", kind).out.splitlines()
    assert [line.split()[0] for line in lines] == [next(iter(row.values())) for row in rows]
    assert all(line == line.rstrip() and line.isprintable() for line in lines)


def test_all_that_ships_is_there(harness: Harness) -> None:
    scenarios = harness("list", "scenarios", "--format", "json").json
    cassettes = harness("list", "cassettes", "--format", "json").json
    assert len(scenarios) >= 40
    emulated = {row["id"] for row in cassettes if row["origin"] == "emulated"}
    assert {row["cassette"] for row in scenarios} == emulated
    assert {row["origin"] for row in cassettes} == {"emulated", "recorded"}
    rules = [row["id"] for row in harness("list", "rules", "--format", "json").json]
    assert rules == [*RULES]
    names = {row["name"] for row in harness("list", "normalizers", "--format", "json").json}
    assert names >= {"reference", "dashscope-restore", "naive", *MUTANTS}


def test_quirks_say_which_scenarios_show_them(harness: Harness) -> None:
    quirks = {row["id"]: row for row in harness("list", "quirks", "--format", "json").json}
    assert "dashscope/split-chunks" in quirks["DELTA-ID-EMPTY-LATER"]["scenarios"]


def test_the_same_is_printed_again(harness: Harness) -> None:
    once = harness("list", "normalizers", "--format", "json").out
    assert harness("list", "normalizers", "--format", "json").out == once
    assert json.loads(once)
