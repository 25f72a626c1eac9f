"""Derive the expected result from the oracle's reading, for cassettes without a scenario.

Only what is certain from the bytes is judged. If a normalizer declares a policy, it is not compared
with readings that contradict the policy.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from harness.dialects.kit.oracle.values import Arguments, read_arguments
from harness.normalizers.protocol import Hidden, Normalizer
from harness.results.expectation import (
    COUNTED_FIELDS,
    UNSPECIFIED,
    Expectation,
    ExpectedCall,
    ExpectedRejection,
    Field,
)
from harness.turns.deltas import CUT_SHORT, FinishReason
from harness.turns.oracle_reading import CallReading, OracleReading

# Bodies that are not an answer of the API, and calls that were announced and never came.
_ANNOUNCED = "FINISH-TOOLCALLS-WITHOUT-CALLS"
NO_ANSWER = frozenset({"HTTP-HTML-BODY", "STREAM-NO-EVENTS", _ANNOUNCED})
ANY_CODE = "*"
# A complete document answers a request for a stream. A client may read it, or fail.
_NOT_STREAMED = "JSON-FOR-STREAM"

# Each report of a call or an error must quote this many characters.
_QUOTED_CHARACTERS = 80
# Finish values of other APIs for a truncated turn, in lower case.
MAY_CUT_SHORT = frozenset(
    {
        "length", "content_filter", "max_tokens", "max_output_tokens", "model_length",
        "model_context_window",
        "safety", "recitation", "sensitive", "refusal",
    }
)  # fmt: skip
# Finish values of other APIs, and the contract's own in another case: a normalizer may read them
# as a value of the contract.
ANNOUNCEMENTS = frozenset({"tool_calls", "function_call", "tool_use", "tool_call"})
_WORDS_OF_OTHER_APIS = MAY_CUT_SHORT | ANNOUNCEMENTS | frozenset(
    {
        "stop", "end_turn", "eos", "eos_token", "end", "complete", "completed", "done",
        "stop_sequence",
    }
)  # fmt: skip


def expectation_from(reading: OracleReading) -> Expectation:
    """Return the expected result for `reading`, with its alternatives as alternatives."""
    first, *others = (
        expected for each in (reading, *reading.alternatives) for expected in _expected(each)
    )
    return msgspec.structs.replace(first, alternatives=tuple(others))


def _expected(reading: OracleReading) -> Iterator[Expectation]:
    """Yield the expected result of a reading for each possible meaning of its finish value."""
    one = _expectation(reading)
    yield one
    if "finish" in one.judged and not _finish_is_certain(reading):
        for finish in _finishes_of_other_apis(reading):
            yield msgspec.structs.replace(one, finish=finish)


def _expectation(reading: OracleReading) -> Expectation:
    calls, rejected = _usable_and_rejected_calls(reading)
    judged = _judged_fields(reading)
    return Expectation(
        source="oracle",
        text=reading.text,
        reasoning=reading.reasoning,
        calls=calls,
        rejected=rejected,
        finish=_expected_finish(reading) if reading.ended else None,
        finish_raw=reading.finish,
        failure=expected_failure(reading),
        failure_says=reading.error[1][:_QUOTED_CHARACTERS] if reading.error else "",
        judged=frozenset(judged),
        has_text_calls=reading.loose_space,
        loose_space=reading.loose_space,
        usage=next(iter(reading.usages or ()), None),
        may_fail=_NOT_STREAMED in reading.quirks or _ends_without_reason(reading),
        decisions=dict(reading.decisions),
    )


def _ends_without_reason(reading: OracleReading) -> bool:
    """Return whether the stream ends without a finish value, so that a client may fail."""
    return reading.ended and not reading.finishes


def expected_failure(reading: OracleReading) -> str | None:
    """Return the code with which the turn must fail; None if it must not fail."""
    if reading.error is not None or _is_no_answer(reading):
        return ANY_CODE
    if not reading.ended:
        return ANY_CODE if reading.damaged or _is_empty(reading) else "interrupted"
    return "refusal" if reading.refusal else None


def _is_empty(reading: OracleReading) -> bool:
    """Return whether the body has no complete event, so that it is both empty and interrupted."""
    return not (reading.text or reading.reasoning or reading.finishes) and reading.calls == ()


def _is_no_answer(reading: OracleReading) -> bool:
    """Return whether the body is not an answer of the API, such as an HTML page."""
    kept = frozenset((_ANNOUNCED,) if reading.text_markup else ())
    return not NO_ANSWER.isdisjoint(reading.quirks - kept)


def usable_arguments(call: CallReading, reading: OracleReading) -> Arguments:
    """Return the value of the arguments of `call`, if it may be executed.

    Empty text means an empty object if the turn is complete. It has no value if the turn was
    truncated, because the arguments may have been lost. If the API does not document the finish
    value, it is unknown which of the two happened.
    """
    if call.kind == "custom":
        return Arguments(
            None if reading.meaning in CUT_SHORT else {}, certain=bool(reading.meaning)
        )
    arguments = read_arguments(call.arguments)
    if call.kind == "action" and arguments.is_json:  # of any type
        return msgspec.structs.replace(arguments, value=arguments.value or {})
    if not arguments.empty or reading.meaning in CUT_SHORT:
        return arguments
    if reading.finish and reading.meaning is None:
        return msgspec.structs.replace(arguments, certain=False)
    return msgspec.structs.replace(arguments, value={})


def _judged_fields(reading: OracleReading) -> set[Field]:
    judged: set[Field] = set()
    failed = expected_failure(reading) is not None
    parts: tuple[Literal["text", "reasoning"], ...] = ("text", "reasoning")
    judged.update(part for part in parts if reading.knows(part))
    if reading.usages is not None and not failed and reading.knows("end"):
        judged.add("usage")
    if not reading.knows("end"):
        return judged | {"calls", "rejected"} if reading.calls == () else judged
    if reading.calls is not None and all(
        usable_arguments(call, reading).certain for call in reading.calls
    ):
        judged |= {"calls", "rejected"}
    elif failed:
        # No call of a failed turn may be executed, whichever deltas form one.
        judged.add("calls")
    if failed or reading.calls is not None:
        judged.add("failure")
    if reading.calls is not None and (
        _finish_is_certain(reading) or (not failed and _finishes_of_other_apis(reading))
    ):
        judged.add("finish")
    if reading.calls is not None and not failed and len(reading.finishes) == 1:
        judged.add("finish_raw")
    return judged


def reasons_not_judged(expectation: Expectation, reading: OracleReading) -> dict[Field, str]:
    """Return why each field in `COUNTED_FIELDS` is not judged, if it is not.

    If the turn must fail, the failure counts as its finish. A reason is the id of a quirk, or a
    phrase.
    """
    ended = {"finish"} if expectation.failure and "failure" in expectation.judged else set()
    unjudged = [it for it in COUNTED_FIELDS if it not in expectation.judged | ended]
    if expectation.source == "scenario":
        return dict.fromkeys(unjudged, UNSPECIFIED) | _of_fields(expectation.unsaid, unjudged)
    unknown: dict[str, str] = dict(reading.unknown)
    calls = unknown.get("calls") or unknown.get("end") or "arguments that may be complete or not"
    if "end" not in unknown and reading.calls is not None:
        certain = _finish_is_certain(reading)
        word = f"finish value {reading.finish!r} of another API"
        unknown["end"] = "a policy of the normalizer" if certain else word
    reasons = unknown | {"finish": unknown.get("end", calls)}
    found = {field: reasons.get(field, calls) for field in unjudged}
    return found | _of_fields(expectation.unsaid, unjudged)


def _of_fields(reasons: Mapping[Field, str], fields: Iterable[Field]) -> dict[Field, str]:
    return {field: reasons[field] for field in fields if field in reasons}


def _finish_is_certain(reading: OracleReading) -> bool:
    failure = expected_failure(reading)
    if failure is not None:
        return reading.error is None and not reading.ended and not _is_no_answer(reading)
    return reading.meaning is not None or reading.finish.casefold() not in _WORDS_OF_OTHER_APIS


def _finishes_of_other_apis(reading: OracleReading) -> tuple[FinishReason, ...]:
    """Return what the finish value means in other APIs; () if it may announce the calls."""
    word = reading.finish.casefold()
    if reading.calls or word in ANNOUNCEMENTS:
        return ()
    return tuple(sorted(CUT_SHORT)) if word in MAY_CUT_SHORT else (FinishReason.STOP,)


def _expected_finish(reading: OracleReading) -> FinishReason:
    if reading.meaning in CUT_SHORT:
        return reading.meaning
    if reading.calls:
        return FinishReason.TOOL_CALLS
    return reading.meaning or (FinishReason.OTHER if reading.finish else FinishReason.STOP)


def _usable_and_rejected_calls(
    reading: OracleReading,
) -> tuple[tuple[ExpectedCall, ...], tuple[ExpectedRejection, ...]]:
    failed = expected_failure(reading) is not None
    calls: list[ExpectedCall] = []
    rejected: list[ExpectedRejection] = []
    ids: set[str] = set()
    for call in reading.calls or ():
        arguments = usable_arguments(call, reading)
        value = arguments.value
        # Two calls cannot have the same id.
        own = call.id if call.id not in ids else ""
        if call.kind == "action" and call.rejected:
            rejected.append(ExpectedRejection(call.name, "", own or None))
        elif call.rejected:  # by this reading its pieces are not one call
            rejected.append(ExpectedRejection())
        elif failed or value is None or not call.name:
            snippet = "" if call.from_object else call.arguments[:_QUOTED_CHARACTERS]
            rejected.append(ExpectedRejection(call.name, snippet, own or None))
        else:
            text = "" if arguments.empty else call.arguments
            calls.append(
                ExpectedCall(call.name, value, own or None, text, call.kind, call.namespace)
            )
        ids.add(call.id)
    return tuple(calls), tuple(rejected)


# Policies that decide in each case, so that they admit each answer.
_BY_THE_BYTES: Mapping[str, str] = {"names": "by-tools"}
_END_FIELDS: frozenset[Field] = frozenset(("failure", "finish", "finish_raw"))


# Fields of the expected turn that a client does not expose.
_HIDDEN_FIELDS: Mapping[Hidden, frozenset[Field]] = {
    "ids": frozenset(),
    "text": frozenset(("text",)),
    "reasoning": frozenset(("reasoning",)),
    "finish": frozenset(("finish", "finish_raw")),
    "finish_raw": frozenset(("finish_raw",)),
    "usage": frozenset(("usage",)),
}
NOT_EXPOSED = "not exposed by the client"


def hidden_fields(normalizer: Normalizer) -> frozenset[Field]:
    """Return the fields of a turn that `normalizer` does not expose."""
    return frozenset().union(*(_HIDDEN_FIELDS[each] for each in normalizer.hides))


def apply_declarations(expectation: Expectation, normalizer: Normalizer) -> Expectation:
    """Return `expectation` as it applies to a normalizer with these declarations.

    The rules do not judge fields that the normalizer does not expose. For a cassette without a
    scenario, this leaves out alternatives that contradict a policy of the normalizer. A normalizer
    that declares to drop calls without a name need not report them.
    """
    if expectation.source == "oracle":
        # A client that reads a text dialect must find the calls that the prompt describes in it.
        policies = normalizer.policies | dict.fromkeys(normalizer.text_dialects, "calls")
        expectation = _apply_policies(expectation, policies)
    hidden = hidden_fields(normalizer)
    if not hidden:
        return expectation
    first, *others = (
        msgspec.structs.replace(each, judged=each.judged - hidden, alternatives=())
        for each in expectation.readings
    )
    return msgspec.structs.replace(first, alternatives=tuple(others))


def _apply_policies(expectation: Expectation, policies: Mapping[str, str]) -> Expectation:
    admitted = [each for each in expectation.readings if _is_admitted(each, policies)]
    if not admitted:
        return expectation
    if policies.get("nameless") == "drop":
        admitted = list(map(_without_nameless, admitted))
    return msgspec.structs.replace(admitted[0], alternatives=tuple(admitted[1:]))


def _is_admitted(expectation: Expectation, policies: Mapping[str, str]) -> bool:
    """Return whether the declared policies allow this expected result."""
    return all(
        policies.get(question, answer) in (answer, _BY_THE_BYTES.get(question))
        for question, answer in expectation.decisions.items()
    )


def _without_nameless(expectation: Expectation) -> Expectation:
    named = [each for each in expectation.rejected if each.name]
    if len(named) == len(expectation.rejected):
        return expectation
    judged = expectation.judged - {"rejected"}
    if not named and not expectation.calls and expectation.failure is None:
        judged -= _END_FIELDS
    return msgspec.structs.replace(expectation, judged=judged)
