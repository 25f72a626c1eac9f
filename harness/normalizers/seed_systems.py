"""The seed systems: three clients from which this project grew, with their reported bugs fixed.

`dashscope-restore` keeps id and name of a call by index while the response streams, and restores
them at the end. DashScope's OpenAI-compatible stream sends them in the first chunk of a call, and
empty strings after it. Some layers also move the calls to `additional_kwargs`. The table lives as
long as one response, so that no state is shared between responses.

`tag-extract` finds calls in `<tool_call>` tags, for models on Volcano Ark and a local Ollama whose
prompt describes the tools. Three formats count, from strict to loose: JSON in a closed tag, JSON in
a tag that is never closed, and JSON without a tag anywhere in the reply, flat (`{"tool": NAME,
...}`) or with a name and arguments, if it names a tool that was offered.

`action-protocol` reads replies that are one JSON object each. It emits `reasoning` and the answer
while they arrive, and calls at the end of the turn. The object may be wrapped in a string, an
envelope or a code block. Other text is text, and nothing in it is executed.

The last two also emit calls in the API's field, for models that send some.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

import msgspec

from harness.dialects.openai_chat.calls import KNOWN_TYPES
from harness.dialects.openai_chat.chunk import Entry, Function
from harness.dialects.openai_chat.fragments import Completeness
from harness.dialects.table import DIALECTS, TEXT_CALL_DIALECTS
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.respond import DEFAULT_READER, respond_chat, respond_with_text_calls
from harness.text_calls import TextPolicy
from harness.turns.deltas import ArgumentsDelta, Delta, ToolCallStart
from harness.turns.json_values import as_text
from harness.turns.verdicts import (
    OWNERLESS,
    CallIds,
    end_of_call,
    may_lack_arguments,
    unusable_reason,
)
from harness.wire.interaction import Interaction


class _ReceivedCall(msgspec.Struct, eq=False):
    """The values of one call's fields that were received so far."""

    id: str = ""
    name: str = ""
    fragments: list[str] = []
    completeness: Completeness = msgspec.field(default_factory=Completeness)
    fault: str = ""  # why it must not run, whatever its arguments say

    def is_complete(self) -> bool:
        """Return whether the arguments of the call are one complete JSON value."""
        return self.completeness.of(self.fragments)


class RestoredCalls:
    """Collects calls by index, and emits them when the turn ends."""

    def __init__(self) -> None:
        self.seed = ""
        self._calls: list[_ReceivedCall] = []
        # By the provider's index; a new id begins a new call.
        self._newest: dict[int, _ReceivedCall] = {}
        self._by_id: dict[str, _ReceivedCall] = {}

    def __len__(self) -> int:
        return sum(1 for call in self._calls if call.name)

    def take(self, entry: Entry, out: list[Delta]) -> None:
        """Store the fields of one part of a call. Nothing is emitted before the end of the turn."""
        del out
        function = entry.function or Function()
        call_id = as_text(entry.id)
        call = self._call(_index(entry), entry, function)
        if call_id and not call.id:
            call.id = call_id
            self._by_id[call_id] = call
        elif call_id != call.id and call_id and function.name:
            call.fault = f"its ids were {call.id!r} and {call_id!r}"
        if entry.type not in KNOWN_TYPES:
            call.fault = f"the call is of type {entry.type!r:.80}"
        call.name = call.name or as_text(function.name)
        if function.arguments:
            call.fragments.append(function.arguments)

    def has_arguments(self, entry: Entry, position: int) -> bool:
        """Return whether earlier chunks contained arguments of the call to which `entry` belongs.

        Args:
            entry: an item of `tool_calls` in a chunk.
            position: the position of `entry` in that list.
        """
        index = position if entry.index is None else _index(entry)
        call = self._by_id.get(as_text(entry.id)) or self._newest.get(index)
        if call is None and entry.index is None and position < len(self._calls):
            call = self._calls[position]
        return call is not None and bool(call.fragments)

    def close(self, out: list[Delta], *, failed: str, cut_short: bool) -> None:
        """Emit every call that has a name, with a generated id if none was sent."""
        ids = CallIds()
        is_ownerless = any(call.fragments and not call.name for call in self._calls)
        for index, call in enumerate(call for call in self._calls if call.name):
            call_id = ids.unique(call.id, self.seed, index, call.name)
            out.append(ToolCallStart(index, call_id, call.name))
            arguments = "".join(call.fragments)
            out.append(ArgumentsDelta(index, arguments))
            if is_ownerless and may_lack_arguments(arguments):
                call.fault = call.fault or OWNERLESS
            error = (
                failed or call.fault or unusable_reason(call.name, arguments, cut_short=cut_short)
            )
            out.append(end_of_call(index, error, arguments))

    def _call(self, index: int, entry: Entry, function: Function) -> _ReceivedCall:
        known = self._newest.get(index)
        if known is not None and not _opens_another(known, entry, function):
            return known
        self._newest[index] = call = _ReceivedCall()
        self._calls.append(call)
        return call


def _opens_another(known: _ReceivedCall, entry: Entry, function: Function) -> bool:
    """Whether a part of a call with the index of a known call begins another call.

    It does if it has a name and another id, and the arguments are complete or the names differ.
    Without an id, it does if an object follows a complete object, or if it has no index and another
    name.
    """
    if not function.name:
        return False
    call_id, has_other_name = as_text(entry.id), as_text(function.name) != known.name
    if call_id:
        has_other_id = known.id not in ("", call_id)
        return has_other_id and (has_other_name or known.is_complete())
    if entry.index is None and known.name and has_other_name:
        return True
    return as_text(function.arguments).startswith("{") and known.is_complete()


def _index(entry: Entry) -> int:
    return entry.index if isinstance(entry.index, int) else 0


def _restored(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    return respond_chat(interaction, reads, calls=RestoredCalls())


_TAGS: Final = TextPolicy(dialects=frozenset(("tagged-json", "bare-json")), bare="anywhere")
_ACTION_PROTOCOL: Final = TextPolicy(dialects=frozenset(("action-protocol",)))


dashscope_restore: Final = Normalizer(
    name="dashscope-restore",
    normalize=_restored,
    capabilities=frozenset(CAPABILITIES)
    - {"repeated-arguments", "names-in-pieces", "custom-tools"},
    summary="seed system 1: id and name stored by index, restored at the end of the turn",
    policies={"nameless": "drop", "arguments": "append", "names": "first", "calls": "at-end"},
)
tag_extract: Final = Normalizer(
    name="tag-extract",
    normalize=partial(respond_with_text_calls, policy=_TAGS),
    dialects=TEXT_CALL_DIALECTS,
    capabilities=frozenset(CAPABILITIES),
    summary="seed system 2: calls in <tool_call> tags, closed or open, or bare JSON",
    policies=DEFAULT_READER | _TAGS.declared(),
    text_dialects=_TAGS.dialects,
)
action_protocol: Final = Normalizer(
    name="action-protocol",
    normalize=partial(respond_with_text_calls, policy=_ACTION_PROTOCOL),
    dialects=frozenset(DIALECTS),
    capabilities=frozenset(CAPABILITIES),
    summary="seed system 3: a reply is one JSON object with an action, described in the prompt",
    policies=DEFAULT_READER | _ACTION_PROTOCOL.declared(),
    text_dialects=_ACTION_PROTOCOL.dialects,
)
