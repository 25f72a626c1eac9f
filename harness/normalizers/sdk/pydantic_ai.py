"""Adapter of the pydantic-ai package: `direct.model_request_stream_sync`, which its agent uses.

Text and thinking are taken from its events; calls, finish and usage from the response. Its agent
executes the calls of a response whose stream raised no exception.
"""

import importlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.validation import validation_error
from harness.turns.deltas import (
    DECIDED_BY_CALLS,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

# Finish reasons of the package, which has the same for each provider.
_FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    direct: Any = importlib.import_module("pydantic_ai.direct")
    messages: Any = importlib.import_module("pydantic_ai.messages")
    exceptions: Any = importlib.import_module("pydantic_ai.exceptions")
    model, answers = _model(interaction.dialect)
    answers.use(interaction, reads)
    asked = [messages.ModelRequest.user_text_prompt("replay")]
    response: Any = None
    try:
        with direct.model_request_stream_sync(model, asked) as stream:
            try:
                for event in stream:
                    yield from _event_deltas(event)
            finally:
                response = stream.response
    except exceptions.AgentRunError as problem:
        yield from _failure_deltas(problem, response)
    else:
        yield from _final_deltas(response, interaction)


@cache
def _model(dialect: str) -> tuple[Any, sdk.Answers]:
    """Return the package's model class for an API, with a client of the provider's package."""
    http, answers = sdk.lasting_async_client("httpx2")
    if dialect == "anthropic":
        anthropic: Any = importlib.import_module("anthropic")
        models: Any = importlib.import_module("pydantic_ai.models.anthropic")
        providers: Any = importlib.import_module("pydantic_ai.providers.anthropic")
        client = anthropic.AsyncAnthropic(**sdk.client_options(http))
        provider = providers.AnthropicProvider(anthropic_client=client)
        return models.AnthropicModel("replay", provider=provider), answers
    openai: Any = importlib.import_module("openai")
    models = importlib.import_module("pydantic_ai.models.openai")
    providers = importlib.import_module("pydantic_ai.providers.openai")
    client = openai.AsyncOpenAI(**sdk.client_options(http))
    provider = providers.OpenAIProvider(openai_client=client)
    return models.OpenAIChatModel("replay", provider=provider), answers


def _event_deltas(event: Any) -> Iterator[Delta]:  # noqa: ANN401 - an event of a package that may not be installed
    if event.event_kind == "part_start":
        kind, text = event.part.part_kind, getattr(event.part, "content", None)
    elif event.event_kind == "part_delta":
        kind, text = event.delta.part_delta_kind, getattr(event.delta, "content_delta", None)
    else:
        return
    if text and kind == "text":
        yield TextDelta(text)
    elif text and kind == "thinking":
        yield ReasoningDelta(text)


def _failure_deltas(problem: Any, response: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Report a documented exception: agent code gets no call, and the reason."""
    for index, call in enumerate(response.tool_calls if response is not None else ()):
        yield from _withheld(index, call, str(problem))
    yield sdk.failure_delta(problem)


def _final_deltas(response: Any, interaction: Interaction) -> Iterator[Delta]:  # noqa: ANN401 - as above
    yield UsageDelta(Usage(response.usage.input_tokens, response.usage.output_tokens))
    if len({call.tool_call_id for call in response.tool_calls}) < len(response.tool_calls):
        why = "the agent raises UnexpectedModelBehavior if two calls have the same id"
        for index, call in enumerate(response.tool_calls):
            yield from _withheld(index, call, why)
        yield StreamFailure("error", why)
        return
    for index, call in enumerate(response.tool_calls):
        if not call.tool_name:
            yield from _withheld(index, call, "the agent has no tool without a name")
        elif response.finish_reason == "length" and (
            why := validation_error(interaction, call.tool_name, call.args or "")
        ):
            yield from _withheld(index, call, why)
        else:
            yield from sdk.handed_call(index, call.tool_call_id, call.tool_name, call.args or "")
    yield _end(response)


def _withheld(index: int, call: Any, why: str) -> Iterator[Delta]:  # noqa: ANN401 - as above
    arguments = call.args if isinstance(call.args, str) else json.dumps(call.args or {})
    return sdk.withheld_call(index, call.tool_call_id, call.tool_name, arguments, why)


def _end(response: Any) -> Delta:  # noqa: ANN401 - as above
    """Return the end as the agent sees it: it goes on as long as a response has calls."""
    details = response.provider_details or {}
    if details.get("refusal"):
        return StreamFailure("refusal", details["refusal"])
    raw = str(details.get("finish_reason") or "")
    if response.finish_reason == "error":
        return StreamFailure("error", raw)
    reason = _FINISH.get(response.finish_reason, FinishReason.OTHER)
    if response.tool_calls and reason in DECIDED_BY_CALLS:
        reason = FinishReason.TOOL_CALLS
    return Finish(reason, raw)


normalizer = Normalizer(
    name="pydantic-ai",
    normalize=normalize,
    dialects=frozenset(("openai-chat", "anthropic")),
    capabilities=sdk.CAPABILITIES_OF_APPENDERS
    - {
        "custom-tools",
        "client-actions",
        "legacy-functions",
        "other-encodings",
        "several-choices",
    },
    kind="gateway",
    role="peer",
    summary="the pydantic-ai package: direct.model_request_stream_sync and its response",
    # Its documentation of `openai_chat_streaming_requires_finish_reason`: compatible servers may
    # send no finish reason, so that by default an answer without one is complete.
    policies={"names": "append", "arguments": "append", "absent-finish": "stop"},
    needs=("pydantic_ai", "openai", "anthropic", "httpx2"),
    extra="pydantic-ai",
)
