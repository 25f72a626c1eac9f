"""Deltas -> one turn. Folding never guesses: what no delta says is not in the turn.

Every text of a turn can be encoded: pairs of surrogates that a cut parted are joined, lone
halves are U+FFFD, in ids, names and messages too.
"""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from harness.turns.calls import SNIPPET_CHARACTERS, ParseError, ToolCall
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.surrogates import join_surrogates
from harness.turns.turn import Turn


class _OpenCall:
    """A call between its start and its end."""

    __slots__ = ("end", "fragments", "id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.id = join_surrogates(call_id)
        self.name = join_surrogates(name)
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
            snippet=join_surrogates(error.snippet or self.arguments)[:SNIPPET_CHARACTERS],
        )


class Folder:
    """Folds one delta at a time; `turn()` may be asked at any moment."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, _OpenCall] = {}
        self._usage: Usage | None = None
        self._finish: Finish | None = None
        self._failure: StreamFailure | None = None

    def add(self, delta: Delta) -> None:
        """Take one delta; deltas for an index that was never started are left out."""
        match delta:
            case ArgumentsDelta():
                if (call := self._calls.get(delta.index)) is not None and call.end is None:
                    call.fragments.append(delta.fragment)
            case TextDelta():
                self._text.append(delta.text)
            case ReasoningDelta():
                self._reasoning.append(delta.text)
            case ToolCallStart():
                self._calls.setdefault(delta.index, _OpenCall(delta.id, delta.name))
            case ToolCallEnd() | ToolCallRejected():
                self._end_call(delta)
            case UsageDelta():
                self._usage = delta.usage
            case Finish():
                self._finish = self._finish or Finish(delta.reason, join_surrogates(delta.raw))
            case StreamFailure():
                self._failure = self._failure or StreamFailure(
                    join_surrogates(delta.code),
                    join_surrogates(delta.message),
                )
            case _:
                assert_never(delta)

    def _end_call(self, end: ToolCallEnd | ToolCallRejected) -> None:
        if (call := self._calls.get(end.index)) is not None and call.end is None:
            call.end = end

    def turn(self) -> Turn:
        """Return what the deltas so far mean; a call without an end is a parse error."""
        ended = [call for call in self._calls.values() if isinstance(call.end, ToolCallEnd)]
        rest = [call for call in self._calls.values() if not isinstance(call.end, ToolCallEnd)]
        return Turn(
            text=join_surrogates("".join(self._text)),
            reasoning=join_surrogates("".join(self._reasoning)),
            tool_calls=tuple(ToolCall(call.id, call.name, call.arguments) for call in ended),
            parse_errors=tuple(call.parse_error() for call in rest),
            finish=self._finish,
            usage=self._usage,
            failure=self._failure or self._calls_missing(),
        )

    def _calls_missing(self) -> StreamFailure | None:
        """A finish that announces calls where none came is a broken promise, not a turn."""
        finish = self._finish
        if finish is None or finish.reason is not FinishReason.TOOL_CALLS or self._calls:
            return None
        return StreamFailure("calls_missing", f"finish {finish.raw!r} without a tool call")


def fold(deltas: Iterable[Delta]) -> Turn:
    """Fold `deltas` to their turn."""
    folder = Folder()
    for delta in deltas:
        folder.add(delta)
    return folder.turn()
