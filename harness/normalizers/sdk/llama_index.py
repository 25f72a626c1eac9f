"""Adapter of llama-index-llms-openai-like: `OpenAILike.stream_chat`, as its agents use it.

Text and reasoning are taken from the deltas of the responses; calls from
`get_tool_calls_from_response` of the last one, which parses the arguments; finish and usage from
the chunks, which the responses have as `raw`. Its agents execute calls until a response has none,
whatever the finish reason is.
"""

import importlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.fragments import FINISH
from harness.normalizers.sdk.validation import validation_error
from harness.turns.deltas import (
    Delta,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    llms: Any = importlib.import_module("llama_index.core.llms")
    model, answers = _model()
    answers.use(interaction, reads)
    last, finish = None, None
    try:
        for last in model.stream_chat([llms.ChatMessage("replay")]):
            finish = _finish_reason(last.raw) or finish
            if last.additional_kwargs.get("thinking_delta"):
                yield ReasoningDelta(last.additional_kwargs["thinking_delta"])
            if last.delta:
                yield TextDelta(last.delta)
    except openai.OpenAIError as problem:
        yield sdk.failure_delta(problem)
    else:
        yield from _final_deltas(model, last, finish, interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("llama_index.llms.openai_like")
    http, answers = sdk.lasting_client("httpx")
    model = library.OpenAILike(
        model="replay",
        api_base=sdk.BASE_URL,
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        http_client=http,
    )
    return model, answers


def _finish_reason(chunk: Any) -> Any:  # noqa: ANN401 - values of a package that may not be installed
    return chunk.choices[0].finish_reason if chunk.choices else None


def _final_deltas(
    model: Any,  # noqa: ANN401 - as above
    last: Any,  # noqa: ANN401 - as above
    finish: Any,  # noqa: ANN401 - as above
    interaction: Interaction,
) -> Iterator[Delta]:
    if last is None:
        yield StreamFailure("empty_stream", "no response came")
        return
    counts = last.additional_kwargs
    if "prompt_tokens" in counts:
        yield UsageDelta(Usage(counts["prompt_tokens"], counts["completion_tokens"]))
    calls = model.get_tool_calls_from_response(last, error_on_no_tool_call=False)
    for index, call in enumerate(calls):
        arguments = json.dumps(call.tool_kwargs)
        # Its tools are called without a check of types, but not without a required argument.
        is_checked = finish == "length" and not call.tool_kwargs
        why = validation_error(interaction, call.tool_name, arguments) if is_checked else ""
        yield from sdk.named_call(index, call.tool_id, call.tool_name, arguments, why)
    yield sdk.finish_by_calls(finish, FINISH, has_calls=bool(calls))


normalizer = Normalizer(
    name="llama-index",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    role="peer",
    summary="llama-index-llms-openai-like: OpenAILike.stream_chat and its calls",
    policies={"names": "append", "arguments": "append"},
    needs=("llama_index.llms.openai_like", "openai", "httpx"),
    extra="llama-index",
)
