"""Collect calls from tool-call deltas, by the contract of the chat completion chunk.

An integer `index` is the key. `id`, `type` and `function.name` come in the first delta of a
call. Fragments of `function.arguments` are appended. If a delta does not clearly belong to one
call, the oracle notes the calls as ambiguous and does not guess.
Source: OpenAI API reference, "The chat completion chunk object".
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from harness.dialects.kit.oracle.reading import Notes, OpenCall, OpenCalls
from harness.dialects.kit.oracle.values import (
    dict_or_empty,
    is_index,
    read_arguments,
    same_object,
    text_or_empty,
)
from harness.turns.oracle_reading import CallReading

# `{}` with as much white space around and in it as is still taken for a placeholder.
_PLACEHOLDER_CHARACTERS = 64
# The members of a chunk with calls: those of the API, of a complete response and of LangChain.
CALL_MEMBERS = frozenset(
    f"choices.{answer}.{member}"
    for answer in ("delta", "message")
    for member in ("tool_calls", "function_call", "additional_kwargs")
)
_LEGACY = -1  # the key of a `function_call`, which has no index
# A fragment this much smaller than the buffer cannot be the complete arguments again.
_WHOLE_AGAIN_RATIO = 4


class _Entry(msgspec.Struct, frozen=True):
    """One item of a `tool_calls` list as text; "" for a member that is missing.

    Fields:
        key: the index of the item; None if it has none.
    """

    key: int | None
    id: str
    name: str
    fragment: str


class _Call(OpenCall):
    """Collects the deltas of the call at one index."""

    size = 0
    last_character = ""

    @property
    def arguments(self) -> str:
        """The arguments so far, which are compared with each new fragment."""
        self.fragments = ["".join(self.fragments)]
        return self.fragments[0]

    def append(self, fragment: str) -> None:
        if fragment:
            self.fragments.append(fragment)
            self.last_character = fragment.rstrip()[-1:] or self.last_character
        self.size += len(fragment)

    def start_again(self) -> None:
        """Forget the arguments so far."""
        self.fragments, self.size = [], 0

    def stretched_by(self, fragment: str) -> str:
        """Return the quirk that makes it uncertain whether to append `fragment`; "" if none."""
        if not self.size or not fragment:
            return ""
        opens = fragment.lstrip().startswith("{")
        is_short = self.size <= _PLACEHOLDER_CHARACTERS
        if opens and is_short and "".join(self.arguments.split()) == "{}":
            return "ARGS-EMPTYOBJ-THEN-REAL"
        if len(fragment) >= self.size and fragment.startswith(self.arguments):
            # One repeated character is ordinary text, but no JSON object starts with `{{`.
            if self.size > 1 or opens:
                return "ARGS-REPEATED-AT-END" if len(fragment) == self.size else "ARGS-CUMULATIVE"
            return ""
        again = opens and len(fragment) * _WHOLE_AGAIN_RATIO >= self.size
        return "ARGS-REPEATED-AT-END" if again and same_object(self.arguments, fragment) else ""


class CallTable(OpenCalls[int | None, _Call]):
    """Collects the calls of one choice."""

    def __init__(self, notes: Notes) -> None:
        super().__init__(notes)
        self._ids: set[str] = set()
        self._over: list[_Call] = []  # another call took their index

    def __len__(self) -> int:
        return len(self._over) + len(self._calls)

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        opened = sorted((*self._over, *self._calls.values()), key=lambda call: call.offset)
        return tuple(call.reading() for call in opened)

    def are_new(self, entries: Iterable[object]) -> bool:
        """Return whether each item begins a call, with a new index or a new id."""
        return all(
            (_key(entry) not in self._calls or entry.get("id"))
            and text_or_empty(entry.get("id")) not in self._ids
            for entry in map(dict_or_empty, entries)
        )

    def add_legacy(self, function: dict[str, Any], offset: int) -> None:
        """Process a `function_call`, the only call of a turn whose request has `functions`."""
        self._notes.harmless("LEGACY-FUNCTION-CALL", offset)
        piece = _Entry(
            key=_LEGACY,
            id="",
            name=self._member(function, "name", offset),
            fragment=self._fragment(function, offset),
        )
        self._merge(self._calls.setdefault(_LEGACY, _Call(offset)), piece, offset)

    def add(self, entries: object, offset: int) -> None:
        """Process one `tool_calls` value."""
        if entries is None:
            self._notes.harmless("TOOLCALLS-NULL", offset)
            return
        if not isinstance(entries, list):
            self._notes.ambiguous("EVENT-GLUED", offset, calls=True)
            return
        if not entries:
            self._notes.harmless("TOOLCALLS-EMPTY-ARRAY", offset)
        self._check_siblings(entries, offset)
        for entry in entries:
            self._entry(entry, offset)

    def _check_siblings(self, entries: list[Any], offset: int) -> None:
        """Check that two items of one list that begin two calls have two indexes."""
        keys = [_key(entry) for entry in entries if isinstance(entry, dict)]
        if keys.count(None) > 1:
            self._notes.ambiguous("DELTA-INDEX-MISSING", offset, calls=True)
        opening = [entry for entry in entries if _opens(entry)]
        if len(set(map(_key, opening))) < len(opening):
            # With an id and a name each they are told apart where they are merged.
            ids = {text_or_empty(entry.get("id")) for entry in opening} - {""}
            if len(ids) < len(opening) or not all(map(_is_named, opening)):
                self._notes.ambiguous("DELTA-INDEX-ALL-ZERO", offset, calls=True)

    def _entry(self, entry: object, offset: int) -> None:
        if not isinstance(entry, dict):
            self._notes.ambiguous("EVENT-GLUED", offset, calls=True)
            return
        function = self._function(entry, offset)
        piece = _Entry(
            key=_key(entry),
            id=self._member(entry, "id", offset),
            name=self._member(function, "name", offset),
            fragment=self._fragment(function, offset),
        )
        call = self._calls.get(piece.key)
        self.check_type(entry, offset, opening=call is None)
        if piece.id or piece.name or piece.fragment:
            self._merge(call or self._open(piece.key, offset), piece, offset)

    def _open(self, key: int | None, offset: int) -> _Call:
        if key is None:
            self._notes.harmless("DELTA-INDEX-MISSING", offset)
        elif key != len(self._calls):
            self._notes.harmless("DELTA-INDEX-SPARSE", offset)
        if self._calls and (key is None or None in self._calls):
            self._notes.ambiguous("DELTA-INDEX-MISSING", offset, calls=True)
        return self._calls.setdefault(key, _Call(offset))

    def _merge(self, call: _Call, piece: _Entry, offset: int) -> None:
        new_id = bool(piece.id) and piece.id != call.id
        if new_id:
            call = self._merge_id(call, piece, offset)
        if piece.name and not call.rejected:
            call = self._merge_name(call, piece, offset, new_id=new_id)
        # Once the calls are open nothing more can be learned, so nothing more is compared.
        quirk = call.stretched_by(piece.fragment) if self._notes.calls_known else ""
        if (
            quirk
            and self._notes.policy_choice(quirk, offset, "auto", "append", question="arguments")
            == "auto"
        ):
            call.start_again()
        call.append(piece.fragment)

    def _follow(self, call: _Call, key: int | None, offset: int) -> _Call:
        """Return a new call that takes the index of `call`."""
        self._over.append(call)
        self._calls[key] = _Call(offset)
        return self._calls[key]

    def _merge_id(self, call: _Call, piece: _Entry, offset: int) -> _Call:
        self._ids.add(piece.id)
        if call.id and not piece.name:
            self._notes.ambiguous("DELTA-ID-CHANGES", offset, calls=True)
            return call
        if call.id:
            quirk = "DELTA-INDEX-MISSING" if piece.key is None else "DELTA-INDEX-ALL-ZERO"
            answer = self._notes.policy_choice(quirk, offset, "split", "merge", "reject")
            reason = f"its deltas have the ids {call.id!r} and {piece.id!r}"
            call.rejected = call.rejected or ("" if answer == "split" else reason)
            if answer == "merge":
                return call
            call = self._follow(call, piece.key, offset)
            call.rejected = reason if answer == "reject" else ""
        if call.name or call.size:
            # Without an index the id may open a second call.
            doubtful = piece.key is None and call.size > 0
            self._notes.ambiguous("DELTA-ID-LATE", offset, calls=doubtful)
        call.id = piece.id
        return call

    def _merge_name(self, call: _Call, piece: _Entry, offset: int, *, new_id: bool) -> _Call:
        if not call.name:
            if call.size or call.offset < offset:
                self._notes.harmless("DELTA-NAME-LATE", offset)
            call.name = piece.name
        elif piece.name != call.name:
            self._merge_other_name(call, piece.name, offset)
        else:
            glued = call.last_character == "}" and piece.fragment.lstrip().startswith("{")
            opens = (new_id and call.size > 0) or (not piece.id and glued)
            if piece.key is None:
                # Without an index the name may open a second call, whatever the ids are.
                self._notes.ambiguous("DELTA-NAME-REPEATED", offset, calls=True)
            elif not opens:
                self._notes.harmless("DELTA-NAME-REPEATED", offset)
            elif (
                self._notes.policy_choice("DELTA-NAME-REPEATED", offset, "same", "split") == "split"
            ):
                call = self._follow(call, piece.key, offset)
                call.id, call.name = piece.id, piece.name
        return call

    def _merge_other_name(self, call: _Call, name: str, offset: int) -> None:
        answers = ("append", "first", "reject")
        answer = self._notes.policy_choice(
            "DELTA-NAME-FRAGMENTED", offset, *answers, question="names"
        )
        if answer == "append":
            call.name += name
        if answer == "reject":
            call.rejected = f"its deltas have the names {call.name!r} and {name!r}"

    def _function(self, entry: dict[str, Any], offset: int) -> dict[str, Any]:
        function = entry.get("function")
        if isinstance(function, dict):
            return function
        self._notes.ambiguous("DELTA-FUNCTION-NULL", offset, calls=function is not None)
        return {}

    def _member(self, holder: dict[str, Any], field: str, offset: int) -> str:
        value = holder.get(field)
        if value == "" and field == "id":
            self._notes.harmless("DELTA-ID-EMPTY-LATER", offset)
        elif value is None and field in holder:
            quirk = "DELTA-ID-NULL-LATER" if field == "id" else "DELTA-NAME-NULL-STRINGIFIED"
            self._notes.harmless(quirk, offset)
        return self.text(value, offset)

    def _fragment(self, function: dict[str, Any], offset: int) -> str:
        value = function.get("arguments")
        if isinstance(value, str):
            return value
        if value is not None:
            self._notes.ambiguous("ARGS-OBJECT", offset, calls=True)
        elif "arguments" in function:
            self._notes.harmless("ARGS-NULL", offset)
        return ""


def _key(entry: dict[str, Any]) -> int | None:
    index = entry.get("index")
    return index if is_index(index) else None


class CopiedCalls:
    """Collects the calls under LangChain's `additional_kwargs`, which may repeat the API's.

    Fields:
        found: the calls that a client finds nowhere else, if this reading takes them.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._table = CallTable(Notes())
        self._repeated = False
        self.found: tuple[CallReading, ...] = ()

    def add(self, answer: dict[str, Any], offset: int) -> None:
        """Process the calls under `additional_kwargs` of a delta or a message."""
        kwargs = dict_or_empty(answer.get("additional_kwargs"))
        if kwargs.get("function_call"):
            self._notes.ambiguous("DELTA-ADDITIONAL-KWARGS", offset, calls=True)
        elif kwargs.get("tool_calls"):
            entries = kwargs["tool_calls"]
            if isinstance(entries, list) and all(map(_is_whole, entries)):
                known = {(it.name, it.arguments) for it in self._table.calls()}
                self._repeated |= not known.isdisjoint(map(_name_and_arguments, entries))
                entries = [
                    {"index": at, **it} for at, it in enumerate(entries, start=len(self._table))
                ]
            self._table.add(with_indexes({"tool_calls": entries})["tool_calls"], offset)

    def compare(self, calls: tuple[CallReading, ...]) -> None:
        """Note whether the collected calls repeat `calls`, or may be found as other calls."""
        copies = self._table.calls()
        if not copies:
            return
        offset = copies[0].offset
        if len(copies) == len(calls) and all(map(_is_copy, copies, calls)):
            self._notes.harmless("DELTA-ADDITIONAL-KWARGS", offset)
        elif calls or self._repeated or not all(it.name for it in copies):
            self._notes.ambiguous("DELTA-ADDITIONAL-KWARGS", offset, calls=True)
        elif self._notes.policy_choice("DELTA-ADDITIONAL-KWARGS", offset, "read", "skip") == "read":
            self.found = copies


def _is_whole(entry: object) -> bool:
    """Return whether an item without index and id is a call with all its arguments."""
    if not isinstance(entry, dict) or entry.get("id") or entry.get("index") is not None:
        return False
    name, arguments = _name_and_arguments(entry)
    return bool(name) and read_arguments(arguments).value is not None


def _name_and_arguments(entry: dict[str, Any]) -> tuple[str, str]:
    function = dict_or_empty(entry.get("function"))
    return text_or_empty(function.get("name")), text_or_empty(function.get("arguments"))


def _is_copy(copy: CallReading, call: CallReading) -> bool:
    """Return whether `copy` contains nothing that `call` does not."""
    return (
        copy.arguments == call.arguments
        and copy.id in ("", call.id)
        and copy.name in ("", call.name)
    )


def with_indexes(message: dict[str, Any]) -> dict[str, Any]:
    """Return `message` with the position of each call as its index if it has none."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    placed = [
        {"index": place, **call} if isinstance(call, dict) else call
        for place, call in enumerate(calls)
    ]
    return {**message, "tool_calls": placed}


def has_piece(entry: object) -> bool:
    """Return whether `entry`, an item of `tool_calls`, adds anything to a call."""
    function = dict_or_empty(dict_or_empty(entry).get("function"))
    return not isinstance(entry, dict) or _opens(entry) or bool(function.get("arguments"))


def _opens(entry: object) -> bool:
    """Return whether an item of `tool_calls` has an id or a name, so that it begins a call."""
    return isinstance(entry, dict) and bool(entry.get("id") or _is_named(entry))


def _is_named(entry: dict[str, Any]) -> bool:
    return bool(dict_or_empty(entry.get("function")).get("name"))
