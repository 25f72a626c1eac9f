"""Adapter of the openai package: its stream helper, `client.responses.stream`.

Text and reasoning are taken from its events; calls, finish, usage and text that no event contained
from the response in its last event. That is the result of `get_final_response` if the response is
completed. Without such an event that method raises, which is reported as an interrupted turn.
"""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.dialects.openai_responses.items import field_of, is_call, kind_of, name_of
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

_TEXT: Final = "response.output_text.delta"
_REASONING: Final = frozenset(
    ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")
)
_REFUSAL: Final = "response.refusal.done"
_ADDED: Final = "response.output_item.added"
_FRAGMENT: Final = "response.function_call_arguments.delta"
_LAST: Final = frozenset(("response.completed", "response.incomplete", "response.failed", "error"))
_INCOMPLETE: Final = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the helper gives its user."""
    openai: Any = importlib.import_module("openai")
    http = sdk.replay_client("httpx2", interaction, reads)
    state = _StreamState()
    with openai.OpenAI(**sdk.client_options(http)) as asked:
        try:
            with asked.responses.stream(model="replay", input=[]) as stream:
                for event in stream:
                    yield from state.take(event)
        except openai.APIError as problem:
            yield from state.failed(sdk.failure_delta(problem))
        else:
            yield from state.end()


class _StreamState:
    """The facts received so far in one stream."""

    def __init__(self) -> None:
        self._last: Any = None  # the event that ended the stream
        self._text = ""
        self._refusal = ""
        self._begun: dict[int, Any] = {}  # calls by output index

    def take(self, event: Any) -> Iterator[Delta]:  # noqa: ANN401 - an event of a package that may not be installed
        """Store the facts of an event, and yield the deltas that a user would show at once."""
        if event.type == _TEXT and event.delta:
            self._text += event.delta
            yield TextDelta(event.delta)
        elif event.type in _REASONING and event.delta:
            yield ReasoningDelta(event.delta)
        elif event.type == _REFUSAL:
            self._refusal = event.refusal
        elif event.type in _LAST:
            self._last = event
        elif event.type == _ADDED and event.item.type == "function_call":
            self._begun[event.output_index] = event.item
        elif event.type == _FRAGMENT and event.output_index in self._begun:
            self._begun[event.output_index].arguments = event.snapshot

    def failed(self, failure: StreamFailure) -> Iterator[Delta]:
        """Yield the calls that agent code does not get, and the failure."""
        for index, item in enumerate(self._begun.values()):
            why = failure.message or failure.code
            yield from sdk.withheld_call(index, item.call_id, item.name, item.arguments, why)
        yield failure

    def end(self) -> Iterator[Delta]:
        """Yield the deltas of the last event."""
        last = self._last
        if last is None:
            error = "the helper received no completed response"
            yield from self.failed(StreamFailure("interrupted", error))
        elif last.type == "error":
            yield from self.failed(sdk.failure_delta(last))
        elif last.response.status == "failed":
            yield from self.failed(sdk.failure_delta(last.response.error))
        else:
            yield from self._final(last.response)

    def _final(self, response: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
        """Yield the deltas of a response that did not fail."""
        if response.output_text.startswith(self._text):
            rest = response.output_text[len(self._text) :]
            yield from (TextDelta(text) for text in (rest,) if text)
        if response.usage is not None:
            yield UsageDelta(Usage(response.usage.input_tokens, response.usage.output_tokens))
        # The API repeats the tools of the request, and agent code executes those alone.
        tools = getattr(response, "tools", None)
        custom = None if tools is None else [it.name for it in tools if it.type == "custom"]
        index = 0
        for item in response.output:
            if item.type == "custom_tool_call" and custom is not None and item.name not in custom:
                continue  # a call of the provider's own tool
            deltas = tuple(_call(index, item))
            yield from deltas
            index += bool(deltas)
        refusal = self._refusal
        yield StreamFailure("refusal", refusal) if refusal else _finish(response, index)


def _call(index: int, item: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Yield the deltas of an item, if it is a call."""
    value = item.to_dict()
    if not is_call(value):
        return
    name, kind = name_of(item.type, value.get("name")), kind_of(item.type)
    call_id = value.get("call_id", item.id if kind == "action" else "")
    written = value.get(field_of(value))
    if value.get("status") == "incomplete":
        why = "the tool runner does not execute a call that is not completed"
        yield from sdk.withheld_call(index, call_id, name, written, why)
    else:
        yield from sdk.handed_call(index, call_id, name, written, kind)


def _finish(response: Any, calls: int) -> Finish:  # noqa: ANN401 - as above
    if response.incomplete_details is not None:
        raw = str(response.incomplete_details.reason)
        return Finish(_INCOMPLETE.get(raw, FinishReason.OTHER), raw)
    # This API has no finish reason for calls: agent code checks whether there are calls.
    return Finish(FinishReason.TOOL_CALLS if calls else FinishReason.STOP, str(response.status))


normalizer = Normalizer(
    name="openai-sdk-responses",
    normalize=normalize,
    dialects=frozenset(("openai-responses",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS,
    kind="sdk",
    role="peer",
    summary="the openai package: responses.stream and its last event",
    needs=("openai", "httpx2"),
    extra="openai",
)
