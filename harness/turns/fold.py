"""Fold deltas to one turn. The turn contains only what a delta contains, and no guesses.

Every text of a turn can be encoded as UTF-8. Split surrogate pairs are joined, and single halves
become U+FFFD, in ids, names and messages too.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import msgspec

from harness.turns.delta_types import has_declared_types
from harness.turns.deltas import (
    SNIPPET_CHARACTERS,
    ArgumentsDelta,
    Delta,
    DeltaError,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    SealedDelta,
    SealedPlace,
    StreamFailure,
    TextDelta,
    ToolCall,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.exact_json import join_surrogates
from harness.turns.turn import Sealed, Turn


class _OpenCall:
    """Collects the id, name, arguments and end of one call while its deltas arrive."""

    __slots__ = ("end", "fragments", "id", "kind", "name", "namespace")

    def __init__(self, start: ToolCallStart) -> None:
        self.id = join_surrogates(start.id)
        self.name = join_surrogates(start.name)
        self.kind = start.kind
        self.namespace = join_surrogates(start.namespace)
        self.fragments: list[str] = []
        self.end: ToolCallEnd | ToolCallRejected | None = None

    @property
    def arguments(self) -> str:
        return join_surrogates("".join(self.fragments))

    def parse_error(self) -> ParseError:
        error = (
            self.end.error
            if isinstance(self.end, ToolCallRejected)
            else ParseError("tool_use", "the call was never ended")
        )
        return msgspec.structs.replace(
            error,
            error=join_surrogates(error.error),
            id=self.id,
            name=self.name,
            namespace=self.namespace,
            snippet=join_surrogates(error.snippet or self.arguments)[:SNIPPET_CHARACTERS],
        )


class _OpenSealed(NamedTuple):
    """Data that only the provider can read, stored until it is known which calls are usable."""

    delta: SealedDelta
    text: str
    calls_before: int


class Folder:
    """Collects the deltas of one response. `turn()` may be called at any time."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, _OpenCall] = {}
        self._sealed: list[_OpenSealed] = []
        self._covered: dict[SealedPlace, int] = {}  # how many pieces have their sealed data
        self._usage: Usage | None = None
        self._finish: Finish | None = None
        self._failure: StreamFailure | None = None

    def add(self, deltas: Iterable[Delta]) -> None:
        """Add deltas to the turn. A delta for a call that never started has no effect.

        Raises:
            DeltaError: an item is not a delta, or has a field of another type than declared. The
                deltas before it stay in the turn.
        """
        add_text, calls, take = self._text.append, self._calls, self._TAKE
        for delta in deltas:
            # Nearly all deltas of long streams are of these two kinds, so they need no call.
            if type(delta) is TextDelta and type(delta.text) is str:
                add_text(delta.text)
            elif (
                type(delta) is ArgumentsDelta
                and type(delta.index) is int
                and type(delta.fragment) is str
            ):
                call = calls.get(delta.index)
                if call is not None and call.end is None:
                    call.fragments.append(delta.fragment)
            elif has_declared_types(delta):
                take[type(delta)](self, delta)
            else:
                raise DeltaError(delta)

    def turn(self) -> Turn:
        """Return the turn of the deltas so far. A call without an end becomes a parse error."""
        calls = self._calls.values()
        return Turn(
            text=join_surrogates("".join(self._text)),
            reasoning=join_surrogates("".join(self._reasoning)),
            tool_calls=tuple(
                ToolCall(
                    call.id,
                    call.name,
                    call.arguments,
                    call.kind,
                    join_surrogates(call.end.sent),
                    call.namespace,
                )
                for call in calls
                if isinstance(call.end, ToolCallEnd)
            ),
            parse_errors=tuple(
                call.parse_error() for call in calls if not isinstance(call.end, ToolCallEnd)
            ),
            finish=self._finish,
            usage=self._usage,
            failure=self._failure or self._calls_missing(),
            sealed=tuple(self._placed_sealed()) if self._sealed else (),
        )

    def _placed_sealed(self) -> Iterator[Sealed]:
        """Yield the data that only the provider can read, with positions in the usable calls.

        Data of an unusable call is left out.
        """
        is_ended = [isinstance(call.end, ToolCallEnd) for call in self._calls.values()]
        before = (0, *accumulate(map(int, is_ended)))
        places = {index: at for at, index in enumerate(self._calls)}
        for each in self._sealed:
            delta, at = each.delta, each.calls_before
            if delta.of == "call":
                at = places.get(delta.index, -1)
                if at < 0 or not is_ended[at]:
                    continue
            texts = map(join_surrogates, (delta.kind, delta.value, each.text, delta.id))
            kind, value, text, item_id = texts
            yield Sealed(kind, value, delta.of, before[at], text, item_id)

    def _calls_missing(self) -> StreamFailure | None:
        """Return a failure if the finish reason announces calls but no call arrived; else None."""
        finish = self._finish
        if finish is None or finish.reason is not FinishReason.TOOL_CALLS or self._calls:
            return None
        return StreamFailure("calls_missing", f"finish {finish.raw!r} without a tool call")

    # One for each kind of delta but text and arguments, which `add` takes itself.

    def _take_reasoning(self, delta: ReasoningDelta) -> None:
        self._reasoning.append(delta.text)

    def _take_sealed(self, delta: SealedDelta) -> None:
        text = ""
        if delta.of != "call":
            pieces = self._reasoning if delta.of == "reasoning" else self._text
            text = "".join(pieces[self._covered.get(delta.of, 0) :])
            self._covered[delta.of] = len(pieces)
        self._sealed.append(_OpenSealed(delta, text, len(self._calls)))

    def _take_start(self, delta: ToolCallStart) -> None:
        self._calls.setdefault(delta.index, _OpenCall(delta))

    def _take_end(self, delta: ToolCallEnd | ToolCallRejected) -> None:
        call = self._calls.get(delta.index)
        if call is not None and call.end is None:
            call.end = delta

    def _take_usage(self, delta: UsageDelta) -> None:
        self._usage = delta.usage

    def _take_finish(self, delta: Finish) -> None:
        self._finish = self._finish or Finish(delta.reason, join_surrogates(delta.raw))

    def _take_failure(self, delta: StreamFailure) -> None:
        failure = StreamFailure(join_surrogates(delta.code), join_surrogates(delta.message))
        self._failure = self._failure or failure

    # A table where the union would ask for a `match`: this is done for the other deltas of every
    # replay, and a test holds that no kind of delta is missing.
    _TAKE: ClassVar[dict[type, Callable[["Folder", Any], None]]] = {
        ReasoningDelta: _take_reasoning,
        SealedDelta: _take_sealed,
        ToolCallStart: _take_start,
        ToolCallEnd: _take_end,
        ToolCallRejected: _take_end,
        UsageDelta: _take_usage,
        Finish: _take_finish,
        StreamFailure: _take_failure,
    }


def fold(deltas: Iterable[Delta]) -> Turn:
    """Return the turn that results from `deltas`."""
    folder = Folder()
    folder.add(deltas)
    return folder.turn()
