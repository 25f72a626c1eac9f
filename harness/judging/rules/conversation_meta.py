"""Rules about what an agent says of itself: complete, as expected, and true.

What it says is held against what it really sent and ran.
"""

from collections.abc import Iterator

from harness.conversation.conversation import Probe, TurnRecord
from harness.judging.conversations.evidence import ConversationEvidence, RequestEvidence
from harness.judging.conversations.oracle_reply import OracleReply
from harness.judging.conversations.rule import ConversationRule
from harness.judging.conversations.script import ExpectedReport, ProbeResult
from harness.judging.results import Outcome
from harness.judging.rule import Violation
from harness.turns.deltas import ParseError


def _records(seen: ConversationEvidence) -> tuple[TurnRecord, ...]:
    return seen.record.conversation.turns if seen.record.conversation else ()


def _parse_errors(seen: ConversationEvidence) -> Iterator[Violation]:
    wanted = seen.script.expect.parse_errors
    reported = [error for record in _records(seen) for error in record.meta.parse_errors]
    if wanted is None:
        return
    if isinstance(wanted, int):
        if len(reported) != wanted:
            yield Violation("parse_errors", wanted, _errors_text(reported))
        return
    for place, expected in enumerate(wanted):
        match = next((error for error in reported if _fits(expected, error)), None)
        if match is None:
            yield Violation(f"parse_errors[{place}]", expected, _errors_text(reported))
        else:
            reported.remove(match)
    if reported:
        yield Violation("parse_errors", "no others", _errors_text(reported))


def _fits(expected: ExpectedReport, error: ParseError) -> bool:
    return (
        expected.name in ("", error.name)
        and expected.snippet in error.snippet
        and expected.mode in (None, error.mode)
    )


def _errors_text(errors: list[ParseError]) -> str:
    said = "; ".join(f"{error.mode} {error.name} {error.snippet!r}" for error in errors)
    return f"{len(errors)}: {said}" if errors else "0"


def _retries(seen: ConversationEvidence) -> Iterator[Violation]:
    found = sum(record.meta.retries for record in _records(seen))
    if found != seen.script.expect.retries:
        yield Violation("retries", seen.script.expect.retries, found)


def _strategy(seen: ConversationEvidence) -> Iterator[Violation]:
    wanted = seen.script.expect.strategy
    for place, record in enumerate(_records(seen)):
        said = record.meta.strategy
        if wanted is not None and said and said != wanted:
            yield Violation(f"turns[{place}].meta.strategy", wanted, said)


def _probe(seen: ConversationEvidence) -> Iterator[Violation]:
    wanted = seen.script.expect.probe
    probes = [record.meta.probe for record in _records(seen) if record.meta.probe]
    found: ProbeResult = probe_result(probes[0]) if probes else "none"
    if wanted is not None and found != wanted:
        yield Violation("turns[0].meta.probe", wanted, found)


def probe_result(probe: Probe) -> ProbeResult:
    """Return how a probe ended, in the words of scenarios."""
    if probe.error:
        return "error"
    return "ok" if probe.ok else "no"


def _honest(seen: ConversationEvidence) -> Iterator[Violation]:
    """Walk through requests and records together: each must be there for the other."""
    left = list(enumerate(seen.asked))
    for place, record in enumerate(_records(seen)):
        if record.meta.probe is not None and left:
            _, probe = left.pop(0)
            yield from _honest_probe(place, record.meta.probe, probe)
        if not left:
            yield Violation(f"turns[{place}]", "a turn for which a request was sent", "none was")
            return
        number, asked = left.pop(0)
        yield from _honest_turn(seen, place, record, number, asked)
    if left:
        missing = " ".join(f"requests[{number}]" for number, _ in left)
        yield Violation("turns", "a record of each request", f"none of {missing}")


def _honest_probe(place: int, said: Probe, probe: RequestEvidence) -> Iterator[Violation]:
    really = _has_native_calls(probe.truth)
    if really is not None and said.ok != really:
        found = f"ok: {said.ok}, and the reply {'holds a call' if really else 'holds none'}"
        yield Violation(f"turns[{place}].meta.probe", f"ok: {really}", found)


def _has_native_calls(truth: OracleReply) -> bool | None:
    """Return whether a reply uses the field for calls, well or not; None where that is open."""
    if truth.calls is None or truth.cut:
        return None
    return bool(truth.calls or truth.rejected)


def _honest_turn(
    seen: ConversationEvidence, place: int, record: TurnRecord, number: int, asked: RequestEvidence
) -> Iterator[Violation]:
    declares = asked.tools is not None
    claims = {"tool_use": True, "json_fallback": False}.get(record.meta.strategy)
    if claims is not None and seen.task.tools and claims != declares:
        sent = "declares tools" if declares else "declares no tools"
        yield Violation(
            f"turns[{place}].meta.strategy", record.meta.strategy, f"the request {sent}"
        )
    ran = sum(run.after == number + 1 for run in seen.runs)
    if len(record.executed) != ran:
        yield Violation(f"turns[{place}].executed", f"{ran} calls", f"{len(record.executed)} ids")


RULES = (
    ConversationRule(
        "CONV-PARSE-ERRORS",
        "MUST",
        "Each call that cannot be used is reported once.",
        Outcome.MISMATCH,
        ("BATCH-ONE-BAD",),
        _parse_errors,
        yields_to=frozenset(("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING")),
    ),
    ConversationRule(
        "CONV-RETRIES",
        "MUST",
        "Compensating requests are counted.",
        Outcome.MISMATCH,
        ("LOOP-PARSE-RETRY",),
        _retries,
        yields_to=frozenset(
            ("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-UNPLAYED", "CONV-SURPLUS-REQUEST")
        ),
    ),
    ConversationRule(
        "CONV-STRATEGY",
        "MUST",
        "Tools are offered in the way that the provider's capabilities call for.",
        Outcome.MISMATCH,
        (),
        _strategy,
    ),
    ConversationRule(
        "CONV-PROBE",
        "MUST",
        "A probe is sent where capabilities are undeclared, and its end is told.",
        Outcome.MISMATCH,
        (),
        _probe,
    ),
    ConversationRule(
        "CONV-META-HONEST",
        "MUST",
        "What an agent says of its turns is what it sent and ran.",
        Outcome.MISMATCH,
        (),
        _honest,
    ),
)
