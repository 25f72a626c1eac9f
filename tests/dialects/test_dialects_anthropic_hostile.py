"""Nothing that a messages response holds raises or breaks the protocol of deltas."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.anthropic_streams import read_turn, sse
from tests.replay_every_way import has_ended

KEYS = st.sampled_from(
    (
        *("type", "index", "message", "content", "content_block", "delta", "usage", "error"),
        *("id", "name", "input", "text", "thinking", "partial_json", "stop_reason", "code"),
        *("input_tokens", "output_tokens", "role", "caller", "Message", "status", "signature"),
        "\ud83d",
    )
)
TYPES = st.sampled_from(
    (
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop", "message", "ping", "error", "text_delta", "new"),
        *("thinking_delta", "input_json_delta", "signature_delta", "text", "thinking"),
        *("tool_use", "server_tool_use", "redacted_thinking", "web_search_tool_result"),
    )
)
WORDS = TYPES | st.sampled_from(
    ("", "{}", '{"a":', "1}", "end_turn", "tool_use", "max_tokens", "refusal", "\ud83d", "t1")
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | WORDS | st.just(1e999),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def some(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Draw an object of some of `fields`, each of them sometimes anything else."""
    return ANYTHING | st.fixed_dictionaries(
        {}, optional={name: field | ANYTHING for name, field in fields.items()}
    )


BLOCKS = some(
    {"type": TYPES, "id": WORDS, "name": WORDS, "input": ANYTHING, "text": WORDS, "thinking": WORDS}
)
DELTAS = some(
    {"type": TYPES, "text": WORDS, "partial_json": WORDS, "thinking": WORDS, "stop_reason": WORDS}
)
MESSAGES = some(
    {"id": WORDS, "content": st.lists(BLOCKS, max_size=3), "stop_reason": WORDS, "usage": ANYTHING}
)
EVENTS = some(
    {
        "type": TYPES,
        "index": st.integers(0, 2),
        "message": MESSAGES,
        "content_block": BLOCKS,
        "content": st.lists(BLOCKS, max_size=3),
        "delta": DELTAS,
        "error": ANYTHING,
        "stop_reason": WORDS,
        "usage": ANYTHING,
    }
)
BODIES = st.lists(EVENTS, max_size=6).map(lambda events: sse(*map(json.dumps, events)))


@given(BODIES)
def test_no_events_of_any_shape_raise_or_break_the_protocol(body: bytes) -> None:
    assert has_ended(read_turn(body))


@given(EVENTS)
def test_no_document_of_any_shape_raises_or_breaks_the_protocol(value: Any) -> None:  # noqa: ANN401 - any JSON
    assert has_ended(read_turn(json.dumps(value).encode(), tail=b""))


@given(st.lists(EVENTS, max_size=4))
def test_no_list_of_any_shape_raises_or_breaks_the_protocol(values: list[Any]) -> None:
    assert has_ended(read_turn(json.dumps(values).encode(), tail=b""))
    assert has_ended(read_turn(sse(json.dumps(values))))
