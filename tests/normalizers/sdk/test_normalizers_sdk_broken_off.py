"""Each adapter sees the end of the network: a body that broke off gives agent code no call."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.dialects.anthropic.write import write as write_anthropic
from harness.dialects.bedrock_converse.write import write as write_converse
from harness.dialects.cohere.write import write as write_cohere
from harness.dialects.mistral.write import write as write_mistral
from harness.dialects.openai_chat.write import write as write_chat
from harness.dialects.openai_responses.write import write as write_responses
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import adapters
from harness.results.outcome import Outcome
from harness.turns.deltas import Delta
from harness.wire.interaction import Ended
from tests.judging.judging_samples import a_cassette
from tests.normalizers.sdk.sdk_streams import an_answer, clean_turns

Turns = st.SearchStrategy[list[Delta]]
CHAT, ANTHROPIC = clean_turns("stop", "tool_calls"), clean_turns("end_turn", "tool_use")
RESPONSES = clean_turns("completed", "completed", usage_first=True)
COHERE, CONVERSE = clean_turns("COMPLETE", "TOOL_CALL"), clean_turns("end_turn", "tool_use")
ADAPTERS: dict[str, tuple[str, str, Callable[..., Iterable[bytes]], Turns]] = {
    "openai-sdk": ("openai", "openai-chat", write_chat, CHAT),
    "langchain-openai": ("langchain_openai", "openai-chat", write_chat, CHAT),
    "langchain-anthropic": ("langchain_anthropic", "anthropic", write_anthropic, ANTHROPIC),
    "langchain-mistralai": ("langchain_mistralai", "mistral", write_mistral, CHAT),
    "openai-sdk-responses": ("openai", "openai-responses", write_responses, RESPONSES),
    "anthropic-sdk": ("anthropic", "anthropic", write_anthropic, ANTHROPIC),
    "groq": ("groq", "openai-chat", write_chat, CHAT),
    "any-llm": ("any_llm", "openai-chat", write_chat, CHAT),
    "openai-agents": ("agents", "openai-chat", write_chat, CHAT),
    "smolagents": ("smolagents", "openai-chat", write_chat, CHAT),
    "mistralai": ("mistralai", "mistral", write_mistral, CHAT),
    "cohere": ("cohere", "cohere", write_cohere, COHERE),
    "boto3": ("boto3", "bedrock-converse", write_converse, CONVERSE),
    "ag2": ("ag2", "openai-chat", write_chat, CHAT),
    "agno": ("agno", "openai-chat", write_chat, CHAT),
    "autogen": ("autogen_ext", "openai-chat", write_chat, CHAT),
    "haystack": ("haystack", "openai-chat", write_chat, CHAT),
    "langchain-qwq": ("langchain_qwq", "openai-chat", write_chat, CHAT),
    "llama-index": ("llama_index.llms.openai_like", "openai-chat", write_chat, CHAT),
    "qwen-agent": ("qwen_agent", "openai-chat", write_chat, CHAT),
    "semantic-kernel": ("semantic_kernel", "openai-chat", write_chat, CHAT),
    "strands": ("strands", "openai-chat", write_chat, CHAT),
    "pydantic-ai": ("pydantic_ai", "anthropic", write_anthropic, ANTHROPIC),
}
# Adapter -> why this test does not require that it conforms.
LEFT_OUT = {
    "openai-sdk-realtime": "a session over WebSocket, which tests of sessions break",
    "openai-sdk-websocket": "as openai-sdk-realtime",
    "google-genai": "agent code gets the calls of each chunk before the end of the stream",
    "dashscope": "no writer for DashScope is used here",
    "langchain-community": "as dashscope, on which it stands",
    "langchain-google-genai": "no writer for Gemini is used here",
    "langchain-ollama": "as ollama, on which it stands",
    "litellm": "each failure of the network comes out as status 500 (FAILURE-CODE-KEPT)",
    "ollama": "the package ends a line at U+0085, which JSON may contain, in any stream",
}
# A warning of a library about its dependencies is not an error of its user.
pytestmark = pytest.mark.filterwarnings("default")


def test_each_adapter_is_tested_or_left_out_for_a_reason() -> None:
    declared = [it for it in vars(adapters).values() if isinstance(it, Normalizer)]
    assert {it.name for it in declared} == ADAPTERS.keys() ^ LEFT_OUT.keys()


@pytest.mark.parametrize("name", ADAPTERS)
@given(data=st.data(), ended=st.sampled_from(("reset", "truncated")))
def test_a_body_that_broke_off_is_a_failure_and_conforms(
    name: str, data: st.DataObject, ended: Ended
) -> None:
    package, dialect, write, turns = ADAPTERS[name]
    pytest.importorskip(package, reason="its extra is not installed")
    adapter = load_normalizer(name)
    # Without the last event, because a client may stop reading there.
    events = tuple(write(data.draw(turns)))[:-1]
    body = b"".join(events)
    sent = body[: data.draw(st.integers(0, len(body)))]
    interaction = replace(an_answer(dialect, (sent,)), ended=ended)
    result, case = judge_subject(LoadedSubject(a_cassette(interaction)), adapter, cuts="quick")
    # Where the last event is cut, the bytes may not show whether the turn has calls.
    assert result.outcome.conforms or result.outcome is Outcome.UNJUDGED, case
    assert result.turns[0].failure
