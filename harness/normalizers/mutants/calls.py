"""Mutants that damage calls: name, id, number, order, index, arguments, and which of them run."""

import json
import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from harness.normalizers.mutants.edit import (
    CallDelta,
    HeldCall,
    edits_call,
    edits_calls,
    edits_delta,
)
from harness.turns.arguments import parse
from harness.turns.deltas import Delta, Finish, ParseError, StreamFailure

# An id that `reference` generates.
_GENERATED: Final = re.compile("call_[0-9a-f]{24}")


@edits_call("name-lost", "CALL-NAMED")
def _name_lost(call: HeldCall) -> HeldCall:
    """Ends every call without its name."""
    return replace(call, name="") if call.error is None else call


@edits_call("namespace-dropped", "CALL-NAME-EXACT")
def _namespace_dropped(call: HeldCall) -> HeldCall:
    """Gives calls without the namespace of their tool."""
    return replace(call, namespace="")


@edits_call("name-doubled", "CALL-NAME-EXACT")
def _name_doubled(call: HeldCall) -> HeldCall:
    """Appends a repeated name to itself."""
    return replace(call, name=call.name * 2) if call.error is None else call


@edits_call("id-lost", "CALL-ID-PRESENT")
def _id_lost(call: HeldCall) -> HeldCall:
    """Ends calls without an id."""
    return replace(call, id="") if call.error is None else call


@edits_call("id-replaced", "CALL-ID-EXACT")
def _id_replaced(call: HeldCall) -> HeldCall:
    """Generates ids although the provider sent some."""
    return replace(call, id=f"own_{call.id}") if call.error is None else call


@edits_call("id-shared", "CALL-IDS-UNIQUE")
def _id_shared(call: HeldCall) -> HeldCall:
    """Keeps one id for all calls of a response.

    The provider sent one id for all of them, and `reference` made it unique.
    """
    return replace(call, id=call.id.removesuffix(f"-{call.index}"))


@edits_call("ids-counted-per-response", "CALL-ID-FRESH")
def _counted(call: HeldCall) -> HeldCall:
    """Generates ids from the number of the call in its response."""
    return replace(call, id=f"call_{call.index}") if _GENERATED.fullmatch(call.id) else call


@edits_calls("last-call-dropped", "CALLS-KEPT", before=Finish)
def _last_dropped(calls: list[HeldCall]) -> list[HeldCall]:
    """Loses the last of several calls."""
    return calls[:-1] if len(calls) > 1 and calls[-1].error is None else calls


@edits_calls("calls-dropped", "CALLS-KEPT", before=Finish)
def _all_dropped(calls: list[HeldCall]) -> list[HeldCall]:
    """Loses all calls, and keeps the finish reason that announces them."""
    return [] if all(call.error is None for call in calls) else calls


@edits_calls("last-call-repeated", "CALLS-NOT-INVENTED", before=Finish)
def _last_repeated(calls: list[HeldCall]) -> list[HeldCall]:
    """Emits the last call twice, as on a second finish chunk."""
    if not calls or calls[-1].error is not None:
        return calls
    return [*calls, replace(calls[-1], index=len(calls), id=calls[-1].id + "_again")]


@edits_calls("calls-reversed", "CALL-ORDER", before=Finish)
def _reversed(calls: list[HeldCall]) -> list[HeldCall]:
    """Emits calls in the wrong order, unless two of them are alike."""
    if len({(call.name, call.arguments) for call in calls}) < len(calls):
        return calls
    return [replace(call, index=index) for index, call in enumerate(reversed(calls))]


@edits_delta("index-from-one", "CALL-INDEX-NEUTRAL")
def _index_from_one(delta: Delta) -> Iterable[Delta]:
    """Forwards the provider's own index of a call."""
    yield replace(delta, index=delta.index + 1) if isinstance(delta, CallDelta) else delta


@edits_call("numbers-rounded", "CALL-ARGUMENTS-EXACT")
def _rounded(call: HeldCall) -> HeldCall:
    """Reads integers as doubles, as JavaScript's JSON.parse does, so that large ids change."""
    if call.error is not None or call.kind != "function":
        return call
    return replace(call, arguments=_through_doubles(call.arguments))


def _through_doubles(text: str) -> str:
    if not text.strip():
        return text
    return json.dumps(json.loads(text, parse_int=_through_double))


def _through_double(digits: str) -> int:
    try:
        return int(float(digits))
    except OverflowError:  # too large for a double
        return int(digits)


@edits_call("arguments-unchecked", "ARGUMENTS-USABLE", before=Finish)
def _unchecked(call: HeldCall) -> HeldCall:
    """Executes calls without a check of their arguments."""
    named = call.name and call.arguments and call.kind == "function"
    return replace(call, error=None) if named and parse(call.arguments).value is None else call


@edits_call("broken-run-empty", "BROKEN-CALL-NOT-RUN", before=Finish)
def _run_empty(call: HeldCall) -> HeldCall:
    """Runs a call with {} if its arguments cannot be parsed."""
    return replace(call, arguments="{}", error=None) if call.error and call.name else call


@edits_call("truncated-run", "TRUNCATED-CALL-NOT-RUN", before=StreamFailure)
def _run_truncated(call: HeldCall) -> HeldCall:
    """Executes the open calls of an interrupted stream."""
    return replace(call, error=None) if call.name else call


@edits_calls("broken-dropped", "PARSE-ERROR-REPORTED", before=Finish)
def _broken_dropped(calls: list[HeldCall]) -> list[HeldCall]:
    """Drops a broken last call without a report if a usable one is left."""
    good = [call for call in calls if call.error is None]
    if not good or calls[-1].error is None:
        return calls
    return calls[:-1]


@edits_calls("batch-killed", "GOOD-CALL-NOT-REJECTED", before=Finish)
def _all_rejected(calls: list[HeldCall]) -> list[HeldCall]:
    """Rejects all calls of a turn because one is broken."""
    if all(call.error is None for call in calls):
        return calls
    error = ParseError("tool_use", "a sibling was broken")
    return [replace(call, error=call.error or error) for call in calls]


@edits_calls("stub-reported", "PARSE-ERROR-NOT-INVENTED", before=Finish)
def _stub_reported(calls: list[HeldCall]) -> list[HeldCall]:
    """Reports a call that the stream does not contain."""
    if not calls:
        return calls
    stub = HeldCall(len(calls), "stub", "", "", ParseError("tool_use", "a call without a name"))
    return [*calls, stub]


@edits_call("error-untold", "PARSE-ERROR-TOLD")
def _without_reason(call: HeldCall) -> HeldCall:
    """Rejects a call without a reason."""
    empty = ParseError("tool_use", "")
    return replace(call, error=empty) if call.error else call


@edits_call("nameless-named", "PARSE-ERROR-NAME", text_calls=True)
def _nameless_named(call: HeldCall) -> HeldCall:
    """Reports rejected calls without a name under an invented one."""
    return call if call.name or call.error is None else replace(call, name="unknown_tool")


@edits_call("error-unidentified", "PARSE-ERROR-IDENTIFIED")
def _unidentified(call: HeldCall) -> HeldCall:
    """Reports a rejected call under another id."""
    return replace(call, id=f"rejected-{call.index}") if call.error else call
