"""Any deltas, in any spelling of Bedrock's, cut anywhere, fold to the same turn."""

import json
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.bedrock_converse.writer_options import WriterOptions
from harness.dialects.bedrock_llama.write import WriterOptions as LlamaSpelling
from harness.dialects.table import DIALECTS
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.bedrock_streams import messages, read_deltas, read_turn
from tests.dialects.test_dialects_openai_chat_hostile import ANYTHING
from tests.dialects.test_dialects_openai_chat_roundtrip import (
    Call,
    Script,
    counts,
    fragments,
    ids,
    objects,
    texts,
)
from tests.dialects.test_dialects_oracle_bedrock import assert_agrees

R = FinishReason
FINISHES = (
    Finish(R.STOP, "end_turn"),
    Finish(R.STOP, "stop_sequence"),
    Finish(R.TOOL_CALLS, "tool_use"),
    Finish(R.LENGTH, "max_tokens"),
    Finish(R.LENGTH, "model_context_window_exceeded"),
    Finish(R.CONTENT_FILTER, "guardrail_intervened"),
    Finish(R.CONTENT_FILTER, "content_filtered"),
    Finish(R.OTHER, "paused"),
)
_CUT_SHORT = (R.LENGTH, R.CONTENT_FILTER, R.OTHER)
calls = st.builds(Call, ids, st.sampled_from(["f", "get_weather", "g\u00e9"]), fragments())
pieces = st.lists(texts, max_size=2).map(tuple)


def spellings(kind: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a struct type
    """Return any combination of switches."""
    switches = {}
    for name, hint in get_type_hints(kind).items():
        if get_origin(hint) is Literal:
            switches[name] = st.sampled_from(get_args(hint))
        elif hint is bool:
            switches[name] = st.booleans()
        elif hint is int:
            switches[name] = st.integers(0, 2)
    return st.builds(kind, **switches)


scripts = st.builds(
    Script,
    st.lists(calls, max_size=3, unique_by=lambda call: call.id).map(tuple),
    st.booleans(),
    pieces,
    pieces,
    st.none() | st.builds(Usage, counts, counts),
    st.sampled_from(FINISHES),
    st.none(),
)


def said(script: Script) -> list[Delta]:
    """Return the deltas that a reader must find: the calls decide how the turn ended."""
    finish = script.finish
    if script.calls and finish.reason in (R.STOP, R.OTHER):
        finish = Finish(R.TOOL_CALLS, finish.raw)
    return [*script.deltas()[:-1], finish]


@given(scripts, spellings(WriterOptions))
def test_what_is_written_reads_back_to_the_same_turn(
    script: Script, spelling: WriterOptions
) -> None:
    cut = script.finish.reason in _CUT_SHORT
    assume(not cut or all(call.arguments for call in script.calls))
    assume(script.calls or script.finish.reason is not R.TOOL_CALLS)
    expected = fold(said(script))
    if not spelling.metadata or expected.usage == Usage():
        expected = msgspec.structs.replace(expected, usage=None)
    body = b"".join(DIALECTS["bedrock-converse"].write(script.deltas(), spelling))
    assert read_turn(body) == expected
    assert_agrees("bedrock-converse", body)


@given(scripts, st.sampled_from(["throttlingException", "modelStreamErrorException"]), st.text())
def test_a_failure_reads_back_and_no_call_runs(script: Script, code: str, words: str) -> None:
    deltas = [*script.deltas()[:-1], StreamFailure(code, words)]
    body = b"".join(DIALECTS["bedrock-converse"].write(deltas))
    turn = read_turn(body)
    assert turn.failure is not None
    assert turn.failure.code == code
    assert not words or turn.failure.message == words[:300]
    assert not turn.tool_calls
    assert len(turn.parse_errors) == len(script.calls)


@given(
    st.lists(st.text(min_size=1, max_size=5), max_size=4),
    st.sampled_from([Finish(R.STOP, "stop"), Finish(R.LENGTH, "length"), Finish(R.OTHER, "x")]),
    st.builds(Usage, counts, counts),
    spellings(LlamaSpelling),
)
def test_llama_reads_back(
    words: list[str], finish: Finish, usage: Usage, spelling: LlamaSpelling
) -> None:
    deltas: list[Delta] = [*map(TextDelta, words), UsageDelta(usage), finish]
    body = b"".join(DIALECTS["bedrock-llama"].write(deltas, spelling))
    turn = read_turn(body, "bedrock-llama")
    assert turn == Turn("".join(words), finish=finish, usage=usage if usage != Usage() else None)
    assert_agrees("bedrock-llama", body)


@pytest.mark.parametrize(
    "delta", [ToolCallStart(0, "t", "f"), ReasoningDelta("x"), ArgumentsDelta(0, "x")]
)
def test_llama_cannot_spell_calls_and_reasoning(delta: Delta) -> None:
    with pytest.raises(ValueError, match="cannot write "):
        DIALECTS["bedrock-llama"].write([delta])


# Non-stream parity

blocks = st.lists(
    st.tuples(st.just("text"), st.text(min_size=1, max_size=5))
    | st.tuples(st.just("reasoning"), st.text(min_size=1, max_size=5))
    | st.tuples(st.just("call"), objects),
    max_size=4,
)


@given(blocks, st.sampled_from(["end_turn", "tool_use", "max_tokens"]), counts)
def test_a_complete_answer_is_the_turn_of_its_stream(
    parts: list[tuple[str, Any]], word: str, tokens: int | None
) -> None:
    content: list[Any] = []
    deltas: list[Delta] = []
    for at, (kind, value) in enumerate(parts):
        if kind == "call":
            use = {"toolUseId": f"t{at}", "name": "f", "input": value}
            content.append({"toolUse": use})
            index = sum(isinstance(delta, ToolCallStart) for delta in deltas)
            deltas += [
                ToolCallStart(index, f"t{at}", "f"),
                ArgumentsDelta(index, json.dumps(value, ensure_ascii=False)),
                ToolCallEnd(index),
            ]
        elif kind == "text":
            content.append({"text": value})
            deltas.append(TextDelta(value))
        else:
            content.append({"reasoningContent": {"reasoningText": {"text": value}}})
            deltas.append(ReasoningDelta(value))
    deltas += [UsageDelta(Usage(tokens, 1)), Finish(R.OTHER, word)]
    document = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": word,
        "usage": {"inputTokens": tokens, "outputTokens": 1},
    }
    stream = b"".join(DIALECTS["bedrock-converse"].write(deltas))
    assert read_turn(json.dumps(document).encode()) == read_turn(stream)


# Hostile

NAMES = (
    *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop"),
    *("messageStop", "metadata", "chunk", "x", ""),
)
FIELDS = (
    *("contentBlockIndex", "start", "delta", "toolUse", "toolUseId", "name", "input", "type"),
    *("text", "reasoningContent", "stopReason", "usage", "inputTokens", "output", "message"),
    *("content", "generation", "stop_reason", "prompt_token_count", "contentBlockDelta"),
)
hostile = st.recursive(
    ANYTHING | st.sampled_from(["server_tool_use", "tool_use", "f"]),
    lambda inner: st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=8,
)
shaped = st.fixed_dictionaries(
    {},
    optional={
        "contentBlockIndex": st.integers(0, 1) | hostile,
        "start": st.fixed_dictionaries({"toolUse": hostile}) | hostile,
        "delta": st.fixed_dictionaries({"toolUse": hostile}) | hostile,
        "stopReason": st.sampled_from(["tool_use", "end_turn"]) | hostile,
        "output": st.fixed_dictionaries({"message": hostile}) | hostile,
        "generation": st.text(max_size=3) | hostile,
        "usage": hostile,
        "message": hostile,
    },
)


@given(st.lists(st.tuples(st.sampled_from(NAMES), shaped | hostile), max_size=4))
@pytest.mark.parametrize("dialect", ["bedrock-converse", "bedrock-llama"])
def test_nothing_that_a_stream_holds_raises(dialect: str, events: list[tuple[str, object]]) -> None:
    body = messages(*events)
    read_deltas(dialect, body)
    assert_agrees(dialect, body)
