"""Nothing that a message stream of Bedrock holds raises, and the oracle agrees with the reader."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.bedrock_streams import messages, read_deltas
from tests.dialects.test_dialects_openai_chat_hostile import ANYTHING
from tests.dialects.test_dialects_oracle_bedrock import assert_agrees

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
