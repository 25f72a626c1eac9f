"""The `tool_calls` entries of a stream -> call deltas, each entry routed to its call.

The contract: `index` is the key, id and name come once, fragments are appended. What
providers do instead is the B group of the catalogue; the rules here are those that tell the
calls apart without ever gluing two of them together in silence.
"""

import hashlib
import json
from collections.abc import Hashable
from typing import Any, Protocol

from harness.dialects.openai_chat.fragments import Fragments
from harness.dialects.openai_chat.policy import Policy
from harness.turns.arguments import ArgumentClass, parse
from harness.turns.calls import SNIPPET_CHARACTERS, ParseError
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)

_FUNCTION_TYPES = ("function", "", None)


class CallAssembler(Protocol):
    """What turns the entries of one choice into call deltas; new for each response."""

    seed: str

    def __len__(self) -> int: ...

    def take(self, entry: dict[str, Any], out: list[Delta]) -> None:
        """Take one entry of a `tool_calls` list; append what it says to `out`."""

    def close(self, out: list[Delta], *, failed: str = "", cut_short: bool = False) -> None:
        """End or reject every call."""


class _Call:
    """One call while it streams."""

    __slots__ = ("fragments", "id", "kind", "name", "position", "started", "waiting")

    def __init__(self, position: int) -> None:
        self.position = position
        self.id = ""
        self.name = ""
        self.kind = ""  # a type that is no function
        self.started = False
        self.waiting: list[str] = []  # fragments that came before the name
        self.fragments = Fragments()


class Calls:
    """All calls of one choice."""

    def __init__(self, tools: frozenset[str], policy: Policy) -> None:
        self.seed = ""  # from the response; makes generated ids differ between turns
        self._tools = tools
        self._policy = policy
        self._calls: list[_Call] = []
        self._by_index: dict[Hashable, _Call] = {}
        self._ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._calls)

    def take(self, entry: dict[str, Any], out: list[Delta]) -> None:
        """Take one entry of a `tool_calls` list; append what it says to `out`."""
        function = entry.get("function")
        if type(function) is not dict:
            function = entry if function is None else {}
        fragment = function.get("arguments")
        if type(fragment) is not str:
            fragment = "" if fragment is None else json.dumps(fragment, ensure_ascii=False)
        call_id, name, index = entry.get("id"), function.get("name"), entry.get("index")
        if name or type(index) is not int:
            call = self._find(index, _text(call_id), _text(name), fragment)
        else:
            call = self._by_index.get(index) or self._find(index, _text(call_id), "", fragment)
        if call is None:
            return
        if call_id and not call.id:
            call.id = _text(call_id)
        if name and not call.started:
            call.name = self._named(call.name, _text(name))
            self._maybe_start(call, out)
        if entry.get("type") not in _FUNCTION_TYPES:
            _mark_kind(call, entry)
        if fragment:
            self._append(call, fragment, out)

    def close(self, out: list[Delta], *, failed: str = "", cut_short: bool = False) -> None:
        """End or reject every call.

        Args:
            out: takes the deltas.
            failed: why no call of this turn may run; "" where they may.
            cut_short: the provider stopped the turn early (`length`): a call whose arguments
                did not begin cannot be told from one without arguments.
        """
        for call in self._calls:
            if not call.name and (self._policy.nameless == "drop" or _is_stub(call)):
                continue
            self._start(call, out)
            if rest := call.fragments.close():
                out.append(ArgumentsDelta(call.position, rest))
            arguments = call.fragments.text
            error = failed or _kind_fault(call) or fault(call.name, arguments, cut_short=cut_short)
            out.append(verdict(call.position, error, arguments))

    # Which call an entry belongs to

    def _find(self, index: object, call_id: str, name: str, fragment: str) -> _Call | None:
        key = _index_key(index)
        if key is None:
            call = self._without_index(call_id, name)
        else:
            call = self._by_index.get(key)
        if call is None or self._opens_new(call, key, call_id, name, fragment):
            if not (call_id or name or fragment):
                return None
            call = _Call(len(self._calls))
            self._calls.append(call)
        if key is not None:
            self._by_index[key] = call
        return call

    def _without_index(self, call_id: str, name: str) -> _Call | None:
        """Route by id; else a name opens a call, and anything else continues the last."""
        if call_id:
            known = (call for call in reversed(self._calls) if call.id == call_id)
            found = next(known, None)
            if found is None and self._calls and not name and not self._calls[-1].id:
                return self._calls[-1]
            return found
        return self._calls[-1] if self._calls else None

    def _opens_new(
        self, call: _Call, key: Hashable, call_id: str, name: str, fragment: str
    ) -> bool:
        """Whether an entry at a known place is another call (quirk DELTA-INDEX-ALL-ZERO)."""
        if not name:
            return False
        if call_id and call.id and call_id != call.id:
            return name != call.name or call.fragments.complete()
        if call_id and key is not None:
            return False
        if name != call.name and call.fragments.size:
            return call.fragments.complete()
        if key is None and not call_id and name != call.name and call.started:
            return True
        return name == call.name and fragment[:1] == "{" and self._is_sibling(call, fragment)

    @staticmethod
    def _is_sibling(call: _Call, fragment: str) -> bool:
        """Whether a whole object follows a whole object that is not the same once more."""
        text = call.fragments.text
        return call.fragments.complete() and text.strip() != "{}" and text != fragment

    # Names and ids

    def _named(self, so_far: str, piece: str) -> str:
        if not so_far or piece == so_far or self._policy.names == "first":
            return so_far or piece
        appended = so_far + piece
        if self._policy.names == "append":
            return appended
        readings = (appended, piece) if piece.startswith(so_far) else (appended,)
        declared = [name for name in readings if name in self._tools]
        begun = [n for n in readings if any(tool.startswith(n) for tool in self._tools)]
        return (declared or begun or list(reversed(readings)))[0]

    def _maybe_start(self, call: _Call, out: list[Delta]) -> None:
        """Start as soon as the name cannot grow into another declared one."""
        name = call.name
        if call.waiting or (
            name in self._tools
            and not any(tool != name and tool.startswith(name) for tool in self._tools)
        ):
            self._start(call, out)

    def _start(self, call: _Call, out: list[Delta]) -> None:
        if call.started:
            return
        call.started = True
        call.id = self._unique_id(call)
        out.append(ToolCallStart(call.position, call.id, call.name))
        out += [ArgumentsDelta(call.position, fragment) for fragment in call.waiting]
        call.waiting.clear()

    def _unique_id(self, call: _Call) -> str:
        call_id = call.id
        if not call_id:
            text = f"{self.seed}/{call.position}/{call.name}"
            call_id = "call_" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
        while call_id in self._ids:
            call_id = f"{call_id}-{call.position}"
        self._ids.add(call_id)
        return call_id

    # Arguments

    def _append(self, call: _Call, fragment: str, out: list[Delta]) -> None:
        if self._policy.arguments == "auto":
            fragment = call.fragments.take(fragment)
        else:
            call.fragments.append(fragment)
        if not call.started and call.name:
            self._start(call, out)
        if not fragment:
            return
        if call.started:
            out.append(ArgumentsDelta(call.position, fragment))
        else:
            call.waiting.append(fragment)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _index_key(index: object) -> Hashable:
    """Return the key that an index stands for; None for a missing or senseless one."""
    if isinstance(index, str) and index.lstrip("-").isdecimal():
        return int(index[:18])
    if isinstance(index, bool) or not isinstance(index, int | float):
        return None
    return index


def _mark_kind(call: _Call, entry: dict[str, Any]) -> None:
    call.kind = _text(entry.get("type")) or "unreadable"
    detail = entry.get(call.kind)
    if isinstance(detail, dict) and not call.started:
        call.name = call.name or _text(detail.get("name"))


def _is_stub(call: _Call) -> bool:
    """Whether nothing at all came for a call (quirk LEGACY-FC-STUB)."""
    return not call.id and not call.fragments.size


def _kind_fault(call: _Call) -> str:
    return f"the call is of type {call.kind!r}, expected 'function'" if call.kind else ""


def fault(name: str, arguments: str, *, cut_short: bool) -> str:
    """Return why a finished call must not run; "" where it may."""
    if not name:
        return "the call has no name"
    parsed = parse(arguments)
    if parsed.kind is ArgumentClass.EMPTY and cut_short:
        return "the provider stopped before the arguments began"
    return parsed.error


def verdict(position: int, error: str, arguments: str) -> ToolCallEnd | ToolCallRejected:
    """Return the delta that ends a call: rejected with a snippet where there is an error."""
    if not error:
        return ToolCallEnd(position)
    reason = ParseError("tool_use", error, arguments[:SNIPPET_CHARACTERS])
    return ToolCallRejected(position, reason)
