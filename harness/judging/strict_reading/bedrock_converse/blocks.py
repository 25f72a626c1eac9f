"""The content blocks of a Converse stream -> its calls, by the contract of their index.

A block of a tool has one start with id and name, fragments, and one stop. What does not keep
to that leaves open what the calls are. Tools that the provider runs itself are none.
"""

from typing import Any, Final, TypeGuard

from harness.judging.strict_reading.notes import Notes
from harness.judging.strict_reading.reading import StrictCall
from harness.turns.surrogates import join_surrogates

_SERVER_TOOL: Final = "server_tool_use"


class _Call:
    """One call while it is read."""

    def __init__(self, call_id: str, name: str, offset: int) -> None:
        self.id = call_id
        self.name = name
        self.offset = offset
        self.fragments: list[str] = []
        self.stopped = False


class Blocks:
    """The blocks of one message."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: dict[int, _Call] = {}
        self._others: set[int] = set()  # blocks of tools that run at the provider

    def calls(self) -> tuple[StrictCall, ...]:
        """Return the calls, in order of first appearance."""
        return tuple(
            StrictCall(
                join_surrogates(call.id),
                join_surrogates(call.name),
                join_surrogates("".join(call.fragments)),
                call.offset,
            )
            for call in self._calls.values()
        )

    def conclude(self) -> None:
        """Note what only all blocks show."""
        for place, call in enumerate(self._calls.values()):
            if place:
                self._notes.keep("BED-MULTI-BLOCKS", call.offset)
            if not any(call.fragments):
                self._notes.keep("BED-EMPTY-INPUT", call.offset)

    def start(self, index: object, start: object, offset: int) -> None:
        """Take a `contentBlockStart`."""
        use = start.get("toolUse") if isinstance(start, dict) else None
        if use is None:
            return
        if not _is_index(index) or index in self._calls or index in self._others:
            self._unclear(offset)
        elif isinstance(use, dict) and use.get("type") == _SERVER_TOOL:
            self._notes.keep("BED-SERVER-TOOL", offset)
            self._others.add(index)
        else:
            self._open(index, use, offset)

    def fragment(self, index: object, use: object, offset: int) -> None:
        """Take the piece of an input."""
        if not isinstance(index, int) or not isinstance(use, dict):
            self._unclear(offset)
            return
        if index in self._others:
            return
        call, piece = self._calls.get(index), use.get("input")
        if call is None or call.stopped or not isinstance(piece, str):
            self._unclear(offset)
        else:
            call.fragments.append(piece)

    def stop(self, index: object) -> None:
        """Take a `contentBlockStop`."""
        call = self._calls.get(index) if isinstance(index, int) else None
        if call is not None:
            call.stopped = True

    def whole(self, use: object, text: str, offset: int) -> None:
        """Take a call of a complete answer, with the text of its input."""
        if isinstance(use, dict) and use.get("type") == _SERVER_TOOL:
            self._notes.keep("BED-SERVER-TOOL", offset)
            return
        place = len(self._calls)
        self._open(place, use, offset)
        if isinstance(use, dict) and not isinstance(use.get("input"), dict):
            self._unclear(offset)
        elif place in self._calls:
            self._calls[place].fragments.append(text)

    def _open(self, index: int, use: Any, offset: int) -> None:  # noqa: ANN401 - any JSON
        call_id = use.get("toolUseId") if isinstance(use, dict) else None
        name = use.get("name") if isinstance(use, dict) else None
        if not isinstance(call_id, str) or not isinstance(name, str):
            self._unclear(offset)
            return
        if not name:
            self._notes.open("NAME-EMPTY", offset, calls=True)
        if not call_id:
            self._notes.keep("DELTA-ID-MISSING", offset)
        self._calls[index] = _Call(call_id, name, offset)

    def _unclear(self, offset: int) -> None:
        self._notes.open("EVENT-GLUED", offset, calls=True)


def _is_index(index: object) -> TypeGuard[int]:
    return isinstance(index, int) and not isinstance(index, bool)
