"""Miniatures that damage arguments, or run what must not be run."""

import json

from msgspec.structs import replace

from harness.normalizers.mutants.edit import End, HeldCall, editing_calls, mutant
from harness.turns.arguments import parse
from harness.turns.deltas import Finish, ParseError


def _rounded(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    """Re-serialise through double precision, as JavaScript's JSON.parse does."""
    return [
        replace(call, arguments=_through_doubles(call.arguments))
        if call.error is None and call.kind == "function"
        else call
        for call in calls
    ]


def _through_doubles(text: str) -> str:
    if not text.strip():
        return text
    value = json.loads(text, parse_int=lambda digits: int(float(digits)))
    return json.dumps(value)


def _unchecked(calls: list[HeldCall], end: End) -> list[HeldCall]:
    if not isinstance(end, Finish):
        return calls
    return [
        replace(call, error=None) if call.name and call.arguments and _unusable(call) else call
        for call in calls
    ]


def _unusable(call: HeldCall) -> bool:
    return parse(call.arguments).value is None


def _run_empty(calls: list[HeldCall], end: End) -> list[HeldCall]:
    if not isinstance(end, Finish):
        return calls
    return [
        replace(call, arguments="{}", error=None) if call.error and call.name else call
        for call in calls
    ]


def _run_truncated(calls: list[HeldCall], end: End) -> list[HeldCall]:
    if isinstance(end, Finish):
        return calls
    return [replace(call, error=None) if call.name else call for call in calls]


def _broken_dropped(calls: list[HeldCall], end: End) -> list[HeldCall]:
    """Drop a broken last call in silence where a good one is left."""
    good = [call for call in calls if call.error is None]
    if not isinstance(end, Finish) or not good or calls[-1].error is None:
        return calls
    return calls[:-1]


def _all_rejected(calls: list[HeldCall], end: End) -> list[HeldCall]:
    if not isinstance(end, Finish) or all(call.error is None for call in calls):
        return calls
    error = ParseError("tool_use", "a sibling was broken")
    return [replace(call, error=call.error or error) for call in calls]


def _stub_reported(calls: list[HeldCall], end: End) -> list[HeldCall]:
    if not isinstance(end, Finish) or not calls:
        return calls
    stub = HeldCall(len(calls), "stub", "", "", ParseError("tool_use", "a call without a name"))
    return [*calls, stub]


def _untold(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    untold = ParseError("tool_use", "")
    return [replace(call, error=untold) if call.error else call for call in calls]


def _unidentified(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    return [
        replace(call, id=f"rejected-{place}") if call.error else call
        for place, call in enumerate(calls)
    ]


MINIATURES = (
    mutant(
        "numbers-rounded",
        "CALL-ARGUMENTS-EXACT",
        "reads integers as doubles, so that large ids change",
        editing_calls(_rounded),
    ),
    mutant(
        "arguments-unchecked",
        "ARGUMENTS-USABLE",
        "executes calls whatever their arguments are",
        editing_calls(_unchecked),
    ),
    mutant(
        "broken-run-empty",
        "BROKEN-CALL-NOT-RUN",
        "runs a call with {} where its arguments do not parse",
        editing_calls(_run_empty),
    ),
    mutant(
        "truncated-run",
        "TRUNCATED-CALL-NOT-RUN",
        "executes the open calls of a stream that broke off",
        editing_calls(_run_truncated),
    ),
    mutant(
        "broken-dropped",
        "PARSE-ERROR-REPORTED",
        "drops a broken call beside a good one without a word",
        editing_calls(_broken_dropped),
    ),
    mutant(
        "batch-killed",
        "GOOD-CALL-NOT-REJECTED",
        "rejects all calls of a turn because one is broken",
        editing_calls(_all_rejected),
    ),
    mutant(
        "stub-reported",
        "PARSE-ERROR-NOT-INVENTED",
        "reports a call that the stream does not hold",
        editing_calls(_stub_reported),
    ),
    mutant(
        "error-untold",
        "PARSE-ERROR-TOLD",
        "rejects a call without saying why",
        editing_calls(_untold),
    ),
    mutant(
        "error-unidentified",
        "PARSE-ERROR-IDENTIFIED",
        "reports a rejected call under an id of its own",
        editing_calls(_unidentified),
    ),
)
