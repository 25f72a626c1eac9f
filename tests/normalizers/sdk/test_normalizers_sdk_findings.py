"""What the libraries are accused of, and what they are not: each was checked against their source.

A change here means that an adapter, an expected result or a library changed. Look at the bytes
(`harness replay SCENARIO/ADAPTER`) and at the source of the library before you change the list.
"""

from functools import cache

import pytest

from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.results.result import Result
from tests.judging.judging_samples import shipped_subjects

CHAT, RESPONSES, ANTHROPIC = "openai-sdk", "openai-sdk-responses", "anthropic-sdk"
LANGCHAIN = "langchain-openai"
LANGCHAIN_ANTHROPIC, LANGCHAIN_GOOGLE = "langchain-anthropic", "langchain-google-genai"
LANGCHAIN_MISTRAL, LANGCHAIN_OLLAMA = "langchain-mistralai", "langchain-ollama"
AG2, AGNO, AUTOGEN, HAYSTACK = "ag2", "agno", "autogen", "haystack"
LLAMA, QWEN, KERNEL, STRANDS = "llama-index", "qwen-agent", "semantic-kernel", "strands"
LANGCHAIN_COMMUNITY, ANY_LLM = "langchain-community", "any-llm"
AGENTS, SMOLAGENTS = "openai-agents", "smolagents"
BOTO3, LITELLM = "boto3", "litellm"
PACKAGES = {
    BOTO3: "boto3",
    LITELLM: "litellm",
    CHAT: "openai",
    RESPONSES: "openai",
    ANTHROPIC: "anthropic",
    LANGCHAIN: "langchain_openai",
    LANGCHAIN_ANTHROPIC: "langchain_anthropic",
    LANGCHAIN_GOOGLE: "langchain_google_genai",
    LANGCHAIN_MISTRAL: "langchain_mistralai",
    LANGCHAIN_OLLAMA: "langchain_ollama",
    AG2: "ag2",
    AGNO: "agno",
    AUTOGEN: "autogen_ext",
    HAYSTACK: "haystack",
    LLAMA: "llama_index",
    QWEN: "qwen_agent",
    KERNEL: "semantic_kernel",
    STRANDS: "strands",
    LANGCHAIN_COMMUNITY: "langchain_community",
    ANY_LLM: "any_llm",
    AGENTS: "agents",
    SMOLAGENTS: "smolagents",
}

# A warning of a library about its dependencies is not an error of its user.
pytestmark = pytest.mark.filterwarnings("default")

# Findings that a user of the library meets; the reason is in the source of the library.
TRUE = [
    # LangChain's agents execute calls that a limit, a closed connection or a refusal cut.
    (LANGCHAIN, "finish/length-with-siblings", "BROKEN-CALL-NOT-RUN"),
    (LANGCHAIN, "arguments/truncated-in-string-length", "BROKEN-CALL-NOT-RUN"),
    (LANGCHAIN, "finish/end-in-call", "TRUNCATED-CALL-NOT-RUN"),
    (LANGCHAIN, "errors/refusal-in-call", "TRUNCATED-CALL-NOT-RUN"),
    # It adds a fragment without an id to the first call with that index.
    (LANGCHAIN, "calls/index-all-zero", "CALL-ARGUMENTS-EXACT"),
    # It joins the finish reasons of all chunks.
    (LANGCHAIN, "finish/stop-too-early-text", "FINISH-REASON"),
    (LANGCHAIN, "finish/twice", "FINISH-REASON"),
    # langchain-anthropic does not read a message that is complete in its first event.
    (LANGCHAIN_ANTHROPIC, "anthropic/whole-in-start", "CALLS-KEPT"),
    (LANGCHAIN_ANTHROPIC, "anthropic/max-tokens-in-input", "BROKEN-CALL-NOT-RUN"),
    # LangChain joins the finish reasons of Gemini, which sends one after code that it ran.
    (LANGCHAIN_GOOGLE, "gemini/code-execution", "FINISH-REASON"),
    # langchain-mistralai takes the index 0 for a missing one, and gives a fragment a new id.
    (LANGCHAIN_MISTRAL, "mistral/fragments", "CALL-ARGUMENTS-EXACT"),
    # It skips every event without choices, also an error.
    (LANGCHAIN_MISTRAL, "mistral/error-in-stream", "FAILURE-REPORTED"),
    (LANGCHAIN_OLLAMA, "ollama/end-after-call", "TRUNCATED-CALL-NOT-RUN"),
    # ChatTongyi subtracts the last event with `str.replace`, and expects no new call in an event.
    (LANGCHAIN_COMMUNITY, "dashscope-native/snapshots-short", "TEXT-EXACT"),
    (LANGCHAIN_COMMUNITY, "dashscope-native/snapshots-parallel", "NO-CRASH"),
    # any-llm drops an input in the first event of a call, and fragments without a name.
    (ANY_LLM, "anthropic/input-in-start", "CALL-ARGUMENTS-EXACT"),
    (ANY_LLM, "mistral/fragments", "CALL-ARGUMENTS-EXACT"),
    # It translates `model_length` only in a complete answer, not in a stream.
    (ANY_LLM, "mistral/model-length", "FINISH-REASON"),
    # openai-agents and smolagents take the last piece of a name for the name.
    (AGENTS, "calls/name-fragmented", "CALL-NAME-EXACT"),
    (SMOLAGENTS, "calls/name-fragmented", "CALL-NAME-EXACT"),
    # openai-agents builds a completed response of an empty stream.
    (AGENTS, "errors/only-done", "FAILURE-REPORTED"),
    # smolagents has no member for a refusal, and requires a delta in each chunk.
    (SMOLAGENTS, "errors/refusal", "FAILURE-REPORTED"),
    (SMOLAGENTS, "calls/delta-null", "NO-CRASH"),
    # The openai package dispatches an event without data, and keeps the byte order mark.
    (CHAT, "framing/comment-after-id", "NO-CRASH"),
    (CHAT, "framing/retry-and-unknown-fields", "NO-CRASH"),
    (CHAT, "framing/byte-order-mark", "TEXT-EXACT"),
    (CHAT, "calls/message-only", "NO-CRASH"),
    (CHAT, "calls/delta-null", "NO-CRASH"),
    (CHAT, "calls/custom-tool-call", "NO-CRASH"),
    (CHAT, "calls/index-all-zero", "CALLS-KEPT"),
    (CHAT, "calls/name-repeated", "CALL-NAME-EXACT"),
    # It takes an empty list for the output, although items came before.
    (RESPONSES, "openai-responses/output-empty", "CALLS-KEPT"),
    # The anthropic package skips events without a name, and parses an input while it is incomplete.
    (ANTHROPIC, "anthropic/error-without-event-line", "FAILURE-REPORTED"),
    (ANTHROPIC, "anthropic/input-cut-finish-ok", "BROKEN-CALL-NOT-RUN"),
    (ANTHROPIC, "anthropic/no-event-lines", "NO-CRASH"),
    (ANTHROPIC, "anthropic/index-zero", "CALL-ARGUMENTS-EXACT"),
    # A later empty id, or a later part of a name, replaces the first one.
    (AG2, "dashscope/parallel", "CALL-ID-PRESENT"),
    (AG2, "calls/name-fragmented", "CALL-NAME-EXACT"),
    (HAYSTACK, "dashscope/parallel", "CALL-ID-PRESENT"),
    (AGNO, "calls/name-fragmented", "CALL-NAME-EXACT"),
    # Its loop executes only calls with a type, which the API lets a chunk leave out.
    (AGNO, "calls/type-missing", "GOOD-CALL-NOT-REJECTED"),
    (AGNO, "arguments/python-literal", "BROKEN-CALL-NOT-RUN"),
    # It reads no call from a chunk with text, and no finish reason from one with usage.
    (AUTOGEN, "calls/text-in-the-same-delta", "CALLS-KEPT"),
    (AUTOGEN, "text/usage-with-finish", "FINISH-REASON"),
    (AUTOGEN, "calls/name-repeated", "CALL-ID-EXACT"),
    # Its class of a chunk has text or calls, and its class of a message drops broken calls.
    (HAYSTACK, "calls/text-in-the-same-delta", "NO-CRASH"),
    (HAYSTACK, "arguments/truncated-in-string", "PARSE-ERROR-REPORTED"),
    # It reads the first call of each chunk, and closes incomplete JSON.
    (LLAMA, "calls/several-in-chunk", "CALLS-KEPT"),
    (LLAMA, "calls/interleaved", "CALL-ARGUMENTS-EXACT"),
    (LLAMA, "arguments/truncated-in-string", "BROKEN-CALL-NOT-RUN"),
    # It adds each fragment without an id to the last call, and requires arguments in the first.
    (QWEN, "calls/interleaved", "GOOD-CALL-NOT-REJECTED"),
    (QWEN, "calls/no-arguments-key", "NO-CRASH"),
    # It keeps the first part of a name, and has an enumeration of finish reasons.
    (KERNEL, "calls/name-fragmented", "CALL-NAME-EXACT"),
    (KERNEL, "finish/unknown-reason-text", "NO-CRASH"),
    # It replaces arguments that it cannot parse with an empty object, a missing finish reason with
    # `end_turn`, and reads nothing after a finish reason.
    (STRANDS, "arguments/truncated-in-string", "BROKEN-CALL-NOT-RUN"),
    (STRANDS, "finish/end-in-call", "TRUNCATED-CALL-NOT-RUN"),
    (STRANDS, "finish/end-in-text", "FAILURE-REPORTED"),
    (STRANDS, "finish/stop-too-early-call", "CALLS-KEPT"),
    (STRANDS, "calls/id-missing", "CALLS-KEPT"),
]

# What earlier adapters and expected results made of these was unfair.
CONFORMING = [
    (BOTO3, "bedrock-converse/server-tool"),  # its fragments belong to no call of the client
    (LITELLM, "calls/legacy-function-call"),
    (CHAT, "finish/length-with-siblings"),  # the exception has the completion
    (CHAT, "finish/length-empty-arguments"),
    (CHAT, "finish/missing-call"),  # a missing reason is not a failure
    (CHAT, "finish/missing-text"),
    (CHAT, "finish/end-in-text"),
    (CHAT, "finish/stop-with-calls"),
    (CHAT, "finish/tool-calls-then-stop"),
    (CHAT, "framing/no-final-blank"),  # the event is not complete
    (CHAT, "calls/id-missing"),
    (CHAT, "errors/html"),  # not an answer: an exception of any type
    (CHAT, "errors/only-done"),
    (CHAT, "errors/json-for-stream"),
    (LANGCHAIN, "calls/legacy-function-call"),
    (LANGCHAIN, "errors/refusal"),  # with `response_format`, as in the request
    (LANGCHAIN, "errors/empty-body"),
    (LANGCHAIN, "finish/stop-with-calls"),  # the agent loop looks at calls alone
    (LANGCHAIN, "finish/missing-text"),
    (LANGCHAIN, "finish/end-in-text"),  # the message has no finish reason
    (LANGCHAIN, "calls/id-missing"),  # the type of a call has an optional id
    (CHAT, "finish/end-after-whole-call"),  # the package has no loop that executes the call
    (LANGCHAIN, "dashscope/nameless-beside-good"),  # the tool node answers with an error
    (LANGCHAIN_GOOGLE, "gemini/malformed-call"),
    (LANGCHAIN_OLLAMA, "ollama/generate"),  # a class of its own
    (LANGCHAIN_OLLAMA, "ollama/text-then-call"),  # ids are not judged
    (LANGCHAIN_COMMUNITY, "dashscope-native/content-parts"),  # in the provider's own form
    (ANY_LLM, "finish/tool-calls-then-stop"),  # the loop looks at calls alone
    (AGENTS, "finish/content-filter"),  # withheld, not refused by the model
    (AGENTS, "finish/end-in-text"),  # a response of this package has no finish reason
    (SMOLAGENTS, "calls/id-missing"),  # its agent sends results back as text
    (LANGCHAIN, "arguments/duplicate-keys"),
    (LANGCHAIN, "arguments/lone-surrogate"),
    (RESPONSES, "openai-responses/text-item-only"),  # the last event has the text
    (RESPONSES, "openai-responses/call-id-changes"),  # and the authoritative items
    (RESPONSES, "openai-responses/done-differs"),
    (RESPONSES, "openai-responses/custom-tool"),
    (RESPONSES, "openai-responses/x-search"),
    (RESPONSES, "openai-responses/json-for-stream"),
    (ANTHROPIC, "anthropic/max-tokens-in-input"),  # the tool runner executes no such call
    (ANTHROPIC, "anthropic/max-tokens-in-parameter"),
    (ANTHROPIC, "anthropic/cut-in-call"),
    (ANTHROPIC, "anthropic/end-turn-with-call"),
    (ANTHROPIC, "anthropic/another-api"),
    (AGNO, "finish/length-empty-arguments"),  # it passes on that no arguments came
    (AGNO, "arguments/array"),
    (AUTOGEN, "text/reasoning-content"),  # text after `<think>` is taken from the result
    (KERNEL, "finish/length-empty-arguments"),  # its loop checks required arguments
    (HAYSTACK, "finish/length-empty-arguments"),
    (STRANDS, "finish/length-with-siblings"),  # its loop refuses each call of a cut answer
    (STRANDS, "finish/length-empty-arguments"),
    (QWEN, "finish/missing-text"),  # it exposes no finish reason
]

UNSUPPORTED = [
    (CHAT, "arguments/cumulative"),  # contradicts the policy `arguments: append`
    (LANGCHAIN, "arguments/placeholder-first"),
    (LANGCHAIN, "calls/custom-tool-call"),  # it uses the Responses API for custom tools
    (LANGCHAIN_MISTRAL, "mistral/two-choices"),  # its class has no option for it
    (LANGCHAIN_COMMUNITY, "dashscope-native/result-text"),  # it asks for messages
    (AGENTS, "calls/legacy-function-call"),  # it never sends `functions`
    (CHAT, "dashscope/additional-kwargs"),
    (LANGCHAIN, "dashscope/additional-kwargs"),
    (RESPONSES, "openai-responses/realtime-call"),
    (ANTHROPIC, "anthropic/bedrock-call"),
    (AGNO, "calls/legacy-function-call"),  # it sends no `functions`
]


@cache
def _subjects() -> dict[str, LoadedSubject]:
    return {subject.id: subject for subject in shipped_subjects()}


def _judged(name: str, scenario: str) -> Result:
    pytest.importorskip("httpx2", reason="no extra of an adapter is installed")
    pytest.importorskip(PACKAGES[name], reason=f"the extra of {name} is not installed")
    adapter = load_normalizer(name)
    return judge_subject(_subjects()[scenario], adapter, cuts="whole")[0]


@pytest.mark.parametrize(("name", "scenario", "rule"), TRUE)
def test_true_findings_remain(name: str, scenario: str, rule: str) -> None:
    found = {finding.rule for finding in _judged(name, scenario).findings if finding.level != "MAY"}
    assert rule in found


@pytest.mark.parametrize(("name", "scenario"), CONFORMING)
def test_no_library_fails_for_what_it_may_do(name: str, scenario: str) -> None:
    result = _judged(name, scenario)
    assert result.outcome.conforms, result.findings


@pytest.mark.parametrize(("name", "scenario"), UNSUPPORTED)
def test_what_an_adapter_does_not_drive_is_not_judged(name: str, scenario: str) -> None:
    assert not _judged(name, scenario).outcome.judged
