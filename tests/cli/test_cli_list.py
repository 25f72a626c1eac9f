"""`harness list`: the keys that machines rely on, and a table for people."""

import json
from pathlib import Path

import pytest

from harness.judging.rules import RULES
from harness.normalizers.mutants import MUTANTS
from tests.cli.conftest import Harness

KEYS = {
    "scenarios": {
        "id",
        "title",
        "cassette",
        "quirks",
        "capabilities",
        "blame",
        "evidence",
        "place",
    },
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
        "kind",
        "role",
        "summary",
        "dialects",
        "capabilities",
        "streams",
        "breaks",
        "hides",
        "text_dialects",
    },
    "agents": {"name", "role", "summary", "dialects", "prompts", "policies", "breaks", "hides"},
    "dialects": {"name", "title", "content_type", "cassettes"},
    "text-dialects": {"name", "title", "scenarios", "normalizers"},
    "prompts": {"id", "protocol", "language", "title", "text_dialects"},
    "rules": {"id", "levels", "title", "outcome", "duty", "why", "rulings", "source", "quirks"},
    "quirks": {"id", "severity", "title", "scenarios"},
    "sets": {"name", "scenarios", "recordings", "rules"},
}

BUNDLED = {
    "scenarios": {"dashscope/split-chunks"},
    "cassettes": {
        "dashscope/qwen-plus/split-chunks",
        "llama-cpp-python/smollm2-135m-instruct/native-tools-en-dentist-t02",
    },
    "rules": {*RULES},
    "normalizers": {"reference", "dashscope-restore", "naive", *MUTANTS},
}


@pytest.mark.parametrize("kind", KEYS)
def test_json_is_a_list_of_objects_and_the_table_has_a_line_for_each(
    harness: Harness, kind: str
) -> None:
    left = harness("list", kind, "--format", "json")
    assert (left.code, left.err) == (0, "")
    rows = left.json
    assert rows
    assert all(row.keys() >= KEYS[kind] for row in rows)
    first = [next(iter(row.values())) for row in rows]
    assert len(set(first)) == len(rows)
    lines = harness("list", kind).out.splitlines()
    if kind in ("normalizers", "agents"):  # in sections, with headings
        names = [line.split()[0] for line in lines if line.startswith("  ")]
        assert sorted(names) == sorted(first)
    else:
        assert [line.split()[0] for line in lines] == first
    assert all(line == line.rstrip() and line.isprintable() for line in lines)
    assert set(first) >= BUNDLED.get(kind, set())


def test_list_quirks_has_their_scenarios(harness: Harness) -> None:
    quirks = {row["id"]: row for row in harness("list", "quirks", "--format", "json").json}
    assert "dashscope/split-chunks" in quirks["DELTA-ID-EMPTY-LATER"]["scenarios"]


def test_list_output_is_deterministic(harness: Harness) -> None:
    once = harness("list", "normalizers", "--format", "json").out
    assert harness("list", "normalizers", "--format", "json").out == once
    assert json.loads(once)


OWN = """from harness import Normalizer
from harness.normalizers.respond import respond

mine = Normalizer("mine", respond, dialects=frozenset({"openai-chat"}))
"""


def test_mutants_are_in_a_section_after_what_a_user_may_run(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.harness.normalizers.mine]\ntarget = "own:mine"\n'
    )
    monkeypatch.chdir(tmp_path)
    sections = harness("list", "normalizers").out.split("\n\n")
    headings = [section.partition("\n")[0] for section in sections]
    assert headings[0] == "of this project, or installed by other packages (1)"
    assert sections[0].splitlines()[1].split()[0] == "mine"
    assert headings[1].startswith("bundled: they must conform")
    assert headings[-1].startswith("bundled mutants: each has one fault")
    listed = {line.split()[0] for line in sections[-1].splitlines()[1:]}
    assert headings[-1].endswith(f"({len(listed)})")
    assert listed >= set(MUTANTS)
