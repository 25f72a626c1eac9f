"""Nothing that a stream holds raises or breaks the protocol of deltas."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.openai_chat_streams import calls, read_turn, sse
from tests.replay_every_way import has_ended

KEYS = st.sampled_from(
    (
        *("id", "choices", "index", "delta", "message", "content", "text", "role", "refusal"),
        *("tool_calls", "function_call", "function", "name", "arguments", "type", "custom"),
        *("reasoning", "reasoning_content", "additional_kwargs", "finish_reason", "usage"),
        *("error", "code", "error_message", "prompt_tokens", "completion_tokens", "object"),
    )
)
WORDS = st.sampled_from(
    (
        "",
        "get",
        "_weather",
        "{}",
        '{"a":',
        '{"a":1}',
        "1}",
        "stop",
        "length",
        "custom",
        "\ud83d",
        "-1",
        "--1",
    )
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-2, 2) | WORDS | st.just(1e999) | st.text(max_size=3)
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def _some(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Draw an object of some of `fields`, each of them sometimes anything else."""
    return ANYTHING | st.fixed_dictionaries(
        {}, optional={name: field | ANYTHING for name, field in fields.items()}
    )


def _listed(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3)


FUNCTIONS = _some({"name": WORDS, "arguments": WORDS})
ENTRIES = _some({"index": st.integers(-1, 2), "id": WORDS, "type": WORDS, "function": FUNCTIONS})
SAID = _some(
    {
        "content": WORDS,
        "tool_calls": _listed(ENTRIES),
        "function_call": FUNCTIONS,
        "refusal": WORDS,
        "reasoning": WORDS,
        "additional_kwargs": _some({"tool_calls": _listed(ENTRIES)}),
    }
)
CHOICES = _some(
    {"index": st.integers(0, 1), "delta": SAID, "message": SAID, "finish_reason": WORDS}
)
CHUNKS = _some({"id": WORDS, "choices": _listed(CHOICES), "usage": ANYTHING, "error": ANYTHING})


@given(chunks=st.lists(CHUNKS, max_size=5), done=st.booleans())
def test_no_chunk_of_any_shape_raises_or_breaks_the_protocol(
    chunks: list[Any], *, done: bool
) -> None:
    assert has_ended(read_turn(sse(*(json.dumps(each) for each in chunks), *["[DONE]"] * done)))


@given(st.lists(ENTRIES, max_size=8))
def test_no_entries_of_any_shape_raise_or_break_the_protocol(entries: list[Any]) -> None:
    assert has_ended(read_turn(calls(*entries)))


EVENTS = st.lists(st.binary(max_size=20), max_size=3).map(
    lambda data: b"".join(b"data: " + each + b"\n\n" for each in data)
)


@given(st.binary(max_size=60) | EVENTS)
def test_no_bytes_raise_or_break_the_protocol(body: bytes) -> None:
    assert has_ended(read_turn(body, plain=True))
