"""Adapter of openai-agents: `OpenAIChatCompletionsModel.stream_response`, which its runner uses.

Text and reasoning are taken from its events; calls, refusal and usage from the response in the last
event. It has the form of the Responses API, which has no finish reason, so the runner executes the
calls of each response that it gets.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import asynchronous
from harness.turns.deltas import (
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

# The package reads a stream of the official API more strictly than one of a compatible server.
_OFFICIAL: Final = "https://api.openai.com/v1"
_TEXT: Final = "response.output_text.delta"
_REASONING: Final = frozenset(
    ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")
)
# The package tells that an answer was withheld by a refusal with this text.
_WITHHELD: Final = "Response withheld by the provider's content filter."

_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    agents: Any = importlib.import_module("agents")
    official = urlsplit(interaction.request.uri).hostname == urlsplit(_OFFICIAL).hostname
    model, answers = _model(_OFFICIAL if official else sdk.BASE_URL)
    answers.use(interaction, reads)
    events = model.stream_response(
        None, "replay", agents.ModelSettings(), [], None, [], agents.ModelTracing.DISABLED
    )
    last: Any = None
    try:
        for event in asynchronous.iterate(events):
            if event.type == _TEXT and event.delta:
                yield TextDelta(event.delta)
            elif event.type in _REASONING:
                yield ReasoningDelta(event.delta)
            elif event.type == "response.completed":
                last = event.response
    except (agents.AgentsException, openai.OpenAIError) as problem:
        yield sdk.failure_delta(problem)
    else:
        yield from _final_deltas(last)


@cache
def _model(base_url: str) -> tuple[Any, sdk.Answers]:
    openai: Any = importlib.import_module("openai")
    agents: Any = importlib.import_module("agents")
    http, answers = sdk.lasting_async_client("httpx2")
    client = openai.AsyncOpenAI(**sdk.client_options(http) | {"base_url": base_url})
    return agents.OpenAIChatCompletionsModel("replay", client), answers


def _final_deltas(response: Any) -> Iterator[Delta]:  # noqa: ANN401 - a response of a package that may not be installed
    if response is None:
        yield StreamFailure("interrupted", "the package received no completed response")
        return
    if response.usage is not None:
        yield UsageDelta(Usage(response.usage.input_tokens, response.usage.output_tokens))
    calls = [item for item in response.output if item.type == "function_call"]
    for index, call in enumerate(calls):
        if call.name:
            yield from sdk.handed_call(index, call.call_id, call.name, call.arguments)
        else:
            why = "the runner has no tool without a name"
            yield from sdk.withheld_call(index, call.call_id, "", call.arguments, why)
    yield _end(response)


def _end(response: Any) -> Delta:  # noqa: ANN401 - as above
    contents = (part for item in response.output if item.type == "message" for part in item.content)
    refusal = next((part.refusal for part in contents if part.type == "refusal"), "")
    if refusal == _WITHHELD:
        return Finish(FinishReason.CONTENT_FILTER)
    return sdk.finish_delta(None, {}, refusal)


normalizer = Normalizer(
    name="openai-agents",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    # A response that the package builds has no finish reason.
    hides=frozenset(("finish",)),
    role="peer",
    summary="the openai-agents package: OpenAIChatCompletionsModel.stream_response",
    policies={"arguments": "append"},
    needs=("agents", "openai", "httpx2"),
    extra="openai-agents",
)
