"""Adapter of the litellm package: `litellm.completion` and `stream_chunk_builder`.

One call asks every provider, and its chunks have the form of OpenAI's chat completions. Text and
reasoning are taken from the chunks; calls, finish and usage from what `stream_chunk_builder`
builds from them.
"""

import importlib
import os
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.fragments import FINISH, Fragments
from harness.turns.deltas import (
    Delta,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

# By default the package downloads a table of prices when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

_MODELS: Final = {
    "openai-chat": "openai/replay",
    "anthropic": "anthropic/replay",
    "gemini": "gemini/replay",
}

_ABSENT: Final = frozenset(("partial-arguments", "other-encodings", "client-actions"))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True  # it prints a hint for each unknown model
    openai: Any = importlib.import_module("openai")
    client, answers = _client(interaction.dialect)
    answers.use(interaction, reads)
    chunks, begun = [], Fragments()
    try:
        for chunk in litellm.completion(
            model=_MODELS[interaction.dialect],
            messages=[{"role": "user", "content": "replay"}],
            api_base=sdk.BASE_URL,
            api_key="none",
            client=client,
            stream=True,
            stream_options={"include_usage": True},
            max_retries=0,
            num_retries=0,
        ):
            chunks.append(chunk)
            for choice in chunk.choices[:1]:
                yield from _piece(choice.delta)
                begun.add(choice.delta.tool_calls or ())
        answer = litellm.stream_chunk_builder(chunks)
    except openai.APIError as problem:
        yield from begun.failed(sdk.failure_delta(problem))
    else:
        yield from _final_deltas(answer)


@cache
def _client(dialect: str) -> tuple[Any, sdk.Answers]:
    """Return the client that the package takes for an API."""
    http, answers = sdk.lasting_client("httpx")
    if dialect == "openai-chat":
        openai: Any = importlib.import_module("openai")
        return openai.OpenAI(**sdk.client_options(http)), answers
    handlers: Any = importlib.import_module("litellm.llms.custom_httpx.http_handler")
    return handlers.HTTPHandler(client=http), answers


def _piece(delta: Any) -> Iterator[Delta]:  # noqa: ANN401 - a delta of a package that may not be installed
    reasoning = getattr(delta, "reasoning_content", None)
    if reasoning:
        yield ReasoningDelta(reasoning)
    if delta.content:
        yield TextDelta(delta.content)


def _final_deltas(answer: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    if answer is None:
        yield StreamFailure("empty_stream", "no chunk came")
        return
    yield UsageDelta(Usage(answer.usage.prompt_tokens, answer.usage.completion_tokens))
    choice = answer.choices[0]
    calls = choice.message.tool_calls or ()
    ids = _ids(calls)
    for index, call in enumerate(calls):
        call_id = ids[index]
        if call.type == "custom":
            custom = call.custom
            yield from sdk.handed_call(index, call_id, custom.name, custom.input, "custom")
        else:
            function = call.function
            yield from sdk.handed_call(index, call_id, function.name, function.arguments)
    older = choice.message.function_call
    if older and not calls:
        # It has no id in this API, because agent code needs none.
        yield from sdk.handed_call(0, "function_call", older.name, older.arguments)
    yield sdk.finish_delta(choice.finish_reason, FINISH)


def _ids(calls: Any) -> list[str]:  # noqa: ANN401 - calls of a package that may not be installed
    """Return the ids without Gemini's signature, unless only that makes them different.

    The package appends it to an id, and removes it from what it sends back.
    """
    ids = [str(call.id or "") for call in calls]
    plain = [each.split("__thought__", 1)[0] for each in ids]
    return ids if len(set(plain)) < len(set(ids)) else plain


normalizer = Normalizer(
    name="litellm",
    normalize=normalize,
    dialects=frozenset(_MODELS),
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    role="peer",
    summary="the litellm package: completion and stream_chunk_builder",
    policies={"arguments": "append"},
    needs=("litellm", "openai", "httpx"),
    extra="litellm",
)
