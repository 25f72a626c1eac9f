"""The fragments of calls -> calls, for libraries that hand over the chunks of a chat completion.

These libraries do not join chunks, so their users do. This is a careful loop of such a user: it
executes only complete calls of a finished answer. What still goes wrong is caused by the library.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from harness.dialects.kit.parse_request import as_text
from harness.normalizers import sdk
from harness.normalizers.sdk.openai_chat import FINISH
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
from harness.turns.verdicts import unusable_reason

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
            call = self._by_index.get(entry.index)
            is_named = entry.id not in self._no_id
            has_other_id = call is not None and is_named and call.id not in ("", entry.id)
            is_second = entry.index in in_chunk and not is_named
            if self._by_id and (has_other_id or is_second):
                self.begin(entry.index)
            in_chunk.add(entry.index)
            function = getattr(entry, "function", None)
            name = getattr(function, "name", None)
            arguments = getattr(function, "arguments", None)
            self.extend(entry.index, entry.id, name, arguments)

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
                yield from sdk.withheld_call(index, call.id, call.name, call.arguments, why)
            else:
                yield from sdk.handed_call(index, call.id, call.name, call.arguments)
                executed = True
        # The loop continues if there are calls, whatever word the provider has for the end.
        if executed and meaning in DECIDED_BY_CALLS:
            meaning = FinishReason.TOOL_CALLS
        yield Finish(meaning, str(finish))

    def failed(self, failure: StreamFailure) -> Iterator[Delta]:
        """Yield the deltas of the calls of an answer that failed, and the failure."""
        why = failure.message or failure.code
        for index, call in enumerate(self._calls):
            yield from sdk.withheld_call(index, call.id, call.name, call.arguments, why)
        yield failure


class ChatChunks:
    """The facts received so far in one stream of chunks of a chat completion.

    Args:
        usage_of: returns the usage in a chunk, or None.
        reasoning_of: returns the reasoning in a delta; None or "" if it has none.
    """

    def __init__(self, usage_of: Callable[[Any], Any], reasoning_of: Callable[[Any], Any]) -> None:
        self.calls = Fragments()
        self._usage_of = usage_of
        self._reasoning_of = reasoning_of
        self._finish: object = None
        self._refusal = ""
        self._usage: Any = None

    def take(self, chunk: Any) -> Iterator[Delta]:  # noqa: ANN401 - a chunk of a package that may not be installed
        """Yield the deltas of one chunk."""
        if chunk is None:
            return
        self._usage = self._usage_of(chunk) or self._usage
        for choice in chunk.choices or ():
            if choice.index in _FIRST:
                self._finish = choice.finish_reason or self._finish
                if choice.delta is not None:
                    yield from self._delta(choice.delta)

    def _delta(self, delta: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
        reasoning = self._reasoning_of(delta)
        if reasoning:
            yield ReasoningDelta(reasoning)
        if delta.content:
            yield TextDelta(delta.content)
        self._refusal += getattr(delta, "refusal", None) or ""
        self.calls.add(delta.tool_calls or ())
        older = delta.function_call
        if older is not None and (older.name or older.arguments):  # some servers add an empty one
            # It has no id in this API, because agent code needs none.
            self.calls.extend("function_call", "function_call", older.name, older.arguments)

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        if self._refusal and self._finish != _FILTERED:
            yield from self.calls.failed(StreamFailure("refusal", self._refusal))
            return
        if self._usage is not None:
            yield UsageDelta(Usage(self._usage.prompt_tokens, self._usage.completion_tokens))
        if self._finish == _FAILED:
            failure = StreamFailure(_FAILED, "the finish reason is error")
            yield from self.calls.failed(failure)
        else:
            yield from self.calls.end(self._finish, FINISH)


def _written(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments)
