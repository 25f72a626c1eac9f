"""Adapter of the openai package: its stream helper, `client.chat.completions.stream`.

Text is taken from its `content.delta` events; calls, finish and usage from `get_final_completion`,
which its documentation recommends to agent code. If an answer reached a limit, that method raises
an exception, which has the answer in its documented member `completion`.
"""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.fragments import FINISH, reasoning_of
from harness.turns.deltas import (
    Delta,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

_UNFINISHED: Final = "the answer has no finish reason"


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the helper gives its user."""
    openai: Any = importlib.import_module("openai")
    http = sdk.replay_client("httpx2", interaction, reads)
    stream: Any = None
    cut_short = False
    with openai.OpenAI(**sdk.client_options(http)) as asked:
        try:
            # Without tools: of a request with them, the helper reads the same.
            with asked.chat.completions.stream(model="replay", messages=[]) as stream:
                for event in stream:
                    yield from _event_deltas(event)
                completion = stream.get_final_completion()
        except openai.OpenAIError as problem:
            # `LengthFinishReasonError` and `ContentFilterFinishReasonError` have the answer.
            completion = getattr(problem, "completion", None)
            cut_short = completion is not None
            if not cut_short:
                yield from _failure_deltas(problem, stream)
                return
    yield from _final_deltas(completion, cut_short=cut_short)


def _failure_deltas(problem: Any, stream: Any) -> Iterator[Delta]:  # noqa: ANN401 - values of a package that may not be installed
    """Report a documented exception: agent code gets no call, and the reason."""
    partial = _snapshot(stream)
    choice = partial.choices[0] if partial is not None and partial.choices else None
    calls = (choice.message.tool_calls or ()) if choice else ()
    for index, call in enumerate(calls):
        function = call.function
        yield from sdk.withheld_call(index, call.id, function.name, function.arguments, problem)
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
            if reasoning := reasoning_of(choice.delta):
                yield ReasoningDelta(reasoning)


def _final_deltas(completion: Any, *, cut_short: bool) -> Iterator[Delta]:  # noqa: ANN401 - as above
    if completion.usage is not None:
        usage = completion.usage
        yield UsageDelta(Usage(usage.prompt_tokens, usage.completion_tokens))
    if not completion.choices:
        yield StreamFailure("interrupted", "the completion has no choice")
        return
    choice = completion.choices[0]
    yield from _calls(choice, cut_short=cut_short)
    if choice.message.tool_calls and not choice.finish_reason:
        yield StreamFailure("interrupted", _UNFINISHED)
    else:
        yield sdk.finish_delta(choice.finish_reason, FINISH, choice.message.refusal)


def _calls(choice: Any, *, cut_short: bool) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Yield the calls as a loop of agent code takes them: the package has none for this API."""
    message = choice.message
    found = [(call.id, call.function) for call in message.tool_calls or ()]
    if message.function_call is not None and not found:
        # It has no id in this API, because agent code needs none.
        found = [("function_call", message.function_call)]
    for index, (call_id, function) in enumerate(found):
        if cut_short and not function.arguments:
            why = "the answer ended before the arguments began"
        else:
            why = "" if choice.finish_reason else _UNFINISHED
        if why:
            text = function.arguments
            yield from sdk.withheld_call(index, call_id, function.name, text, why)
        else:
            yield from sdk.handed_call(index, call_id, function.name, function.arguments)


normalizer = Normalizer(
    name="openai-sdk",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS,
    kind="sdk",
    role="peer",
    summary="the openai package: chat.completions.stream and get_final_completion",
    policies={"names": "append", "arguments": "append"},
    needs=("openai", "httpx2"),
    extra="openai",
)
