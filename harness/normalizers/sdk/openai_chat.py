"""Adapter of the openai package: its stream helper, `client.chat.completions.stream`.

Text is taken from its `content.delta` events; calls, finish and usage from `get_final_completion`,
which its documentation recommends to agent code. The helper does not report a missing finish
reason. Then the calls are handed over as usual, and the turn is interrupted.
"""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
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

FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
_ENDED_EARLY: Final = frozenset(("length", "content_filter"))
# The package keeps unknown fields, and users of reasoning models read these.
_REASONING: Final = ("reasoning_content", "reasoning")


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the helper gives its user."""
    openai: Any = importlib.import_module("openai")
    http = sdk.replay_client("httpx2", interaction, reads)
    stream: Any = None
    with openai.OpenAI(**sdk.client_options(http)) as asked:
        try:
            # Without tools, because the helper rejects tools that are not strict.
            with asked.chat.completions.stream(model="replay", messages=[]) as stream:
                for event in stream:
                    yield from _event_deltas(event)
                completion = stream.get_final_completion()
        except (openai.APIError, *_ends(openai)) as problem:
            yield from _failure_deltas(problem, stream)
        else:
            yield from _final_deltas(completion)


def _ends(openai: Any) -> tuple[type[Exception], ...]:  # noqa: ANN401 - a package that may not be installed
    """Return the exceptions that the helper raises if an answer ended too early."""
    return openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError


def _failure_deltas(problem: Any, stream: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Report a documented exception: agent code gets no call, and the reason."""
    partial = _snapshot(stream)
    choice = partial.choices[0] if partial is not None and partial.choices else None
    calls = (choice.message.tool_calls or ()) if choice else ()
    for index, call in enumerate(calls):
        function = call.function
        yield from sdk.withheld_call(index, call.id, function.name, function.arguments, problem)
    reason = choice.finish_reason if choice else None
    if reason in _ENDED_EARLY:
        yield Finish(FINISH[reason], reason)
    else:
        yield sdk.failure_delta(problem)


def _snapshot(stream: Any) -> Any:  # noqa: ANN401 - as above
    """Return the completion received so far, or None before its first chunk."""
    try:
        return None if stream is None else stream.current_completion_snapshot
    except AssertionError:
        return None


def _event_deltas(event: Any) -> Iterator[Delta]:  # noqa: ANN401 - an event of a package that may not be installed
    if event.type == "content.delta" and event.delta:
        yield TextDelta(event.delta)
    elif event.type == "chunk":
        for choice in event.chunk.choices[:1]:
            yield from map(ReasoningDelta, _reasoning(choice.delta))


def _reasoning(delta: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    found = (getattr(delta, name, None) for name in _REASONING)
    text = next(filter(None, found), "")
    if isinstance(text, str) and text:
        yield text


def _final_deltas(completion: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    if completion.usage is not None:
        usage = completion.usage
        yield UsageDelta(Usage(usage.prompt_tokens, usage.completion_tokens))
    if not completion.choices:
        yield StreamFailure("interrupted", "the completion has no choice")
        return
    choice = completion.choices[0]
    yield from _calls(choice.message)
    yield sdk.finish_delta(choice.finish_reason, FINISH, choice.message.refusal)


def _calls(message: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    for index, call in enumerate(message.tool_calls or ()):
        yield from sdk.handed_call(index, call.id, call.function.name, call.function.arguments)
    older = message.function_call
    if older is not None and not message.tool_calls:
        # It has no id in this API, because agent code needs none.
        yield from sdk.handed_call(0, "function_call", older.name, older.arguments)


normalizer = Normalizer(
    name="openai-sdk",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS,
    role="peer",
    summary="the openai package: chat.completions.stream and get_final_completion",
    policies={"names": "append", "arguments": "append"},
    needs=("openai", "httpx2"),
    extra="openai",
)
