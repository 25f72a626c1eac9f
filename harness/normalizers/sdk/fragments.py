"""The fragments of calls -> calls, for libraries that hand over the chunks of a chat completion.

These libraries do not join chunks, so their users do. This is a careful loop of such a user: it
executes only complete calls of a finished answer. What still goes wrong is caused by the library.
"""

import json
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from typing import Any, Final

from harness.normalizers.sdk.asynchronous import iterate
from harness.normalizers.sdk.calls import handed_call, withheld_call
from harness.turns.deltas import (
    CUT_SHORT,
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
from harness.turns.json_values import as_text
from harness.turns.verdicts import unusable_reason

# The words of OpenAI's chat completions.
FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
# Packages without a member for reasoning keep unknown members, and users of such models read these.
REASONING: Final = ("reasoning_content", "reasoning")

_NO_ID = (None, "")
# Some servers leave the index of the choice out.
_FIRST: Final = (0, None)
_FILTERED: Final = "content_filter"
_FAILED: Final = "error"


class _Call:
    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        # A text that grows by `+=` would be copied for each fragment, at the library's expense.
        self.pieces: list[str] = []

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


class Fragments:
    """The calls of one turn.

    Args:
        by_id: an id that differs, or a second entry in one chunk, begins another call, as in
            Mistral's API. Without it only the index identifies a call, as in OpenAI's API.
    """

    def __init__(self, *, by_id: bool = False) -> None:
        self._by_id = by_id
        # The package mistralai gives an id that did not arrive as this text.
        self._no_id = (*_NO_ID, "null") if by_id else _NO_ID
        self._calls: list[_Call] = []
        self._by_index: dict[object, _Call] = {}

    def add(self, entries: Iterable[Any]) -> None:
        """Add the member `tool_calls` of one chunk."""
        in_chunk: set[object] = set()
        for entry in entries:
            index, call_id = member(entry, "index"), member(entry, "id")
            call = self._by_index.get(index)
            is_named = call_id not in self._no_id
            has_other_id = call is not None and is_named and call.id not in ("", call_id)
            is_second = index in in_chunk and not is_named
            if self._by_id and (has_other_id or is_second):
                self.begin(index)
            in_chunk.add(index)
            function = member(entry, "function")
            self.extend(index, call_id, member(function, "name"), member(function, "arguments"))

    def __contains__(self, index: object) -> bool:
        """Return whether a call with that index has begun."""
        return index in self._by_index

    def begin(self, index: object) -> None:
        """Begin a call, which the next fragments with that index extend."""
        self._by_index[index] = call = _Call()
        self._calls.append(call)

    def extend(self, index: object, call_id: object, name: object, arguments: object) -> None:
        """Add a fragment of a call, and begin the call if there is none with that index."""
        if index not in self._by_index:
            self.begin(index)
        call = self._by_index[index]
        call.id = call.id or ("" if call_id in self._no_id else as_text(call_id))
        if name != call.name:  # some servers repeat it
            call.name += as_text(name)
        call.pieces.append(_written(arguments))

    def end(self, finish: object, reasons: Mapping[str, FinishReason]) -> Iterator[Delta]:
        """Yield the deltas of the calls and the end of a stream that the library did not fail.

        Args:
            finish: the provider's finish reason, or None.
            reasons: the meaning of each finish reason.
        """
        if finish is None:
            yield from self.failed(StreamFailure("interrupted", "no chunk has a finish reason"))
            return
        meaning = reasons.get(str(finish), FinishReason.OTHER)
        cut_short, executed = meaning in CUT_SHORT, False
        for index, call in enumerate(self._calls):
            why = unusable_reason(call.name, call.arguments, cut_short=cut_short)
            if why:
                yield from withheld_call(index, call.id, call.name, call.arguments, why)
            else:
                yield from handed_call(index, call.id, call.name, call.arguments)
                executed = True
        # The loop continues if there are calls, whatever word the provider has for the end.
        if executed and meaning in DECIDED_BY_CALLS:
            meaning = FinishReason.TOOL_CALLS
        yield Finish(meaning, str(finish))

    def failed(self, failure: StreamFailure) -> Iterator[Delta]:
        """Yield the deltas of the calls of an answer that failed, and the failure."""
        why = failure.message or failure.code
        for index, call in enumerate(self._calls):
            yield from withheld_call(index, call.id, call.name, call.arguments, why)
        yield failure


def usage_of(chunk: object) -> object:
    """Return the usage in a chunk, or None."""
    return member(chunk, "usage")


def reasoning_of(delta: object) -> str:
    """Return the reasoning in a delta, or ""."""
    found = next(filter(None, (member(delta, name) for name in REASONING)), "")
    return found if isinstance(found, str) else ""


class ChatChunks:
    """The facts received so far in one stream of chunks of a chat completion.

    Args:
        usage: returns the usage in a chunk, or None.
        reasoning: returns the reasoning in a delta; None or "" if it has none.
    """

    def __init__(
        self,
        usage: Callable[[Any], Any] = usage_of,
        reasoning: Callable[[Any], Any] = reasoning_of,
    ) -> None:
        self.calls = Fragments()
        self._usage_of = usage
        self._reasoning_of = reasoning
        self._finish: object = None
        self._refusal = ""
        self._usage: object = None

    def take(self, chunk: object) -> Iterator[Delta]:
        """Yield the deltas of one chunk."""
        if chunk is None:
            return
        self._usage = self._usage_of(chunk) or self._usage
        for choice in member(chunk, "choices") or ():
            if member(choice, "index") in _FIRST:
                self._finish = member(choice, "finish_reason") or self._finish
                delta = member(choice, "delta")
                if delta is not None:
                    yield from self._delta(delta)

    def _delta(self, delta: object) -> Iterator[Delta]:
        reasoning = self._reasoning_of(delta)
        if reasoning:
            yield ReasoningDelta(reasoning)
        content = member(delta, "content")
        if content:
            yield TextDelta(content)
        refusal = member(delta, "refusal")
        if isinstance(refusal, str):  # a client may hand over anything that the stream has there
            self._refusal += refusal
        self.calls.add(member(delta, "tool_calls") or ())
        older = member(delta, "function_call")
        name, arguments = member(older, "name"), member(older, "arguments")
        if name or arguments:  # some servers add an empty one
            # It has no id in this API, because agent code needs none.
            self.calls.extend("function_call", "function_call", name, arguments)

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        if self._refusal and self._finish != _FILTERED:
            yield from self.calls.failed(StreamFailure("refusal", self._refusal))
            return
        if self._usage is not None:
            counts = (member(self._usage, f"{kind}_tokens") for kind in ("prompt", "completion"))
            yield UsageDelta(Usage(*counts))
        if self._finish == _FAILED:
            failure = StreamFailure(_FAILED, "the finish reason is error")
            yield from self.calls.failed(failure)
        else:
            yield from self.calls.end(self._finish, FINISH)


def chat_deltas(
    answer: Iterable[Any] | AsyncIterable[Any] | Awaitable[Any] | Mapping[str, Any],
) -> Iterator[Delta]:
    """Yield the deltas of an answer of the form of OpenAI's chat completions.

    Text is yielded when its chunk arrives. The calls are joined by their index, and yielded at the
    end: a call is executed if it is complete and the answer has a finish reason. If one is
    executed, the turn ends with `tool_calls`, whatever the word is. What the library raises is
    raised. Calls of custom tools are not read.

    Args:
        answer: the chunks of a stream, or one completion, objects or dicts; of an async library,
            also an async iterable, or a coroutine that returns one of these.

    Source: OpenAI's API reference, chat completions.
    """
    turn = ChatChunks()
    for chunk in _chunks(answer):
        yield from turn.take(chunk)
    yield from turn.end()


def _chunks(answer: Any) -> Iterable[Any]:  # noqa: ANN401 - see `chat_deltas`
    if _is_completion(answer):
        return (_chunk_of(answer),)
    if isinstance(answer, Awaitable):
        return iterate(_awaited(answer))
    # litellm's stream is a sync and an async iterable.
    return answer if isinstance(answer, Iterable) else iterate(answer)


async def _awaited(answer: Awaitable[Any]) -> AsyncIterator[Any]:
    found = await answer
    if _is_completion(found):
        yield _chunk_of(found)
    else:
        async for chunk in found:
            yield chunk


def _is_completion(answer: object) -> bool:
    return isinstance(answer, Mapping) or member(answer, "choices") is not None


def _chunk_of(completion: object) -> dict[str, Any]:
    """Return the one chunk that a server would send for a completion."""
    choices = [
        {
            "index": member(choice, "index"),
            "finish_reason": member(choice, "finish_reason"),
            "delta": _delta_of(member(choice, "message")),
        }
        for choice in member(completion, "choices") or ()
    ]
    return {"choices": choices, "usage": member(completion, "usage")}


def _delta_of(message: object) -> dict[str, Any]:
    names = ("content", "refusal", "function_call", *REASONING)
    calls = [
        {"index": place, "id": member(call, "id"), "function": member(call, "function")}
        for place, call in enumerate(member(message, "tool_calls") or ())
    ]
    return {"tool_calls": calls, **{name: member(message, name) for name in names}}


def member(value: object, name: str) -> Any:  # noqa: ANN401 - values of packages that may not be installed
    """Return a member of a dict or an object, or None if it has none of that name."""
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def _written(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments)
