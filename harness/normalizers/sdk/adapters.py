"""Declare the normalizer of each library; `harness.repro.drivers` has the code that calls it."""

import importlib
import os
from collections.abc import Mapping
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Hidden, Normalizer
from harness.normalizers.sdk.library import Library
from harness.project import ClientKind

_CHAT: Final = ("openai-chat",)
_ARGUMENTS: Final = {"arguments": "append"}
_APPEND: Final = {"names": "append", "arguments": "append"}
_OTHER_APIS: Final = ("custom-tools", "client-actions", "other-encodings")
# Gateways read no more of OpenAI's chat completions than their own users can ask for.
_PLAIN_CHAT: Final = (*_OTHER_APIS, "legacy-functions", "several-choices")

# By default litellm downloads a table of prices when it is imported, and haystack sends statistics.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")


def _adapter(  # noqa: PLR0913 - one parameter for each member of the declaration
    name: str,
    summary: str,
    library: Library,
    *,
    needs: tuple[str, ...],
    kind: ClientKind = "sdk",
    dialects: tuple[str, ...] = _CHAT,
    absent: tuple[str, ...] = (),
    hides: tuple[Hidden, ...] = (),
    policies: Mapping[str, str] | None = None,
    extra: str = "",
    sessions: tuple[str, ...] = (),
) -> Normalizer:
    """Return the normalizer of a library.

    Args:
        name: the name of the normalizer.
        summary: one line for lists.
        library: the driver, the code that calls the library.
        needs: the modules that it requires.
        kind: the kind of client.
        dialects: the dialects that it supports.
        absent: capabilities that the library does not have, or that its user cannot choose.
        hides: the fields that it does not expose.
        policies: its policies. With `arguments: append`, it does not support repeated arguments.
        extra: the extra of this package that installs it; "" for `name`.
        sessions: for a client over WebSocket, the capabilities that it has therefore.
    """
    appends = "arguments" in (policies or {})
    known = sdk.CAPABILITIES_OF_APPENDERS if appends else sdk.CAPABILITIES_OF_ADAPTERS
    return Normalizer(
        name=name,
        normalize=library.normalize,
        dialects=frozenset(dialects),
        capabilities=known.union(sessions) - set(absent),
        only=frozenset(sessions),
        kind=kind,
        hides=frozenset(hides),
        role="peer",
        summary=summary,
        policies=dict(policies or {}),
        needs=needs,
        extra=extra or name,
        timed=library.timed,
    )


openai_sdk = _adapter(
    "openai-sdk",
    "the openai package: chat.completions.stream and get_final_completion",
    Library("openai_sdk", "httpx2 client"),
    needs=("openai", "httpx2"),
    policies=_APPEND,
    extra="openai",
)
openai_sdk_responses = _adapter(
    "openai-sdk-responses",
    "the openai package: responses.stream and its last event",
    Library("openai_sdk_responses", "httpx2 client"),
    needs=("openai", "httpx2"),
    dialects=("openai-responses",),
    extra="openai",
)
openai_sdk_websocket = _adapter(
    "openai-sdk-websocket",
    "the openai package over WebSocket: responses.connect and its terminal event",
    Library("openai_sdk_websocket", "websocket"),
    needs=("openai", "websockets"),
    dialects=("openai-responses",),
    extra="openai-websocket",
    sessions=("sessions",),
)
openai_sdk_realtime = _adapter(
    "openai-sdk-realtime",
    "the openai package over WebSocket: realtime.connect and response.done",
    Library("openai_sdk_realtime", "websocket"),
    needs=("openai", "websockets"),
    dialects=("openai-responses",),
    hides=("reasoning",),
    extra="openai-websocket",
    sessions=("sessions", "realtime-events"),
)
anthropic_sdk = _adapter(
    "anthropic-sdk",
    "the anthropic package: messages.stream and get_final_message",
    Library("anthropic_sdk", "httpx2 client"),
    needs=("anthropic", "httpx2"),
    dialects=("anthropic",),
    absent=("other-encodings",),
    extra="anthropic",
)
google_genai = _adapter(
    "google-genai",
    "the google-genai package: models.generate_content_stream",
    Library("google_genai", "httpx2 client"),
    needs=("google.genai", "httpx2"),
    dialects=("gemini",),
    absent=("partial-arguments", "other-encodings"),
)
mistralai = _adapter(
    "mistralai",
    "the mistralai package: chat.stream, its chunks joined by index",
    Library("mistralai", "httpx2 client"),
    needs=("mistralai", "httpx2"),
    dialects=("mistral",),
)
ollama = _adapter(
    "ollama",
    "the ollama package: Client.chat with stream=True",
    Library("ollama", "httpx transport"),
    needs=("ollama", "httpx"),
    dialects=("ollama",),
    hides=("ids",),  # the class of a call has none: results are matched by the name of the tool
)
cohere = _adapter(
    "cohere",
    "the cohere package: ClientV2.chat_stream, its events joined by index",
    Library("cohere", "httpx client"),
    needs=("cohere", "httpx"),
    dialects=("cohere",),
    absent=("other-encodings",),
)
groq = _adapter(
    "groq",
    "the groq package: chat.completions.create, its chunks joined by index",
    Library("groq", "httpx client"),
    needs=("groq", "httpx"),
    # The package has no models for these, and the loop in the driver identifies calls by index.
    absent=("calls-without-index", "client-actions", "custom-tools"),
    policies=_APPEND,
)
boto3 = _adapter(
    "boto3",
    "the boto3 package: converse_stream, its events joined by index",
    Library("boto3", "botocore"),
    needs=("boto3", "botocore"),
    dialects=("bedrock-converse",),
    absent=("other-encodings",),
)
dashscope = _adapter(
    "dashscope",
    "the dashscope package: Generation.call, its events joined by index",
    Library("dashscope", "requests client"),
    needs=("dashscope", "requests"),
    dialects=("dashscope",),
)
litellm = _adapter(
    "litellm",
    "the litellm package: completion and stream_chunk_builder",
    Library("litellm", "httpx client"),
    needs=("litellm", "openai", "httpx"),
    kind="gateway",
    dialects=("openai-chat", "anthropic", "gemini"),
    absent=("partial-arguments", "other-encodings", "client-actions"),
    # It counts tokens for itself where a stream has no counts.
    policies={**_ARGUMENTS, "usage": "own"},
)
any_llm = _adapter(
    "any-llm",
    "the any-llm package: AnyLLM.acompletion, its chunks joined by index",
    # It needs an older version of the package anthropic.
    Library("any_llm", "httpx2 async client", (("anthropic", "httpx async client"),)),
    needs=("any_llm", "openai", "anthropic", "google.genai", "mistralai", "httpx", "httpx2"),
    kind="gateway",
    dialects=("openai-chat", "anthropic", "gemini", "mistral"),
    # The loop in the driver identifies calls by index.
    absent=(*_OTHER_APIS, "calls-without-index", "partial-arguments"),
    policies=_APPEND,
)
pydantic_ai = _adapter(
    "pydantic-ai",
    "the pydantic-ai package: direct.model_request_stream_sync and its response",
    Library("pydantic_ai", "httpx2 async client"),
    needs=("pydantic_ai", "openai", "anthropic", "httpx2"),
    kind="gateway",
    dialects=("openai-chat", "anthropic"),
    absent=_PLAIN_CHAT,
    # Its documentation of `openai_chat_streaming_requires_finish_reason`: compatible servers may
    # send no finish reason, so that by default an answer without one is complete.
    policies={**_APPEND, "absent-finish": "stop"},
)
openai_agents = _adapter(
    "openai-agents",
    "the openai-agents package: OpenAIChatCompletionsModel.stream_response",
    # The package reads a stream of the official API more strictly than one of a compatible server.
    Library("openai_agents", "httpx2 async client", official="https://api.openai.com/v1"),
    needs=("agents", "openai", "httpx2"),
    kind="gateway",
    absent=_PLAIN_CHAT,
    hides=("finish",),  # a response that the package builds has none
    policies=_ARGUMENTS,
)
smolagents = _adapter(
    "smolagents",
    "the smolagents package: OpenAIModel.generate_stream and agglomerate_stream_deltas",
    Library("smolagents", "httpx2 client"),
    needs=("smolagents", "openai", "httpx2"),
    # Its class targets servers of OpenAI's API, and its deltas have the ids of the provider. The
    # agent sends results back as text, so it needs no id.
    absent=_PLAIN_CHAT,
    hides=("finish", "reasoning"),  # a delta of the package has neither
    policies=_ARGUMENTS,
)
ag2 = _adapter(
    "ag2",
    "the ag2 package: the client of OpenAIConfig(streaming=True), its events and response",
    Library("ag2", "httpx2 async client"),
    needs=("ag2", "openai", "httpx2"),
    kind="gateway",
    absent=_PLAIN_CHAT,
    policies=_ARGUMENTS,
)
agno = _adapter(
    "agno",
    "the agno package: process_response_stream and get_function_calls_to_run",
    Library("agno", "httpx client", logger="agno"),
    needs=("agno", "openai", "httpx"),
    kind="gateway",
    absent=_PLAIN_CHAT,
    hides=("finish",),
    policies=_ARGUMENTS,
)
autogen = _adapter(
    "autogen",
    "the autogen-ext package: OpenAIChatCompletionClient.create_stream and its result",
    Library("autogen", "httpx2 async client"),
    needs=("autogen_ext", "openai", "httpx2"),
    kind="gateway",
    absent=_PLAIN_CHAT,
    policies=_APPEND,
)
haystack = _adapter(
    "haystack",
    "the haystack-ai package: OpenAIChatGenerator.run_async and its streaming callback",
    Library("haystack", "httpx transport", logger="haystack"),
    needs=("haystack", "openai", "httpx"),
    kind="gateway",
    # The package raises an exception if a chunk has several choices, and says so.
    absent=_PLAIN_CHAT,
    hides=("reasoning",),  # the generator for this API reads none
    policies=_APPEND,
)
llama_index = _adapter(
    "llama-index",
    "llama-index-llms-openai-like: OpenAILike.stream_chat and its calls",
    Library("llama_index", "httpx client"),
    needs=("llama_index.llms.openai_like", "openai", "httpx"),
    kind="gateway",
    absent=_PLAIN_CHAT,
    policies=_APPEND,
)


def _use_http(client: Any, http: Any) -> None:  # noqa: ANN401 - of packages that may not be installed
    """Replace the HTTP client inside the model of qwen-agent, which has no option for it."""
    openai: Any = importlib.import_module("openai")
    own = openai.OpenAI(**sdk.client_options(http))
    client._chat_complete_create = own.chat.completions.create  # noqa: SLF001 - it takes no client


qwen_agent = _adapter(
    "qwen-agent",
    "the qwen-agent package: chat(stream=True) of its OpenAI model, with the raw API",
    Library("qwen_agent", "httpx2 client", prepare=_use_http, logger="qwen_agent_logger"),
    needs=("qwen_agent", "openai", "httpx2"),
    kind="gateway",
    absent=_PLAIN_CHAT,
    hides=("finish", "usage"),
    policies=_APPEND,
)
semantic_kernel = _adapter(
    "semantic-kernel",
    "the semantic-kernel package: get_streaming_chat_message_contents, summed",
    Library("semantic_kernel", "httpx2 async client"),
    needs=("semantic_kernel", "openai", "httpx2"),
    kind="gateway",
    absent=(*_OTHER_APIS, "several-choices"),
    hides=("reasoning",),  # the service for this API reads none
    policies=_ARGUMENTS,
)
strands = _adapter(
    "strands",
    "the strands-agents package: process_stream of OpenAIModel.stream",
    Library("strands", "httpx async client", logger="strands"),
    needs=("strands", "openai", "httpx"),
    kind="gateway",
    absent=_PLAIN_CHAT,
    policies=_ARGUMENTS,
)
langchain_openai = _adapter(
    "langchain-openai",
    "langchain-openai: ChatOpenAI.stream and the sum of its chunks",
    Library("langchain_openai", "httpx2 client"),
    needs=("langchain_openai", "openai", "httpx2"),
    # It targets the official API, and documents that ids and finish reasons are those of the API.
    # LangChain sends requests with custom tools to the Responses API, and streams one choice only.
    absent=("custom-tools", "several-choices"),
    policies=_APPEND,
)
langchain_qwq = _adapter(
    "langchain-qwq",
    "langchain-qwq: ChatQwen.stream and the sum of its chunks",
    Library("langchain_qwq", "httpx2 client"),
    needs=("langchain_qwq", "openai", "httpx2"),
    kind="sdk",  # as langchain-openai, which it extends for one provider
    absent=("custom-tools", "several-choices"),
    policies=_APPEND,
)


def _use_client(model: Any, http: Any) -> None:  # noqa: ANN401 - as above
    """Replace the cached client of langchain-anthropic, which has no option for an HTTP client."""
    anthropic: Any = importlib.import_module("anthropic")
    vars(model.bound)["_client"] = anthropic.Anthropic(**sdk.client_options(http))


langchain_anthropic = _adapter(
    "langchain-anthropic",
    "langchain-anthropic: ChatAnthropic.stream and the sum of its chunks",
    Library("langchain_anthropic", "httpx2 client", prepare=_use_client),
    needs=("langchain_anthropic", "anthropic", "httpx2"),
    # As langchain-openai, it documents that ids and finish reasons are those of the API.
    dialects=("anthropic",),
    absent=("other-encodings",),
)
langchain_google_genai = _adapter(
    "langchain-google-genai",
    "langchain-google-genai: ChatGoogleGenerativeAI.stream and the sum of its chunks",
    Library("langchain_google_genai", "httpx transport"),
    needs=("langchain_google_genai", "google.genai", "httpx"),
    dialects=("gemini",),
    absent=("partial-arguments", "other-encodings"),
)
langchain_mistralai = _adapter(
    "langchain-mistralai",
    "langchain-mistralai: ChatMistralAI.stream and the sum of its chunks",
    Library("langchain_mistralai", "httpx transport"),
    needs=("langchain_mistralai", "httpx"),
    dialects=("mistral",),
    absent=("several-choices",),  # the class has no option for them
)
langchain_ollama = _adapter(
    "langchain-ollama",
    "langchain-ollama: ChatOllama.stream and the sum of its chunks",
    Library("langchain_ollama", "httpx transport"),
    needs=("langchain_ollama", "ollama", "httpx"),
    dialects=("ollama",),
    # It gives each call a new id, because the class of a call of the package ollama has none.
    hides=("ids",),
)
langchain_community = _adapter(
    "langchain-community",
    "langchain-community: ChatTongyi.stream and the sum of its chunks",
    Library("langchain_community", "requests client"),
    needs=("langchain_community", "dashscope", "requests"),
    dialects=("dashscope",),
    # It always asks for the result format `message`, and has no option for several choices.
    absent=("other-encodings", "several-choices"),
)
