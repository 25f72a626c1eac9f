"""Adapter of the anthropic package: its stream helper, `client.messages.stream`.

Text and thinking are taken from its events; calls, finish and usage from `get_final_message`. The
package parses arguments while they are incomplete, and returns values. The values of an incomplete
text are what agent code gets, so they are judged. The package's own tool runner
(`client.beta.messages.tool_runner`) executes no call of a message that stopped for another reason
than `tool_use`.
"""

import importlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import (
    Delta,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

FINISH: Final = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
}
# Of a message with another reason, or without one, the tool runner executes no call.
_ASKS_FOR_TOOLS: Final = "tool_use"


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the helper gives its user."""
    anthropic: Any = importlib.import_module("anthropic")
    http = sdk.replay_client("httpx2", interaction, reads)
    stream: Any = None
    said = ""
    with anthropic.Anthropic(**sdk.client_options(http)) as asked:
        try:
            with asked.messages.stream(model="replay", max_tokens=1, messages=[]) as stream:
                for event in stream:
                    yield from _event_deltas(event)
                    said += event.text if event.type == "text" else ""
                message = stream.get_final_message()
        except anthropic.APIError as problem:
            yield from _failure_deltas(failure_of(problem), stream)
        else:
            yield from _final_deltas(message, said)


def _event_deltas(event: Any) -> Iterator[Delta]:  # noqa: ANN401 - an event of a package that may not be installed
    if event.type == "text" and event.text:
        yield TextDelta(event.text)
    elif event.type == "thinking" and event.thinking:
        yield ReasoningDelta(event.thinking)


def _final_deltas(message: Any, said: str) -> Iterator[Delta]:  # noqa: ANN401 - as above
    text = "".join(block.text for block in message.content if block.type == "text")
    if text.startswith(said) and text != said:  # what the start of a message contains has no event
        yield TextDelta(text[len(said) :])
    if message.usage is not None:
        yield UsageDelta(Usage(message.usage.input_tokens, message.usage.output_tokens))
    reason = message.stop_reason
    for index, call in enumerate(_calls(message)):
        if reason == _ASKS_FOR_TOOLS:
            yield from sdk.handed_call(index, call.id, call.name, call.input)
        else:
            yield from _withheld(index, call, f"the tool runner does not execute it: {reason}")
    yield sdk.finish_delta(reason, FINISH)


def _calls(message: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    return (block for block in message.content if block.type == "tool_use")


def _withheld(index: int, call: Any, why: str) -> Iterator[Delta]:  # noqa: ANN401 - as above
    return sdk.withheld_call(index, call.id, call.name, json.dumps(call.input), why)


def _failure_deltas(failure: StreamFailure, stream: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Report a documented exception: agent code gets no call, and the reason."""
    try:
        calls = () if stream is None else tuple(_calls(stream.current_message_snapshot))
    except AssertionError:  # the first event of the message did not arrive
        calls = ()
    for index, call in enumerate(calls):
        yield from _withheld(index, call, failure.message or failure.code)
    yield failure


def failure_of(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of the package
    """Return the failure with the code in the body, which the package keeps there."""
    body = problem.body if isinstance(problem.body, dict) else {}
    error = body.get("error")
    failure = sdk.failure_delta(problem)
    if not isinstance(error, dict) or not error.get("type"):
        return failure
    return StreamFailure(str(error["type"]), str(error.get("message", failure.message)))


normalizer = Normalizer(
    name="anthropic-sdk",
    normalize=normalize,
    dialects=frozenset(("anthropic",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"other-encodings"},
    kind="sdk",
    role="peer",
    summary="the anthropic package: messages.stream and get_final_message",
    needs=("anthropic", "httpx2"),
    extra="anthropic",
)
