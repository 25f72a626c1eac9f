"""Adapter of the strands-agents package: `process_stream` of `OpenAIModel.stream`, as its agents.

Text and reasoning are taken from the events; calls, finish and usage from the last event. The
package hands over an empty input if it cannot parse one. Its agents execute no call of an answer
that reached a limit. That is their choice, so calls with an input are not counted as rejected.
"""

import importlib
import json
import logging
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

# Stop reasons of the package, which has the same for each provider.
_FINISH: Final = {
    "end_turn": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "content_filtered": FinishReason.CONTENT_FILTER,
}
_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    exceptions: Any = importlib.import_module("strands.types.exceptions")
    streaming: Any = importlib.import_module("strands.event_loop.streaming")
    model, answers = _model()
    answers.use(interaction, reads)
    stream = model.stream([{"role": "user", "content": [{"text": "replay"}]}])
    try:
        for event in asynchronous.iterate(streaming.process_stream(stream)):
            if event.get("reasoningText"):
                yield ReasoningDelta(event["reasoningText"])
            if event.get("data"):
                yield TextDelta(event["data"])
            if "stop" in event:
                yield from _final_deltas(*event["stop"][:3])
    except (
        exceptions.ModelThrottledException,
        exceptions.ContextWindowOverflowException,
    ) as problem:
        yield sdk.failure_delta(problem.__cause__)
    except openai.OpenAIError as problem:
        yield sdk.failure_delta(problem)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    logging.getLogger("strands").setLevel(
        logging.CRITICAL
    )  # it warns of each problem that it meets
    openai: Any = importlib.import_module("openai")
    models: Any = importlib.import_module("strands.models.openai")
    http, answers = sdk.lasting_async_client("httpx")
    client = openai.AsyncOpenAI(**sdk.client_options(http))
    return models.OpenAIModel(client, model_id="replay"), answers


def _final_deltas(reason: str, message: Any, usage: Any) -> Iterator[Delta]:  # noqa: ANN401 - values of a package that may not be installed
    if usage["totalTokens"]:
        yield UsageDelta(Usage(usage["inputTokens"], usage["outputTokens"]))
    calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    for index, call in enumerate(calls):
        handed = index, call["toolUseId"], call["name"], json.dumps(call["input"])
        if call["input"] or reason == "tool_use":
            yield from sdk.handed_call(*handed)
        else:
            yield from sdk.withheld_call(*handed, f"the agent executes no call after {reason}")
    yield sdk.finish_delta(reason, _FINISH)


normalizer = Normalizer(
    name="strands",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    role="peer",
    summary="the strands-agents package: process_stream of OpenAIModel.stream",
    policies={"arguments": "append"},
    needs=("strands", "openai", "httpx"),
    extra="strands",
)
