"""Turn what a reader parses from one response into deltas, in the same order.

It is for dialects whose events name the call that they belong to. A call starts as soon as its name
is known. All calls end together with the turn, so that no call of a turn that fails later is
executed. The assembly never invents an argument, and ends each call exactly once.
"""

from collections.abc import Hashable

from harness.turns.deltas import (
    DECIDED_BY_CALLS,
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    SealedPlace,
    StreamFailure,
    TextDelta,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.verdicts import (
    OWNERLESS,
    CallIds,
    end_of_call,
    may_lack_arguments,
    unusable_reason,
)

# After these a call whose arguments never began may have been cut off before them.
_CUT_SHORT = frozenset((FinishReason.LENGTH, FinishReason.CONTENT_FILTER, FinishReason.OTHER))

_NO_USAGE = Usage()


class _Call:
    """Collects the id, name and arguments of one call while the response arrives."""

    __slots__ = ("fragments", "id", "kind", "name", "namespace", "position", "rejection")

    def __init__(self, call_id: str, name: str, kind: CallKind = "function") -> None:
        self.id = call_id
        self.name = name
        self.kind = kind
        self.namespace = ""
        self.position = -1  # from its start on
        self.fragments: list[str] = []
        self.rejection = ""  # why it must not run, whatever its arguments say

    @property
    def arguments(self) -> str:
        if len(self.fragments) > 1:
            self.fragments = ["".join(self.fragments)]
        return self.fragments[0] if self.fragments else ""


class Assembly:
    """Builds the deltas of one response.

    Fields:
        out: deltas that the reader has not emitted yet; always the same list object.
        over: no later event may change the turn.
        seed: distinguishes this response from others; generated ids depend on it.
    """

    __slots__ = ("_calls", "_finish", "_ids", "_started", "_usage", "out", "over", "seed")

    def __init__(self) -> None:
        self.out: list[Delta] = []
        self.over = False
        self.seed = ""
        self._calls: dict[Hashable, _Call] = {}
        self._ids = CallIds()
        self._started = 0
        self._finish: Finish | None = None
        self._usage = _NO_USAGE

    @property
    def finished(self) -> bool:
        """Whether the response contained a finish reason so far."""
        return self._finish is not None

    # What the model writes

    def text(self, piece: object) -> None:
        """Add the next part of the visible answer; ignore an empty value and other types."""
        if piece and type(piece) is str:
            self.out.append(TextDelta(piece))

    def reasoning(self, piece: object) -> None:
        """Add the next part of the reasoning; ignore an empty value and other types."""
        if piece and type(piece) is str:
            self.out.append(ReasoningDelta(piece))

    def seal(
        self, kind: str, value: object, of: SealedPlace = "reasoning", item_id: object = ""
    ) -> None:
        """Add data that only the provider can read, for the reasoning or the text before it.

        An empty value, or one that is not text, has no effect.

        Args:
            kind: the API's name for the data, such as `signature`.
            value: the data.
            of: what the data belongs to: `reasoning` or `text`.
            item_id: the id of the item that contains it.
        """
        if value and type(value) is str:
            self.out.append(
                SealedDelta(kind, value, of, id=item_id if type(item_id) is str else "")
            )

    def seal_call(self, key: Hashable, kind: str, value: object) -> None:
        """Add data that only the provider can read to the open call at `key`, if it has a name."""
        call = self._calls[key]
        if call.position >= 0 and value and type(value) is str:
            self.out.append(SealedDelta(kind, value, "call", call.position))

    # Calls, by the provider's own key

    def __len__(self) -> int:
        """Return the number of calls so far."""
        return len(self._calls)

    def open(
        self,
        key: Hashable,
        call_id: object = "",
        name: object = "",
        kind: CallKind = "function",
        namespace: str = "",
    ) -> None:
        """Begin the call at `key`, or add the id or name to a call that has begun.

        An id cannot change after the call has started. A name that differs from the one with which
        it started makes the call unusable.
        """
        call_id = call_id if isinstance(call_id, str) else ""
        name = name if isinstance(name, str) else ""
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(call_id, name, kind)
        call.id = call.id or call_id
        call.name = call.name or name
        call.namespace = call.namespace or namespace
        if name and call.name != name:
            call.rejection = call.rejection or f"its name was {call.name!r} and then {name!r}"
        if call.name and call.position < 0:
            self._start(call)

    def append(self, key: Hashable, fragment: object) -> None:
        """Append to the arguments of the call at `key`, which begins if it is new."""
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call("", "")
        if not fragment or not isinstance(fragment, str):
            return
        call.fragments.append(fragment)
        if call.position >= 0:
            self.out.append(ArgumentsDelta(call.position, fragment))

    def complete_arguments(self, key: Hashable, arguments: str) -> None:
        """Compare complete arguments, which the API sends after the fragments, with the fragments.

        If they begin with the fragments, append the rest. If they differ, reject the call, because
        it is not known which arguments are right.
        """
        call = self._calls.get(key)
        so_far = call.arguments if call else ""
        if arguments.startswith(so_far):
            self.append(key, arguments[len(so_far) :])
        else:
            self.reject(key, "its arguments came twice and differ")

    def reject(self, key: Hashable, reason: str) -> None:
        """Mark the call at `key`, which begins if it is new, as unusable."""
        self.append(key, "")
        call = self._calls[key]
        call.rejection = call.rejection or reason

    def arguments(self, key: Hashable) -> str:
        """Return the arguments so far of the call at `key`; "" if there are none."""
        call = self._calls.get(key)
        return call.arguments if call else ""

    def _start(self, call: _Call) -> None:
        call.position = self._started
        self._started += 1
        call_id = self._ids.unique(call.id, self.seed, call.position, call.name)
        start = ToolCallStart(call.position, call_id, call.name, call.kind, call.namespace)
        self.out.append(start)
        self.out += [ArgumentsDelta(call.position, fragment) for fragment in call.fragments]

    # The end

    def usage(self, input_tokens: object = None, output_tokens: object = None) -> None:
        """Store the numbers of tokens. A value that is not an integer keeps the earlier count."""
        known = self._usage
        read = input_tokens if type(input_tokens) is int else known.input_tokens
        written = output_tokens if type(output_tokens) is int else known.output_tokens
        if read != known.input_tokens or written != known.output_tokens:
            self._usage = Usage(read, written)
            self.out.append(UsageDelta(self._usage))

    def count(self, usage: object, input_name: str, output_name: str) -> None:
        """Store the numbers of tokens in `usage`, an object with members of these names."""
        if isinstance(usage, dict):
            self.usage(usage.get(input_name), usage.get(output_name))

    def finish(self, reason: FinishReason, raw: str) -> None:
        """Store why the model stopped. The turn continues until `close`."""
        self._finish = Finish(reason, raw)

    def close(self) -> None:
        """End the turn as complete. Without a finish reason, the reason is `stop`."""
        finish = self._finish or Finish(FinishReason.STOP, "")
        self.end_calls("", cut_short=finish.reason in _CUT_SHORT)
        if len(self) and finish.reason in DECIDED_BY_CALLS:
            finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
        self.out.append(finish)
        self.over = True

    def fail(self, code: str, message: str) -> None:
        """End the turn as failed, so that none of its calls is executed."""
        self.end_calls(f"the turn failed ({code}): {message}", cut_short=False)
        self.out.append(StreamFailure(code, message))
        self.over = True

    def end_calls(self, failed: str, *, cut_short: bool) -> None:
        """Emit the last delta of each call, as usable or as rejected.

        Args:
            failed: why no call of this turn may be executed; "" if they may.
            cut_short: the model was stopped, so a call without arguments may have lost them.
        """
        ownerless = any(
            not (call.name or may_lack_arguments(call.arguments)) for call in self._calls.values()
        )
        for call in self._calls.values():
            if call.position < 0:
                self._start(call)
            text = call.arguments
            lacks = ownerless and call.kind == "function" and may_lack_arguments(text)
            error = (
                failed
                or call.rejection
                or (OWNERLESS if lacks and call.name else "")
                or unusable_reason(call.name, text, call.kind, cut_short=cut_short)
            )
            self.out.append(end_of_call(call.position, error, text))
