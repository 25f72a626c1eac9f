"""The checks of `doctor`: clean on what ships, and each one finds what it is there for."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness import shipped
from harness.checks import bundled_data
from harness.checks.bundled_data import BundledData, Check
from harness.judging.rules import TURN_RULES
from harness.normalizers.mutants import MUTANTS
from harness.results.duties import Ruling, load_duties
from tests.judging.judging_samples import IS_DEEP

KEPT = ("dashscope/split-chunks", "dashscope/multi-round")
NAMES = {
    "files are readable",
    "each scenario has its cassette",
    "each scenario states its evidence",
    "emulated streams have the members of recorded ones",
    "each emulated cassette has a scenario",
    "cited quirks are in the catalogue",
    "each quirk has a scenario",
    "merged quirks are merged once",
    "cited rules and capabilities exist",
    "each rule has a mutant",
    "each rule has a duty with sources",
    "requirement sets name what exists",
    "each mutant is killed",
    "the stored kill table is up to date",
    "conforming normalizers break no rule",
    "conforming agents break no rule",
    "cassettes are scrubbed",
}
# The kill table is held to what ships by tests/judging and tests/runs, row by row, and agents by
# tests/judging/conversations.
_SLOW = (
    "each mutant is killed",
    "the stored kill table is up to date",
    "conforming normalizers break no rule",
    "conforming agents break no rule",
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let two scenarios, their cassettes and the whole catalogue be all that ships."""
    original = shipped.bundled_folder
    shutil.copytree(original("catalogue"), tmp_path / "catalogue")
    shutil.copytree(original("scenarios") / "tools", tmp_path / "scenarios" / "tools")
    for name in KEPT:
        _copy(original("scenarios") / f"{name}.yaml", tmp_path / "scenarios" / f"{name}.yaml")
        cassette = name.replace("/", "/qwen-plus/")
        _copy(
            original("cassettes") / f"{cassette}.yaml", tmp_path / "cassettes" / f"{cassette}.yaml"
        )
    monkeypatch.setattr(shipped, "bundled_folder", lambda name: tmp_path / name)
    return tmp_path


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def _state(path: Path, evidence: str) -> None:
    stated = re.sub(
        r"^evidence: .*$", f"evidence: {evidence}", path.read_text(), flags=re.MULTILINE
    )
    path.write_text(stated)


@pytest.fixture(scope="module")
def data() -> BundledData:
    """All that ships, as `checks` loads it once for all of them."""
    return BundledData()


@pytest.fixture(scope="module")
def some_cassettes(data: BundledData) -> BundledData:
    """One in four cassettes, since reading all of them for secrets takes seconds."""
    some = BundledData()
    some.cassettes = dict(list(data.cassettes.items())[:: 1 if IS_DEEP else 4])
    return some


def run(name: str, data: BundledData | None = None) -> Check:
    """Run one check alone, on what ships now."""
    look, count = bundled_data._CHECKS[name]
    data = data or BundledData()
    wrong = tuple(look(data))
    return Check(name, ok=not wrong, count=count(data), detail=wrong)


def test_names_of_checks_are_stable() -> None:
    assert set(bundled_data._CHECKS) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES - set(_SLOW)))
def test_bundled_data_passes_the_check(
    name: str, data: BundledData, some_cassettes: BundledData
) -> None:
    check = run(name, some_cassettes if name == "cassettes are scrubbed" else data)
    assert check.detail == ()
    assert check.ok
    assert check.count > 0


def test_conforming_clients_pass_and_mutants_are_killed(tree: Path) -> None:
    assert tree.exists()
    assert run("conforming normalizers break no rule").ok
    caught = run("each mutant is killed").detail
    assert not any(line.startswith("name-lost:") for line in caught)
    assert "number" in "".join(line for line in caught if line.startswith("numbers-rounded:"))
    stale = "\n".join(run("the stored kill table is up to date").detail)
    assert "numbers-rounded: stored anthropic/input-in-start, found survives; write" in stale


def test_all_checks_run_one_by_one(tree: Path) -> None:
    assert tree.exists()
    assert {check.check for check in bundled_data.checks()} == NAMES


def _detail(name: str) -> str:
    check = run(name)
    assert not check.ok
    return "\n".join(check.detail)


_MERGED = "catalogue/quirks/anthropic.yaml"
_SPLIT = "scenarios/dashscope/split-chunks.yaml"
_BODY = "cassettes/dashscope/qwen-plus/split-chunks.yaml"


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        (
            "files are readable",
            lambda tree: _edit(tree / _SPLIT, "title:", "titel:"),
            "titel",
        ),
        (
            "files are readable",
            lambda tree: (tree / _BODY).write_text("nothing"),
            "split-chunks.yaml",
        ),
        (
            "each scenario has its cassette",
            lambda tree: (tree / _BODY).unlink(),
            "dashscope/split-chunks: there is no cassette dashscope/qwen-plus/split-chunks",
        ),
        (
            "each scenario has its cassette",
            lambda tree: (tree / _SPLIT).write_text(
                (tree / _SPLIT).read_text() + "- finish: stop\n"
            ),
            "dashscope/split-chunks: 2 turns, expected 1",
        ),
        (
            "each scenario states its evidence",
            lambda tree: _edit(tree / _SPLIT, "evidence:", "# evidence:"),
            "dashscope/split-chunks: the key `evidence` is missing",
        ),
        (
            "each scenario states its evidence",
            lambda tree: _state(tree / _SPLIT, "{recorded: dashscope/qwen-plus/split-chunks}"),
            "evidence.recorded: unknown recording 'dashscope/qwen-plus/split-chunks'",
        ),
        (
            "each scenario states its evidence",
            lambda tree: _state(tree / _SPLIT, "{reported: everywhere}"),
            "dashscope/split-chunks: evidence.reported: expected URLs: 'everywhere'",
        ),
        (
            "each emulated cassette has a scenario",
            lambda tree: (tree / _SPLIT).unlink(),
            "dashscope/qwen-plus/split-chunks",
        ),
        (
            "cited quirks are in the catalogue",
            lambda tree: _edit(tree / _SPLIT, "SSE-UTF8-SPLIT", "NO-SUCH-QUIRK"),
            "dashscope/split-chunks: cites NO-SUCH-QUIRK",
        ),
        ("each quirk has a scenario", lambda _tree: None, "no scenario contains it"),
        (
            "each quirk has a scenario",
            lambda tree: _edit(tree / "catalogue/excluded.yaml", "SSE-GZIP:", "NO-SUCH-QUIRK:"),
            "NO-SUCH-QUIRK: excluded, but not in the catalogue",
        ),
        (
            "merged quirks are merged once",
            lambda tree: _edit(tree / _MERGED, "merged: [", "merged: [ANT-ERROR-EVENT, "),
            "ANT-ERROR-EVENT: merged into another quirk, and still in the catalogue",
        ),
        (
            "merged quirks are merged once",
            lambda tree: _edit(tree / _MERGED, "merged: [", "merged: [RESP-TO-CHAT-INDEX, "),
            "RESP-TO-CHAT-INDEX: merged 2 times",
        ),
        (
            "cited rules and capabilities exist",
            lambda tree: _edit(tree / _SPLIT, "title:", "rules: [NO-SUCH-RULE]\ntitle:"),
            "there is no rule NO-SUCH-RULE",
        ),
        (
            "cited rules and capabilities exist",
            lambda tree: _edit(tree / _SPLIT, "title:", "capabilities: [flying]\ntitle:"),
            "there is no capability flying",
        ),
        (
            "requirement sets name what exists",
            lambda tree: (tree / _SPLIT).unlink(),
            "set 2026.12: the scenario or recording dashscope/split-chunks does not exist",
        ),
        (
            "requirement sets name what exists",
            lambda _tree: None,
            "set 2026.12: the scenario or recording cassette:",
        ),
        (
            "conforming normalizers break no rule",
            lambda tree: _edit(tree / _SPLIT, "call_9f2c", "call_other"),
            "dashscope/split-chunks/reference: CALL-ID-EXACT at turns[0].calls[0].id",
        ),
    ],
)
def test_each_check_finds_its_problem(
    tree: Path, name: str, damage: Callable[[Path], object], said: str
) -> None:
    damage(tree)
    assert said in _detail(name)


def test_scenario_with_too_few_turns_stops_no_other_check(tree: Path) -> None:
    path = tree / "scenarios/dashscope/multi-round.yaml"
    text = path.read_text()
    second = text.index("\n- ", text.index("expect:\n- ") + len("expect:\n- "))
    path.write_text(text[: second + 1])
    assert "multi-round" in _detail("each scenario has its cassette")
    assert run("conforming normalizers break no rule").ok


def test_rule_without_a_mutant_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {name: item for name, item in MUTANTS.items() if name != "name-lost"}
    monkeypatch.setattr(bundled_data, "MUTANTS", others)
    assert _detail("each rule has a mutant") == "CALL-NAMED: no mutant violates it alone"


def test_mutant_of_an_unknown_rule_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {name: rule for name, rule in TURN_RULES.items() if name != "CALL-NAMED"}
    monkeypatch.setattr(bundled_data, "TURN_RULES", others)
    assert _detail("each rule has a mutant") == "name-lost: there is no rule CALL-NAMED"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"source": ("https://a", "NO-SUCH-QUIRK")}, "NO-SUCH-QUIRK is neither a URL nor a quirk"),
        ({"source": ("ARGS-DUPLICATE-KEYS",)}, "ARGS-DUPLICATE-KEYS is neither"),
        ({"exceptions": (Ruling("MAY", ("https://a",)),)}, "an exception needs `because`"),
        (
            {"exceptions": (Ruling("MAY", ("https://a",), "agent", because="so"),)},
            "it does not judge clients of the kind agent",
        ),
    ],
)
def test_duty_without_a_public_source_is_reported(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], said: str
) -> None:
    duties = load_duties()
    wrong = msgspec.structs.replace(duties["CALL-NAMED"], **changes)
    monkeypatch.setattr(bundled_data, "load_duties", lambda: {**duties, "CALL-NAMED": wrong})
    assert f"CALL-NAMED: {said}" in _detail("each rule has a duty with sources")


def test_rule_without_a_duty_and_duty_without_a_rule_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    duties = dict(load_duties())
    duties["OLD-RULE"] = duties.pop("CALL-NAMED")
    monkeypatch.setattr(bundled_data, "load_duties", lambda: duties)
    detail = _detail("each rule has a duty with sources")
    assert "duties.toml: there is no rule OLD-RULE" in detail
    assert "CALL-NAMED: duties.toml has no entry" in detail


_KEY = "sk-" + "a1B2" * 8


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("content-type: [application/json]", "Authorization: [Bearer x]", "header Authorization"),
        ("chat/completions", f"chat/completions?key={_KEY}", "the address: key"),
        ("You are a helpful assistant", f"My key is {_KEY}", "request body: key of 32 characters"),
    ],
)
def test_possible_secret_is_reported(tree: Path, old: str, new: str, said: str) -> None:
    _edit(tree / _BODY, old, new)
    assert said in _detail("cassettes are scrubbed")
