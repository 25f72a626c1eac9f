"""Turn the items of streamed `tool_calls` lists into deltas of calls, each under its call.

By the contract, `index` is the key, id and name come once, and fragments are appended. Group B of
the catalogue lists how providers deviate from it. The rules here distinguish the calls in spite of
these deviations, and never join two calls without reporting it.
"""

import re
from collections.abc import Hashable
from typing import Literal, Protocol

import msgspec

from harness.dialects.kit.options import Options
from harness.dialects.openai_chat.chunk import Entry
from harness.dialects.openai_chat.fragments import Fragments
from harness.turns.arguments import same_value
from harness.turns.deltas import ArgumentsDelta, CallKind, Delta, ToolCallStart
from harness.turns.json_values import as_text
from harness.turns.verdicts import (
    OWNERLESS,
    CallIds,
    end_of_call,
    may_lack_arguments,
    unusable_reason,
)


class ReaderPolicy(Options, frozen=True):
    """Sets how `read` decides ambiguous cases. The defaults are those of `reference`.

    Fields:
        names: what a second part of a name means (`DELTA-NAME-FRAGMENTED` against
            `DELTA-NAME-REPEATED`): `by-tools` chooses the result that the request declares,
            `append` always appends, `first` keeps the first.
        arguments: what a fragment means that repeats or extends all the text before it
            (`ARGS-CUMULATIVE`, `ARGS-REPEATED-AT-END` against plain appending): `auto`
            replaces the text only if appending cannot give JSON, `append` always appends.
        nameless: a call whose name never came (`NAME-EMPTY`) is reported or dropped.
        unfinished_event: an event without its blank line at the end of the stream
            (`SSE-NO-FINAL-BLANK` against the WHATWG algorithm) is used if it is complete JSON, or
            dropped.
        done_without_finish: after `[DONE]` without a finish reason, the turn counts as finished, or
            as interrupted.
    """

    names: Literal["by-tools", "append", "first"] = "by-tools"
    arguments: Literal["auto", "append"] = "auto"
    nameless: Literal["reject", "drop"] = "reject"
    unfinished_event: Literal["use", "drop"] = "use"
    done_without_finish: Literal["finished", "interrupted"] = "finished"


KNOWN_TYPES = (None, "function", "", "custom")
_NUMBER = re.compile(r"-?[0-9]{1,18}")


class CallAssembler(Protocol):
    """Turns the `tool_calls` items of one choice into deltas; make a new one for each response."""

    seed: str

    def __len__(self) -> int: ...

    def take(self, entry: Entry, out: list[Delta]) -> None:
        """Process one item of a `tool_calls` list; append its deltas to `out`."""

    def has_arguments(self, entry: Entry, position: int) -> bool:
        """Return whether the call that `entry` repeats has received arguments.

        Some servers send the calls again in a complete message at the end of the stream.

        Args:
            entry: an item of another list of the response's calls.
            position: the position of the item in that list, which counts if it has no index.
        """

    def close(self, out: list[Delta], *, failed: str, cut_short: bool) -> None:
        """Emit the last delta of every call, as usable or as rejected."""


class _Call(msgspec.Struct, eq=False):
    """Collects the id, name and arguments of one call while they arrive."""

    key: Hashable  # the provider's index
    position: int = -1  # ours, from its `ToolCallStart` on
    given_id: str = ""
    rival_id: str = ""  # another id that came with the name
    name: str = ""
    kind: str = ""  # a type that is neither a function nor a custom tool
    custom: bool = False
    conflict: str = ""  # why what came cannot be one call
    started: bool = False  # its name is complete
    waiting: list[str] = []  # fragments that came before the name, or before the id
    fragments: Fragments = msgspec.field(default_factory=Fragments)

    def fault(self) -> str:
        """Return why the call must not be executed, whatever its arguments are."""
        if self.kind:
            return f"the call is of type {self.kind!r}, expected 'function' or 'custom'"
        if self.rival_id and not self.fragments.size:
            ids = f"{self.given_id!r} and {self.rival_id!r}"
            return f"one call without arguments, or two: it came with the ids {ids}"
        return self.conflict or self.fragments.fault


class ChatCalls:
    """Collects the calls of one choice."""

    def __init__(self, tools: frozenset[str], policy: ReaderPolicy) -> None:
        self.seed = ""  # from the response; makes generated ids differ between turns
        self._tools = tools
        self._policy = policy
        self._append_only = policy.arguments == "append"
        self._calls: list[_Call] = []
        self._by_index: dict[Hashable, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._ids = CallIds()
        self._sent = 0  # the first so many calls have their `ToolCallStart`

    def __len__(self) -> int:
        return len(self._calls)

    def take(self, entry: Entry, out: list[Delta]) -> None:
        """Process one item of a `tool_calls` list; append its deltas to `out`."""
        custom = entry.custom
        function = entry.function or custom or entry  # some servers leave `function` out
        fragment = (function.arguments if custom is None else custom.input) or ""
        call_id, name, index = entry.id, function.name, entry.index
        is_custom = custom is not None or entry.type == "custom"
        call = None
        # By the contract later deltas have only `index` and a fragment; most entries are such.
        if type(index) is int and not (name or is_custom):
            call = self._by_index.get(index)
        if call is None or (call_id and (call_id != call.given_id or call.rival_id)):
            call_id, name = as_text(call_id), as_text(name)
            call = self._find(_index_key(index), call_id, name, fragment, out)
            if call is None:
                return
            if is_custom and not call.started:
                call.custom = True
            self._identify(call, call_id, name, out)
        # The type may be missing, "" or null (quirk DELTA-TYPE-EMPTY-OR-NULL): a function.
        if entry.type not in KNOWN_TYPES:
            call.kind = as_text(entry.type) or "unreadable"
        if fragment:
            self._append(call, fragment, out)

    def has_arguments(self, entry: Entry, position: int) -> bool:
        """Return whether the call that `entry` repeats has received arguments."""
        index = position if entry.index is None else _index_key(entry.index)
        call = self._by_id.get(as_text(entry.id)) or self._by_index.get(index)
        if call is None and entry.index is None and position < len(self._calls):
            call = self._calls[position]
        return call is not None and call.fragments.size > 0

    def close(self, out: list[Delta], *, failed: str, cut_short: bool) -> None:
        """Emit the last delta of every call, as usable or as rejected.

        Args:
            out: receives the deltas.
            failed: why no call of this turn may be executed; "" if they may.
            cut_short: the provider stopped the turn early (`length`), so a call whose arguments
                did not begin cannot be distinguished from a call without arguments.
        """
        ownerless = any(
            not (call.name or may_lack_arguments(call.fragments.text)) for call in self._calls
        )
        if self._policy.nameless == "drop":
            self._calls = [call for call in self._calls if call.name]
        self._send_starts(out, is_over=True)
        for call in self._calls:
            if rest := call.fragments.close():
                out.append(ArgumentsDelta(call.position, rest))
            arguments = call.fragments.text
            kind = _kind(call)
            lacks = ownerless and not call.custom and may_lack_arguments(arguments)
            error = (
                failed
                or call.fault()
                or (OWNERLESS if lacks and call.name else "")
                or unusable_reason(call.name, arguments, kind, cut_short=cut_short)
            )
            out.append(end_of_call(call.position, error, arguments))

    # Which call an entry belongs to

    def _find(
        self, key: Hashable, call_id: str, name: str, fragment: str, out: list[Delta]
    ) -> _Call | None:
        call = self._without_index(call_id, name) if key is None else self._at(key, call_id, name)
        if call is None or (name and self._opens_new(call, key, call_id, name, fragment)):
            if not (call_id or name or fragment):
                return None
            if self._calls and self._calls[-1].name:
                self._start(self._calls[-1], out)  # its name is complete: the next call is here
            call = _Call(key)
            self._calls.append(call)
        if key is not None:
            self._by_index[key] = call
        return call

    def _at(self, key: Hashable, call_id: str, name: str) -> _Call | None:
        """Return the call at an index. If several calls share it, the id decides."""
        call = self._by_index.get(key)
        known = self._by_id.get(call_id) if call_id else None
        # Parallel calls may all have index 0 (quirk DELTA-INDEX-ALL-ZERO).
        if known is None or known.key != key or (name and name != known.name):
            return call
        return known

    def _without_index(self, call_id: str, name: str) -> _Call | None:
        """Return the call of an item without index: by id, or the last one; None if it is new."""
        last = self._calls[-1] if self._calls else None
        if not call_id:
            return last
        found = self._by_id.get(call_id)
        # The id may come after the name (quirk DELTA-ID-LATE).
        if found is None and last is not None and not name and not last.given_id:
            return last
        return found

    def _opens_new(
        self, call: _Call, key: Hashable, call_id: str, name: str, fragment: str
    ) -> bool:
        """Return whether a named item at a used index is another call (DELTA-INDEX-ALL-ZERO)."""
        # Some servers repeat id and name in each delta of a call (quirk DELTA-NAME-REPEATED).
        if call_id and call_id == call.given_id and key is not None:
            return False
        has_other_id = bool(call_id and call.given_id and call_id != call.given_id)
        if name == call.name:
            return call.fragments.complete() if has_other_id else _is_sibling(call, fragment)
        if has_other_id:
            return True
        if not call.started:  # a piece of its name, or the name that its arguments waited for
            return _is_sibling(call, fragment)
        return key is None or not call.given_id or call.fragments.complete()

    def _identify(self, call: _Call, call_id: str, name: str, out: list[Delta]) -> None:
        """Process the id and the name of an item."""
        if call_id and not call.given_id:
            call.given_id = call_id
            self._by_id[call_id] = call
            self._send_starts(out)
        # The id may change within a call (quirk DELTA-ID-CHANGES); results must name the first.
        elif name and call_id and call_id != call.given_id:
            call.rival_id = call_id
        elif call.rival_id and call_id == call.given_id:  # an id that changed does not return
            call.conflict = f"its ids alternate: {call.given_id!r} and {call.rival_id!r}"
        if not name:
            return
        if not call.started:
            call.name = self._named(call.name, name)
            self._maybe_start(call, out)
        elif name != call.name and self._policy.names != "first":
            call.conflict = f"its name was {call.name!r} and then {name!r}"

    def _append(self, call: _Call, fragment: str, out: list[Delta]) -> None:
        if self._append_only or call.custom:
            new = call.fragments.append(fragment)
        else:
            new = call.fragments.take(fragment)
        if not call.started and call.name:
            self._start(call, out)
        if not new:  # a repetition, or what may be one
            return
        if call.position >= 0:
            out.append(ArgumentsDelta(call.position, new))
        else:
            call.waiting.append(new)

    # Names and ids

    def _named(self, so_far: str, piece: str) -> str:
        if not so_far or self._policy.names == "first":
            return so_far or piece
        appended = so_far + piece
        if self._policy.names == "append":
            return appended
        # An equal piece repeats the name, unless only the name twice over is a declared tool.
        if piece == so_far:
            is_piece = appended in self._tools and so_far not in self._tools
            return appended if is_piece else so_far
        readings = (appended, piece) if piece.startswith(so_far) else (appended,)
        declared = [name for name in readings if name in self._tools]
        begun = [n for n in readings if any(tool.startswith(n) for tool in self._tools)]
        return (declared or begun or list(reversed(readings)))[0]

    def _maybe_start(self, call: _Call, out: list[Delta]) -> None:
        """Start the call as soon as its name cannot become another declared name."""
        name = call.name
        if call.waiting or (
            # "get" may become "get_weather", so a name waits if it begins that of another tool.
            name in self._tools
            and not any(tool != name and tool.startswith(name) for tool in self._tools)
        ):
            self._start(call, out)

    def _start(self, call: _Call, out: list[Delta]) -> None:
        call.started = True
        self._send_starts(out)

    def _send_starts(self, out: list[Delta], *, is_over: bool = False) -> None:
        """Emit the starts of calls in order, up to the first whose name or id may still arrive.

        A result must name the provider's id, so a call gets a generated id only at the end.
        """
        while self._sent < len(self._calls):
            call = self._calls[self._sent]
            if not is_over and not (call.started and call.given_id):
                return
            call.position = self._sent
            self._sent += 1
            call_id = self._ids.unique(call.given_id, self.seed, call.position, call.name)
            out.append(ToolCallStart(call.position, call_id, call.name, _kind(call)))
            out += [ArgumentsDelta(call.position, fragment) for fragment in call.waiting]


def _index_key(index: object) -> Hashable:
    """Return the key of an index; None for a missing or invalid one."""
    # Some gateways send the index as text or as a float.
    if isinstance(index, str) and _NUMBER.fullmatch(index):
        return int(index)
    if isinstance(index, bool) or not isinstance(index, int | float):
        return None
    return index


def _kind(call: _Call) -> CallKind:
    return "custom" if call.custom else "function"


def _is_sibling(call: _Call, fragment: str) -> bool:
    """Return whether a complete object follows another complete object without repeating it."""
    if not fragment.startswith("{") or not call.fragments.complete():
        return False
    text = call.fragments.text
    # `{}` before the arguments is a placeholder (quirk ARGS-EMPTYOBJ-THEN-REAL).
    return text.strip() != "{}" and not same_value(text, fragment)
