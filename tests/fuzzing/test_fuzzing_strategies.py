"""Strategies draw what they say, and nothing that they exclude."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.fuzzing import strategies
from harness.fuzzing.strategies import (
    CLASSES,
    Malformed,
    TurnScript,
    argument_texts,
    arguments,
    bodies,
    chunkings,
    conversations,
    deltas,
    malformed_arguments,
    option_values,
    texts_with_calls,
    turn_scripts,
    turns,
    writer_options,
)
from harness.fuzzing.strategies.replies import KINDS, TextReply
from harness.normalizers import reference
from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.turns.argument_errors import ArgumentClass
from harness.turns.arguments import parse, same_value
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.schema_check import Checker, misfit
from harness.turns.turn import Tool, Turn
from harness.wire.cuts import each_byte, seams, split
from harness.wire.interaction import Interaction, Request

TREE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "kind": {"enum": ["a", "b", None]},
        "whole": {"const": 7},
        "share": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "flag": {"type": "boolean"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}, "minItems": 1, "maxItems": 3},
        "either": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["x"]}]},
    },
    "required": ["name", "parts"],
    "additionalProperties": False,
    "$defs": {
        "part": {
            "type": "object",
            "properties": {"parts": {"type": "array", "items": {"$ref": "#/$defs/part"}}},
        }
    },
}
TOOL = Tool("grow", "", TREE)
WEATHER = Tool(
    "get_weather",
    "",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "additionalProperties": False,
    },
)
CHECKER = Checker()


@given(arguments(TREE))
def test_arguments_fit_their_schema(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    if "\\ud" not in text:  # the validator takes no half of a surrogate pair
        assert not misfit("grow", value, {"grow": TOOL}, CHECKER)


@pytest.mark.parametrize("schema", [True, {"type": "string"}, {"$ref": "#/nowhere"}, {"$ref": "#"}])
@given(data=st.data())
def test_arguments_are_objects_for_any_schema(schema: Any, data: st.DataObject) -> None:  # noqa: ANN401 - any schema
    assert isinstance(data.draw(arguments(schema)), dict)


@given(argument_texts(TREE))
def test_argument_texts_are_usable(text: str) -> None:
    assert parse(text).value is not None


@given(malformed_arguments(TREE))
def test_malformed_arguments_are_not_usable(found: Malformed) -> None:
    assert found.kind in CLASSES
    assert parse(found.text).value is None
    assert found.text.strip()


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("truncated", {ArgumentClass.TRUNCATED}),
        ("prose", {ArgumentClass.PROSE, ArgumentClass.NOT_JSON}),
        ("fenced", {ArgumentClass.FENCED}),
        ("doubly-encoded", {ArgumentClass.DOUBLE_ENCODED}),
        ("wrong-top-type", {ArgumentClass.VALUE}),
        ("duplicate-keys", {ArgumentClass.DUPLICATE_KEYS}),
        ("trailing-comma", {ArgumentClass.NOT_JSON}),
    ],
)
@given(data=st.data())
def test_malformed_class_matches_its_name(
    kind: str, wanted: set[ArgumentClass], data: st.DataObject
) -> None:
    assert parse(data.draw(malformed_arguments(TREE, kind)).text).kind in wanted


@given(st.binary(max_size=40) | st.just(b'data: {"a": "\xc3\xa9"}\n\n'), st.data())
def test_chunkings_cut_within_the_body(body: bytes, data: st.DataObject) -> None:
    cuts = data.draw(chunkings(body, most=3))
    assert list(cuts) == sorted(set(cuts))
    assert all(0 < cut < len(body) for cut in cuts)
    assert len(cuts) <= 3 or cuts in (seams(body), each_byte(body))
    assert b"".join(split(body, cuts)) == body


@given(turn_scripts(tools=(WEATHER,)))
def test_turn_script_folds_to_its_turn(script: TurnScript) -> None:
    turn = fold(script.deltas())
    assert [call.name for call in turn.tool_calls] == [name for _, name, _ in script.calls]
    assert turn.parse_errors == ()
    assert turn.finish == script.finish


@given(deltas(most_calls=1), turns(most_calls=1))
def test_deltas_fold_to_finished_turns(told: tuple[Delta, ...], turn: Turn) -> None:
    assert fold(told).finish is not None
    assert turn.finish is not None
    assert len(turn.tool_calls) <= 1


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses"])
@given(data=st.data())
def test_body_round_trips_to_its_turn(dialect: str, data: st.DataObject) -> None:
    turn = data.draw(turns(tools=(WEATHER,), most_calls=2).filter(_can_be_said))
    body = data.draw(bodies(dialect, turn, quirks={"line_end": "crlf"}))
    read = fold(reference.normalize(_interaction(dialect, body), [body]))
    assert (read.text, read.reasoning) == (turn.text, turn.reasoning)
    assert [call.name for call in read.tool_calls] == [call.name for call in turn.tool_calls]
    for call, other in zip(read.tool_calls, turn.tool_calls, strict=True):
        assert same_value(call.arguments, other.arguments)


def _can_be_said(turn: Turn) -> bool:
    """Whether it was not cut short, since then its calls may not be run."""
    return turn.finish is not None and turn.finish.reason in (
        FinishReason.STOP,
        FinishReason.TOOL_CALLS,
    )


def _interaction(dialect: str, body: bytes) -> Interaction:
    return Interaction(Request(), 200, (), body, (), dialect=dialect)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@given(data=st.data())
def test_writer_options_are_of_their_dialect(dialect: str, data: st.DataObject) -> None:
    spelling = data.draw(writer_options(dialect))
    assert isinstance(spelling, DIALECTS[dialect].writer_options)
    name, value = data.draw(st.sampled_from(option_values(dialect)))
    assert getattr(DIALECTS[dialect].writer_options(), name) != value


@given(st.sampled_from(("tagged-json", "glm", "bare-json", "kimi")), st.data())
def test_text_calls_round_trip(name: str, data: st.DataObject) -> None:
    reply: TextReply = data.draw(texts_with_calls(name, (WEATHER,), most_blocks=2))
    policy = TextPolicy(frozenset((name,)), code="calls", quoted="calls")
    said: list[Delta] = [TextDelta(reply.text), Finish(FinishReason.STOP, "stop")]
    turn = fold(read_text_calls(said, (WEATHER,), policy))
    found = [(call.name, json.loads(call.arguments or "{}")) for call in turn.tool_calls]
    assert found == [(call.name, json.loads(call.arguments or "{}")) for call in reply.calls]
    # Line ends around the last call belong to the markup.
    assert turn.text.rstrip("\r\n") == "".join(reply.words).rstrip("\r\n")
    assert name in TEXT_DIALECTS


@pytest.mark.parametrize("dialect", ["openai-chat", "ollama"])
@given(data=st.data())
def test_only_complete_calls_of_a_reply_may_run(dialect: str, data: st.DataObject) -> None:
    for reply in data.draw(conversations((WEATHER,), dialect=dialect, most=3)):
        interaction = Interaction(Request(), reply.status, (), reply.body, (), dialect=dialect)
        turn = fold(reference.normalize(interaction, [reply.body]))
        assert [call.name for call in turn.tool_calls] == [name for name, _ in reply.may_run]
        for call, (_, text) in zip(turn.tool_calls, reply.may_run, strict=True):
            assert same_value(call.arguments, text)
        assert bool(turn.parse_errors) >= (reply.kind == "malformed")


def test_reference_names_every_strategy_and_class() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "reference" / "fuzzing-strategies.md").read_text(encoding="utf-8")
    functions = [name for name in strategies.__all__ if name.islower() and name != "option_values"]
    assert [name for name in (*functions, *CLASSES, *KINDS) if f"`{name}" not in page] == []
