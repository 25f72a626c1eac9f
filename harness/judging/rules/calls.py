"""Define rules about calls: the client emits all of them, with name and id, and in order."""

from collections import Counter
from collections.abc import Iterator

from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.random_values import sent_ids
from harness.judging.reasons import or_rejected
from harness.judging.rule import Violation
from harness.judging.rules.markup import markers_in_name
from harness.judging.rules.stream_content import as_sent, sent_ids_of_calls
from harness.results.outcome import Outcome
from harness.turns.arguments import meaning

# The stream contains several ids for a call.
_ID_CHANGES = {"DELTA-ID-CHANGES", "RESP-CALL-ID-CHANGES", "RESP-TWO-IDS-TWICE"}
_NAME_REPEATED = "DELTA-NAME-REPEATED"
_EMPTY_OUTPUT = "RESP-COMPLETED-OUTPUT-EMPTY"
_REPEATED = "GEM-SIGNATURE-OVERWRITTEN"
_OF_PROVIDER = "RESP-PROVIDER-CUSTOM-CALL"


@turn_rule("CALL-NAMED", Outcome.LOST_CALL)
def _named(evidence: TurnEvidence) -> Iterator[Violation]:
    for index, call in enumerate(evidence.turn.tool_calls):
        if not call.name:
            # A call that is paired has a name in the stream, which the client lost. If calls are
            # not judged, it is not known what the stream contains.
            known = "calls" in evidence.judged and evidence.expected_call(index) is not None
            came = as_sent(is_sent=not known)
            yield Violation(f"calls[{index}].name", "a name", "", came=came)


@turn_rule("CALL-NAME-EXACT", Outcome.SILENT_WRONG, field="calls")
def _name_exact(evidence: TurnEvidence) -> Iterator[Violation]:
    for index, expected, call in evidence.paired_calls():
        if call.name and call.name != expected.name and not markers_in_name(call, expected):
            is_joined = not call.name.replace(expected.name, "")
            came = as_sent(is_sent=is_joined and _NAME_REPEATED in evidence.oracle.quirks)
            yield Violation(f"calls[{index}].name", expected.name, call.name, came=came)
        if call.namespace != expected.namespace:
            yield Violation(f"calls[{index}].namespace", expected.namespace, call.namespace)


@turn_rule("CALL-ID-PRESENT", Outcome.MISMATCH)
def _id_present(evidence: TurnEvidence) -> Iterator[Violation]:
    for index, call in enumerate(evidence.turn.tool_calls):
        if not call.id and evidence.exposes_ids:
            expected = evidence.expected_call(index)
            came = as_sent(is_sent=expected is None or expected.id is None)
            yield Violation(f"calls[{index}].id", "an id", "", came=came)


@turn_rule("CALL-ID-EXACT", Outcome.MISMATCH, field="calls")
def _id_exact(evidence: TurnEvidence) -> Iterator[Violation]:
    for index, expected, call in evidence.paired_calls():
        if evidence.exposes_ids and expected.id is not None and call.id not in ("", expected.id):
            came = as_sent(is_sent=not _ID_CHANGES.isdisjoint(evidence.oracle.quirks))
            yield Violation(f"calls[{index}].id", expected.id, call.id, came=came)


@turn_rule("CALL-IDS-UNIQUE", Outcome.MISMATCH)
def _ids_unique(evidence: TurnEvidence) -> Iterator[Violation]:
    known: set[str] = set()
    sent = sent_ids_of_calls(evidence)
    for index, call in enumerate(evidence.turn.tool_calls):
        if call.id and call.id in known:
            came = as_sent(is_sent=sent is None or sent.count(call.id) > 1)
            expected = "an id that no other call has"
            yield Violation(f"calls[{index}].id", expected, call.id, came=came)
        known.add(call.id)


@turn_rule("CALL-ID-FRESH", Outcome.MISMATCH)
def _id_fresh(evidence: TurnEvidence) -> Iterator[Violation]:
    for index, call in enumerate(evidence.turn.tool_calls):
        if evidence.exposes_ids and call.id in evidence.earlier:
            other = f"an id that no call of turns[{evidence.earlier[call.id]}] has"
            yield Violation(f"calls[{index}].id", other, call.id)


@turn_rule("CALLS-KEPT", Outcome.LOST_CALL, field="calls")
def _emitted(evidence: TurnEvidence) -> Iterator[Violation]:
    rejected = {error.name for error in evidence.pairing.unexpected}
    unnamed = sum(not error.name for error in evidence.pairing.unexpected)
    for index in () if evidence.invents_failure else evidence.pairing.missing:
        expected = evidence.expectation.calls[index]
        if expected.name not in rejected:
            text = f"{expected.name} {expected.json_text}"
            text = or_rejected(text, evidence, expected.name, expected.id or "")
            came = as_sent(is_sent=_EMPTY_OUTPUT in evidence.oracle.quirks)
            # A client that joins calls by a wrong index rejects them under their joined names.
            if not came and expected.name and any(expected.name in name for name in rejected):
                came = evidence.form_of_calls
            if unnamed and not came:  # the client may have rejected this call
                unnamed, came = unnamed - 1, evidence.form_of_calls
            yield Violation(f"calls[{index}]", text, "no such call", came=came)


@turn_rule("CALLS-NOT-INVENTED", Outcome.SILENT_WRONG)
def _not_invented(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.expectation.failure is not None:
        return
    if "calls" not in evidence.judged:
        yield from _beyond_most_calls(evidence)
        return
    for index in evidence.pairing.surplus:
        call = evidence.turn.tool_calls[index]
        if call.name and not evidence.is_unreported(call):
            came = as_sent(is_sent=_is_handed_over(evidence, index))
            actual = f"{call.name} {call.arguments}"
            text = or_rejected("no call", evidence, call.name, call.id)
            yield Violation(f"calls[{index}]", text, actual, came=came)


def _is_handed_over(evidence: TurnEvidence, index: int) -> bool:
    """Return whether the stream contains the call in a form that a client may hand over.

    It came twice, or the provider shows its own call in the form of a client's custom call, and an
    SDK does not know the tools of its caller.
    """
    quirks, call = evidence.oracle.quirks, evidence.turn.tool_calls[index]
    if evidence.kind == "sdk" and call.kind == "custom" and _OF_PROVIDER in quirks:
        return bool(call.id and sent_ids((call.id,), (evidence.interaction.body,)))
    return _REPEATED in quirks and _is_again(evidence, index)


def _is_again(evidence: TurnEvidence, index: int) -> bool:
    """Return whether another call of the turn has the same name and arguments."""
    calls = evidence.turn.tool_calls
    call = calls[index].name, meaning(calls[index].arguments)
    return any(
        (each.name, meaning(each.arguments)) == call
        for each in (*calls[:index], *calls[index + 1 :])
    )


def _beyond_most_calls(evidence: TurnEvidence) -> Iterator[Violation]:
    """Check that the client invents no call if calls may be missing, by names and arguments."""
    if not evidence.expectation.calls_at_most:
        return
    left = Counter((it.name, meaning(it.json_text)) for it in evidence.expectation.calls)
    # `CALL-NO-MARKUP` reports an expected call whose name contains a marker.
    marked = {i for i, expected, it in evidence.paired_calls() if markers_in_name(it, expected)}
    for index, call in enumerate(evidence.turn.tool_calls):
        key = call.name, meaning(call.arguments)
        if call.name and not left[key] and index not in marked:
            yield Violation(f"calls[{index}]", "no such call", f"{call.name} {call.arguments}")
        left[key] -= 1


@turn_rule("CALL-ORDER", Outcome.MISMATCH, field="calls")
def _order(evidence: TurnEvidence) -> Iterator[Violation]:
    indexes = [actual for _, actual in evidence.pairing.pairs]
    if indexes != sorted(indexes):
        expected = [call.name for call in evidence.expectation.calls]
        yield Violation("calls", expected, [call.name for call in evidence.turn.tool_calls])
