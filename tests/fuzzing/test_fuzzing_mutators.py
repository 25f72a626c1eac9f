"""Mutators keep what they say they keep: proved over clean cassettes with `reference`.

After a step that preserves, the turn is the same; after any other, the strict reading of the
changed bytes, which shares no code with `reference`, says what must come out; and where no new
call may come out none does.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.dialects.table import DIALECTS, oracle_reading
from harness.fuzzing.mutators.endings import cut_after
from harness.fuzzing.mutators.mutator import (
    REALISMS,
    MutatedInput,
    Mutation,
    Mutator,
    with_body,
)
from harness.fuzzing.mutators.rewriting import rewritten
from harness.fuzzing.mutators.table import (
    MUTATORS,
    fitting,
    may_call_more,
    mutated_inputs,
    realism_of,
)
from harness.fuzzing.strategies.turns import member_of
from harness.judging.examine import examine
from harness.judging.expected import expectation_from
from harness.judging.replaying import DEFAULT_LIMITS
from harness.normalizers import reference
from harness.normalizers.protocol import CAPABILITIES
from harness.results.catalogue import load_catalogue
from harness.turns.arguments import meaning
from harness.turns.deltas import Finish, FinishReason, ReasoningDelta, TextDelta, ToolCall
from harness.turns.turn import Turn
from harness.wire.aws import encode_exception
from harness.wire.interaction import Ended, Interaction, Request
from scripts.mutator_reference import with_tables
from tests.fuzzing.fuzzing_samples import STORED, choose_clean, clean, is_clean, turn_of
from tests.judging.judging_samples import IS_DEEP, shipped_subjects

ROOT = Path(__file__).parents[2]
QUIRKS = frozenset(load_catalogue(ROOT / "catalogue" / "quirks"))
PRESERVING = [mutator for mutator in MUTATORS if mutator.preserving]
CHANGING = [mutator for mutator in MUTATORS if not mutator.preserving]


_STALE = f"the stored choice is stale: UPDATE_GOLDEN=1 pytest {__file__} -n 0 -o addopts="


def test_stored_samples_are_clean_and_of_every_dialect() -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        STORED.write_text(choose_clean(), encoding="utf-8")
    # Sessions are not mutated, and Gemini Live has nothing else.
    assert clean().keys() == DIALECTS.keys() - {"gemini-live"}, _STALE
    all_of_them = [each for interactions in clean().values() for each in interactions]
    assert all(map(is_clean, all_of_them)), _STALE


@pytest.mark.skipif(not IS_DEEP, reason="reads all bundled bodies; `make whole` runs it")
def test_stored_samples_are_those_that_would_be_chosen() -> None:
    assert STORED.read_text(encoding="utf-8") == choose_clean(), _STALE


def name_of(mutator: Mutator) -> str:
    return mutator.name


def fitting_samples(mutator: Mutator) -> list[Interaction]:
    dialects = mutator.dialects or DIALECTS.keys()
    return [each for dialect in sorted(dialects) for each in clean().get(dialect, ())]


@st.composite
def mutated(draw: st.DrawFn, mutator: Mutator) -> tuple[Interaction, Interaction, str] | None:
    """Draw a clean interaction, it after one step, and what was done; None if it did not apply."""
    before = draw(member_of(fitting_samples(mutator)))
    changed = mutator.mutate(draw, before)
    return None if changed is None else (before, *changed)


def same_turn(turn: Turn) -> Turn:
    """Return `turn` with arguments that are equal where they mean the same.

    Why a call was rejected may be told in other words. A first brace that comes twice alone may
    be a repetition.
    """
    errors = tuple(
        replace(each, error="", snippet=re.sub(r"^\{+", "{", each.snippet))
        for each in turn.parse_errors
    )
    return replace(turn, tool_calls=tuple(map(_meant, turn.tool_calls)), parse_errors=errors)


def _meant(call: ToolCall) -> ToolCall:
    return replace(call, arguments=repr(meaning(call.arguments)))


@pytest.mark.parametrize("mutator", PRESERVING, ids=name_of)
@given(data=st.data())
def test_preserving_mutators_keep_the_turn(mutator: Mutator, data: st.DataObject) -> None:
    found = data.draw(mutated(mutator))
    if found is not None:
        before, after, how = found
        assert same_turn(turn_of(after)) == same_turn(turn_of(before)), how


@pytest.mark.parametrize("mutator", CHANGING, ids=name_of)
@given(data=st.data())
def test_changing_mutators_are_read_as_the_oracle_reads_them(
    mutator: Mutator, data: st.DataObject
) -> None:
    found = data.draw(mutated(mutator))
    if found is None:
        return
    before, after, how = found
    strict = oracle_reading(after)
    seen = examine(
        0,
        after,
        expectation_from(strict),
        strict,
        reference.normalizer,
        cuts="whole",
        limits=DEFAULT_LIMITS,
    )
    assert [finding for finding in seen.findings if finding.level == "MUST"] == [], how
    if not mutator.new_calls:
        assert not Counter(_calls(seen.whole.turn)) - Counter(_calls(turn_of(before))), how


def _calls(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, meaning(call.arguments)) for call in turn.tool_calls]


@pytest.mark.parametrize("mutator", MUTATORS, ids=name_of)
def test_each_mutator_applies_to_a_clean_interaction(mutator: Mutator) -> None:
    # What is found is spelled out, so that it must be small: no interactions.
    differs, how = find(
        mutated(mutator).map(lambda it: (it[0] != it[1], it[2]) if it else (False, "")),
        lambda found: bool(found[1]),
        settings=settings(max_examples=100, database=None, deadline=None, phases=[Phase.generate]),
    )
    assert differs
    assert "\n" not in how


@pytest.mark.parametrize("name", ["cut-short", "cut-between"])
@pytest.mark.parametrize("ended", ["complete", "truncated"])
def test_network_ends_a_truncated_body_in_both_ways(name: str, ended: str) -> None:
    mutator = next(each for each in MUTATORS if each.name == name)
    found = find(mutated(mutator), lambda it: it is not None and it[1].ended == ended)
    assert found is not None
    before, after, how = found
    assert before.body.startswith(after.body)
    assert ("connection breaks" in how) is (ended == "truncated")


@pytest.mark.parametrize("mutator", MUTATORS, ids=name_of)
def test_each_mutator_has_a_complete_declaration(mutator: Mutator) -> None:
    assert re.fullmatch("[a-z]+(-[a-z]+)*", mutator.name)
    assert mutator.summary
    assert "\n" not in mutator.summary
    assert set(mutator.quirks) <= QUIRKS
    assert mutator.dialects <= DIALECTS.keys()
    assert mutator.needs <= CAPABILITIES.keys()
    assert not (mutator.preserving and mutator.new_calls)


@pytest.mark.parametrize("mutator", MUTATORS, ids=name_of)
def test_seen_mutators_cite_a_server(mutator: Mutator) -> None:
    assert mutator.realism in REALISMS
    assert mutator.source == "" or mutator.source.startswith("https://")
    if mutator.realism == "seen":
        assert mutator.quirks or mutator.source


def test_realism_of_a_finding_is_that_of_its_least_realistic_part() -> None:
    assert realism_of(("comment",), "seen") == "seen"
    assert realism_of(("comment", "key-order"), "seen") == "possible"
    assert realism_of(("comment", "frame-dropped", "key-order"), "seen") == "never seen"
    assert realism_of((), "never seen") == "never seen"
    assert realism_of(("comment",), "possible") == "possible"


@given(data=st.data())
def test_byte_is_changed_only_in_messages_with_a_checksum(data: st.DataObject) -> None:
    mutator = next(each for each in MUTATORS if each.name == "byte-changed")
    dialect = data.draw(st.sampled_from(sorted(clean())))
    before = data.draw(member_of(clean()[dialect]))
    changed = data.draw(_step(mutator, before))
    assert changed is None or before.body.startswith(b"\0")


def test_mutator_names_are_unique() -> None:
    names = [mutator.name for mutator in MUTATORS]
    assert len(set(names)) == len(names)


@given(st.data())
def test_mutated_input_lists_the_steps_that_applied(data: st.DataObject) -> None:
    interaction = data.draw(member_of(clean()["openai-chat"]))
    mutated = data.draw(mutated_inputs(interaction, most=3))
    known = {mutator.name: mutator for mutator in MUTATORS}
    assert len(mutated.steps) <= 3
    assert mutated.preserving == all(known[step.name].preserving for step in mutated.steps)
    assert bool(mutated.steps) or mutated == MutatedInput(interaction, (), preserving=True)
    assert sum(read.size for read in mutated.interaction.reads) == len(mutated.interaction.body)
    if mutated.preserving:
        assert same_turn(turn_of(mutated.interaction)) == same_turn(turn_of(interaction))


def test_fitting_excludes_other_dialects_and_undeclared_capabilities() -> None:
    names = {mutator.name for mutator in fitting("anthropic", capabilities=())}
    assert "unknown-event" in names
    assert "name-repeated" not in names
    chat = {mutator.name for mutator in fitting("openai-chat", capabilities=())}
    assert "index-missing" not in chat
    assert "index-missing" in {mutator.name for mutator in fitting("openai-chat")}


def test_an_encoding_that_is_sent_on_request_needs_a_capability() -> None:
    reads_one = {"gemini", "cohere", "anthropic", "bedrock-converse", "google-interactions"}
    for dialect in DIALECTS:
        plain = {mutator.name for mutator in fitting(dialect, capabilities=())}
        every = {mutator.name for mutator in fitting(dialect)}
        assert "respelled" in plain
        assert "other-encoding" not in plain
        assert ("other-encoding" in every) == (dialect in reads_one)
        assert ("partial-arguments" in every - plain) == (dialect == "gemini")


def test_options_that_need_a_capability_are_options_of_the_writer() -> None:
    for row in DIALECTS.values():
        assert set(row.option_needs) <= set(row.writer_options.__struct_fields__)
        assert set(row.option_needs.values()) <= set(CAPABILITIES)


@pytest.mark.parametrize("ended", ["complete", "truncated"])
def test_a_body_is_not_cut_within_a_line_end(ended: Ended) -> None:
    (gemini, *_) = clean()["gemini"]
    at = gemini.body.index(b"\r\n")
    assert cut_after(gemini, at + 1, ended)[0].body.endswith(b"\r\n")
    assert cut_after(gemini, at, ended)[0].body == gemini.body[:at]
    with_cr = with_body(gemini, gemini.body.replace(b"\r\n", b"\r"))
    end = with_cr.body.index(b"\r") + 1
    assert cut_after(with_cr, end, ended)[0].body == with_cr.body[: end - 1]
    assert cut_after(with_cr, end + 2, ended)[0].body == with_cr.body[: end + 2]


def test_only_some_mutators_may_add_calls() -> None:
    assert may_call_more([Mutation("comment", ""), Mutation("arguments-other", "")])
    assert not may_call_more([Mutation("comment", ""), Mutation("text-example", "")])
    assert not may_call_more([])


def test_reference_lists_all_mutators() -> None:
    written = (ROOT / "docs" / "reference" / "mutators.md").read_text(encoding="utf-8")
    assert with_tables(written) == written, "run `python -m scripts.mutator_reference`"


# Where a step has no room


@st.composite
def _step(
    draw: st.DrawFn, mutator: Mutator, interaction: Interaction
) -> tuple[Interaction, str] | None:
    return mutator.mutate(draw, interaction)


def _chat(*deltas: dict[str, Any], finish: str = "tool_calls") -> Interaction:
    """Return a stream of `deltas`, the finish reason in the last chunk."""
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks[-1]["choices"][0]["finish_reason"] = finish
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return Interaction(Request(), 200, (), body + b"data: [DONE]\n\n", ())


def _entry(**fields: object) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}, **fields}]}


def _named(*names: object) -> tuple[dict[str, Any], ...]:
    """Return the deltas of one call, each with one of `names`."""
    functions = [{"name": name, "arguments": ""} for name in names]
    return tuple({"tool_calls": [{"index": 0, "id": "a", "function": f}]} for f in functions)


_BY_ID = (_entry(id="a", index=0), _entry(id="b", index=0))
_WITHOUT_INDEX = (_entry(id="a"), _entry(id="b"))


@pytest.mark.parametrize(
    ("name", "deltas"),
    [
        ("arguments-end-empty", (_entry(id="a", index=0),)),  # the finish comes with the call
        ("later-fields-null", (*_BY_ID, {})),
        ("id-changes", (*_WITHOUT_INDEX, {})),
        ("id-repeated", (*_WITHOUT_INDEX, {})),
        ("name-repeated", (*_named("sea", "rch"), {})),
        ("later-fields-empty", (*_named("sea", "rch"), {})),
        ("later-fields-null", (*_named("sea", "rch"), {})),
    ],
)
@given(data=st.data())
def test_step_does_not_apply_if_it_changes_the_call(
    name: str, deltas: tuple[dict[str, Any], ...], data: st.DataObject
) -> None:
    mutator = next(each for each in MUTATORS if each.name == name)
    assert data.draw(_step(mutator, _chat(*deltas))) is None


@pytest.mark.parametrize("text", ["```json\n{}\n", "So:\n```\n```\n  ~~~ xml", "~~~\n```\n"])
@given(data=st.data())
def test_example_is_not_added_to_an_open_code_fence(text: str, data: st.DataObject) -> None:
    mutator = next(each for each in MUTATORS if each.name == "text-example")
    tool = {"name": "get_time", "description": "", "parameters": {"type": "object"}}
    before = replace(_chat({"content": text}, finish="stop"), dialect="openai-chat", tools=(tool,))
    assert data.draw(_step(mutator, before)) is None


@given(data=st.data())
def test_comment_is_not_added_to_a_truncated_event(data: st.DataObject) -> None:
    mutator = next(each for each in MUTATORS if each.name == "comment")
    event = b'data: {"a": 1}\n\n'
    changed = data.draw(_step(mutator, Interaction(Request(), 200, (), event + event[:-1], ())))
    assert changed is not None
    assert changed[0].body.endswith(event[:-1])


@given(data=st.data())
def test_only_spaces_of_the_framing_are_removed(data: st.DataObject) -> None:
    mutator = next(each for each in MUTATORS if each.name == "no-space")
    event = b'event: x\r\ndata:{"data: ": 1}\r\ndata: 2\r\ndata:  3\r\n\r\n'
    changed = data.draw(_step(mutator, Interaction(Request(), 200, (), event, ())))
    assert changed is not None
    assert changed[0].body == event.replace(b"event: x", b"event:x").replace(b": 2", b":2")


@given(data=st.data())
def test_ambiguous_snapshots_are_not_made(data: st.DataObject) -> None:
    mutator = next(each for each in MUTATORS if each.name == "pieces-of-one")
    deltas = (ReasoningDelta("--"), Finish(FinishReason.STOP))
    body = b"".join(DIALECTS["dashscope"].write(deltas))
    before = Interaction(Request(), 200, (), body, (), dialect="dashscope")
    assert data.draw(_step(mutator, before)) is None


@given(data=st.data())
def test_unknown_event_is_never_the_only_event(data: st.DataObject) -> None:
    mutator = next(each for each in MUTATORS if each.name == "unknown-event")
    nothing = Interaction(Request(), 200, (), b"data: [DONE]\n\n", ())
    assert data.draw(_step(mutator, nothing)) is None


@pytest.mark.parametrize("name", ["key-order", "escaped", "compact"])
@given(data=st.data())
def test_aws_exception_stays_an_exception(name: str, data: st.DataObject) -> None:
    mutator = next(each for each in MUTATORS if each.name == name)
    body = encode_exception(b'{"message": "M\xc3\xbcde", "code": 1}', "throttlingException")
    before = Interaction(Request(), 200, (), body, (), dialect="bedrock-converse")
    changed = data.draw(_step(mutator, before))
    assert changed is not None
    assert turn_of(changed[0]).failure == turn_of(before).failure


@given(st.data())
def test_a_document_that_becomes_a_stream_gets_the_type_of_a_stream(data: st.DataObject) -> None:
    document = next(it for it in shipped_subjects() if it.id == "cohere/json-for-stream")
    (interaction,) = document.cassette.interactions
    deltas = (TextDelta(data.draw(st.text(min_size=1))), Finish(FinishReason.STOP, "COMPLETE"))
    found = rewritten(interaction, deltas, "")
    assert found is not None
    assert interaction.header("content-type") == "application/json"
    assert found[0].header("content-type") == "text/event-stream"


@pytest.mark.parametrize("body", [b"{}", b'{"response_format": {"type": "json_object"}}'])
@given(data=st.data())
def test_chat_completions_refuse_for_a_response_format_only(
    body: bytes, data: st.DataObject
) -> None:
    failed = next(each for each in MUTATORS if each.name == "failed")
    before = replace(clean()["openai-chat"][0], request=Request(body=body))
    changed = data.draw(st.composite(lambda draw: failed.mutate(draw, before))())
    assert changed is not None
    assert b"response_format" in body or not changed[1].startswith("refusal")
