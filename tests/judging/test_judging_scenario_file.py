"""Scenario files load strictly; each mistake is reported with its path and a hint."""

from pathlib import Path

import jsonschema_rs
import pytest

from harness.errors import UnreadableError, UsageError
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import find_scenarios, load_scenario, schema
from harness.results.expectation import ALL_FIELDS
from harness.results.scenario_evidence import ScenarioEvidence
from harness.turns.deltas import FinishReason, Usage
from harness.turns.turn import Tool

FULL = """
title: A turn with everything
cassette: a/b/c
quirks: [DELTA-ID-EMPTY-LATER]
tools: [writing]
capabilities: [streams]
rules: [CALLS-EXACT]
blame: provider
references: ["https://example.org/1"]
evidence: {reported: "https://example.org/2"}
expect:
- text: Let me check.
  reasoning: Hm.
  tool_calls:
  - {id: call_1, name: writing, arguments: {title: x, n: 12345678901234567890}}
  - {name: writing, arguments: {}}
  parse_errors:
  - {name: writing, snippet: '{"ti'}
  finish: tool_calls
  finish_raw: stop
  usage: {input_tokens: 1, output_tokens: 2}
- failure: {code: interrupted, says: gone}
  parse_errors: any
  evidence: {own: two lines in one}
- parse_errors: [{name: writing}]
  finish: tool_calls
  may_fail: true
  alternatives:
  - text: Let me see.
    finish: stop
"""
MINIMAL = "title: t\ncassette: c\nexpect:\n- finish: stop\n"
TOOL = "name: writing\ndescription: Writes.\nparameters: {type: object}\n"


def load(folder: Path, text: str, name: str = "area/one.yaml") -> Scenario:
    (folder / "tools").mkdir(exist_ok=True)
    (folder / "tools" / "writing.yaml").write_text(TOOL, encoding="utf-8")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_scenario(path, folder)


def test_every_key_reaches_the_scenario(tmp_path: Path) -> None:
    scenario = load(tmp_path, FULL)
    first, second, third = scenario.expect
    assert scenario.id == "area/one"
    assert scenario.tools == (Tool("writing", "Writes.", {"type": "object"}),)
    assert (scenario.quirks, scenario.rules) == (("DELTA-ID-EMPTY-LATER",), ("CALLS-EXACT",))
    assert (scenario.blame, scenario.capabilities) == ("provider", ("streams",))
    assert first.calls[0].arguments == {"title": "x", "n": 12345678901234567890}
    assert [call.id for call in first.calls] == ["call_1", None]
    assert first.rejected[0].snippet == '{"ti'
    assert (first.finish, first.finish_raw) == (FinishReason.TOOL_CALLS, "stop")
    assert first.usage == Usage(1, 2)
    assert first.judged == ALL_FIELDS
    assert (second.failure, second.failure_says) == ("interrupted", "gone")
    assert scenario.evidence == ScenarioEvidence("reported", "https://example.org/2")
    assert [each.evidence for each in scenario.expect] == [
        None,
        ScenarioEvidence("own", "two lines in one"),
        None,
    ]
    assert [each.may_fail for each in scenario.expect] == [False, False, True]
    assert third.failed().judged == {"calls", "rejected", "failure"}
    assert [(each.text, each.finish) for each in third.alternatives] == [
        ("Let me see.", FinishReason.STOP)
    ]


def test_a_missing_key_is_a_default_or_not_judged(tmp_path: Path) -> None:
    (turn,) = load(tmp_path, MINIMAL).expect
    assert (turn.text, turn.calls, turn.rejected, turn.failure) == ("", (), (), None)
    assert turn.judged == ALL_FIELDS - {"finish_raw", "usage"}
    failed = load(tmp_path, FULL).expect[1]
    assert failed.judged == ALL_FIELDS - {"rejected", "finish", "finish_raw", "usage"}


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        ("finish: tool_calls", "finsh: stop", "expect[0]: unknown key 'finsh'", "'finish'?"),
        ("title:", "titel:", "unknown key 'titel'", "'title'?"),
        ("name: writing, snippet", "nam: x, snippet", "expect[0].parse_errors[0]: un", "'name'?"),
        ("{title: x, n", "x, z: {n", "expect[0].tool_calls[0].arguments: expected an object", ""),
        ("says: gone", "quux: gone", "expect[1].failure: unknown key 'quux'", "known keys: code"),
        ("id: call_1", "id: 17", "expect[0].tool_calls[0].id: expected a string or null", "quotes"),
        ("text: Let me check.", "text: true", "expect[0].text: expected a string, found a", "quot"),
        ("title: x", "title: !!binary aGk=", "expect[0].tool_calls[0].arguments.title: ", "quotes"),
        ("title: x", "title: .nan", "expect[0].tool_calls[0].arguments.title: nan is no", "quotes"),
        ("cassette: a/b/c\n", "", "the key 'cassette' is missing", ""),
        ("finish: tool_calls\n", "finish: stopp\n", "expect[0].finish: invalid enum value", "stop"),
        ("  finish: tool_calls\n  finish_raw: stop\n", "", "expect[0]: the key 'finish'", "stop"),
        ("says: gone}", "says: gone}\n  may_fail: true", "expect[1]: expected either", "may also"),
        ("    finish: stop\n", "", "expect[2].alternatives[0]: the key 'finish'", "stop"),
        ("blame: provider", "blame: me", "blame: invalid enum value 'me'", ""),
        ("tools: [writing]", "tools: [reading]", "there is no tool file 'reading'", "writing"),
        ("{reported:", "{rumoured:", "evidence: unknown key 'rumoured'", "recorded, rep"),
        ('/2"}', '/2", own: x}', "evidence: expected one of recorded, reported", "the kind"),
        ('{reported: "https://example.org/2"}', "{}", "documented, own, found 0", "the kind"),
        ("{own: two lines in one}", "{}", "expect[1].evidence: expected one of", "the kind"),
        ("tools: [writing]", "tools: writing", "tools: expected a list or null, found a st", ""),
    ],
)
def test_a_mistake_is_reported_with_its_path(
    tmp_path: Path, old: str, new: str, said: str, hint: str
) -> None:
    assert old in FULL
    with pytest.raises(UnreadableError) as caught:
        load(tmp_path, FULL.replace(old, new, 1))
    assert said in caught.value.what
    assert hint in caught.value.hint
    assert caught.value.where.endswith("one.yaml")


def test_evidence_that_has_no_effect_is_an_error(tmp_path: Path) -> None:
    whole, turn = '{reported: "https://example.org/2"}', "{own: two lines in one}"
    own = FULL.replace(whole, "{own: all of it}")
    assert load(tmp_path, own).expect[1].evidence is not None  # it repeats the kind
    with pytest.raises(UnreadableError, match=r"expect\[1\]\.evidence: expected `own`"):
        load(tmp_path, own.replace(turn, "{recorded: a/b/c}"))
    with pytest.raises(UnreadableError, match=r"expect\[2\]\.alternatives: the key `evidence`"):
        load(tmp_path, f"{FULL}    evidence: {turn}\n")


def test_words_that_yaml_1_1_reads_as_booleans_are_text(tmp_path: Path) -> None:
    (turn,) = load(tmp_path, "title: t\ncassette: c\nexpect:\n- {text: no, finish: stop}\n").expect
    assert turn.text == "no"


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(UnreadableError, match=r"x\.yaml"):
        load_scenario(tmp_path / "x.yaml", tmp_path)


def test_find_scenarios_skips_shared_folders(tmp_path: Path) -> None:
    load(tmp_path, MINIMAL, "b/two.yaml")
    load(tmp_path, MINIMAL, "a/one.yaml")
    one = tmp_path / "a" / "one.yaml"
    assert find_scenarios([tmp_path, one]) == (one, tmp_path / "b" / "two.yaml")
    with pytest.raises(UsageError):
        find_scenarios([tmp_path / "nothing"])


def test_a_file_outside_the_root_is_named_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINIMAL, encoding="utf-8")
    assert load_scenario(path, tmp_path / "elsewhere").id == "mine"


def test_the_schema_is_a_json_schema_that_refuses_unknown_keys() -> None:
    validator = jsonschema_rs.validator_for(schema())
    turn = {"finish": "stop"}
    assert validator.is_valid({"title": "t", "cassette": "c", "expect": [turn]})
    assert not validator.is_valid({"title": "t", "cassette": "c", "expect": [turn], "x": 1})


def test_open_fields_are_not_judged(tmp_path: Path) -> None:
    said = "title: t\ncassette: c\nexpect:\n- open: [text, missing_calls, finish, failure]\n"
    (turn,) = load(tmp_path, said).expect
    assert turn.judged == {"reasoning", "rejected"}
    assert turn.calls_at_most
    with pytest.raises(UnreadableError, match="tool_call"):
        load(tmp_path, said.replace("missing_calls", "tool_call"))
