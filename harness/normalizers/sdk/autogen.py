"""Adapter of the autogen-ext package: `OpenAIChatCompletionClient.create_stream`.

It yields text, and the result at the end. Text is taken from what it yields; calls, reasoning,
finish and usage from the result. It yields reasoning as text between `<think>` and `</think>`, and
a model may write the same in its text, so from there on text is taken from the result, too. Its
agents execute the calls of a result, whatever the finish reason is.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import asynchronous
from harness.turns.deltas import (
    Delta,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

# Finish reasons of the package, which has the same for each provider.
_FINISH: Final = {
    "stop": FinishReason.STOP,
    "function_calls": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
_NO_FINISH: Final = "unknown"
_REASONING: Final = "<think>"

_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    models: Any = importlib.import_module("autogen_core.models")
    client, answers = _client()
    answers.use(interaction, reads)
    asked = [models.UserMessage(content="replay", source="user")]
    text, is_text = "", True
    try:
        for item in asynchronous.iterate(client.create_stream(asked, include_usage=True)):
            if not isinstance(item, str):
                yield from _final_deltas(item, text)
                continue
            is_text = is_text and not item.startswith(_REASONING)
            if is_text:
                text += item
                yield TextDelta(item)
    except openai.OpenAIError as problem:
        yield sdk.failure_delta(problem)


@cache
def _client() -> tuple[Any, sdk.Answers]:
    models: Any = importlib.import_module("autogen_ext.models.openai")
    http, answers = sdk.lasting_async_client("httpx2")
    # What a user declares of a model that the package does not know.
    known: dict[str, bool | str] = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "structured_output": False,
        "family": "unknown",
    }
    client = models.OpenAIChatCompletionClient(
        model="replay", model_info=known, **sdk.client_options(http)
    )
    return client, answers


def _final_deltas(result: Any, text: str) -> Iterator[Delta]:  # noqa: ANN401 - a result of a package that may not be installed
    """Yield what the result has in addition to `text`; next to calls, text is its `thought`."""
    has_calls = not isinstance(result.content, str)
    if not has_calls and result.thought:
        yield ReasoningDelta(result.thought)
    rest = ((result.thought or "") if has_calls else result.content).removeprefix(text)
    if rest:
        yield TextDelta(rest)
    usage = result.usage
    if usage.prompt_tokens or usage.completion_tokens:
        yield UsageDelta(Usage(usage.prompt_tokens, usage.completion_tokens))
    for index, call in enumerate(result.content if has_calls else ()):
        yield from sdk.named_call(index, call.id, call.name, call.arguments)
    finish = None if result.finish_reason == _NO_FINISH else result.finish_reason
    yield sdk.finish_by_calls(finish, _FINISH, has_calls=has_calls)


normalizer = Normalizer(
    name="autogen",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    role="peer",
    summary="the autogen-ext package: OpenAIChatCompletionClient.create_stream and its result",
    policies={"names": "append", "arguments": "append"},
    needs=("autogen_ext", "openai", "httpx2"),
    extra="autogen",
)
