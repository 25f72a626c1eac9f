"""Rules about the calls themselves: that they are there, named, identified and in order."""

from collections import Counter
from collections.abc import Iterator

from harness.judging.results import Outcome
from harness.judging.rule import Rule, TurnEvidence, Violation, arguments_text, unreported_names
from harness.judging.rules.markup import markers_in_name
from harness.turns.arguments import meaning
from harness.turns.deltas import ToolCall


def _pairs(seen: TurnEvidence) -> Iterator[tuple[int, ToolCall]]:
    if "calls" in seen.expectation.judged:
        for expected, actual in seen.pairing.pairs:
            yield expected, seen.replay.turn.tool_calls[actual]


def _named(seen: TurnEvidence) -> Iterator[Violation]:
    for place, call in enumerate(seen.replay.turn.tool_calls):
        if not call.name:
            yield Violation(f"calls[{place}].name", "a name", "")


def _name_exact(seen: TurnEvidence) -> Iterator[Violation]:
    for place, call in _pairs(seen):
        wanted = seen.expectation.calls[place]
        if call.name and call.name != wanted.name and not markers_in_name(call, wanted):
            yield Violation(f"calls[{place}].name", wanted.name, call.name)


def _id_present(seen: TurnEvidence) -> Iterator[Violation]:
    for place, call in enumerate(seen.replay.turn.tool_calls):
        if not call.id:
            yield Violation(f"calls[{place}].id", "an id", "")


def _id_exact(seen: TurnEvidence) -> Iterator[Violation]:
    for place, call in _pairs(seen):
        expected = seen.expectation.calls[place].id
        if expected is not None and call.id and call.id != expected:
            yield Violation(f"calls[{place}].id", expected, call.id)


def _ids_unique(seen: TurnEvidence) -> Iterator[Violation]:
    known: set[str] = set()
    for place, call in enumerate(seen.replay.turn.tool_calls):
        if call.id and call.id in known:
            yield Violation(f"calls[{place}].id", "an id that no other call has", call.id)
        known.add(call.id)


def _kept(seen: TurnEvidence) -> Iterator[Violation]:
    if "calls" not in seen.expectation.judged:
        return
    rejected = {error.name for error in seen.pairing.unexpected}
    for place in seen.pairing.missing:
        expected = seen.expectation.calls[place]
        if expected.name not in rejected:
            yield Violation(
                f"calls[{place}]", f"{expected.name} {arguments_text(expected)}", "no such call"
            )


def _not_invented(seen: TurnEvidence) -> Iterator[Violation]:
    if seen.expectation.failure is not None:
        return
    if "calls" not in seen.expectation.judged:
        yield from _beyond(seen)
        return
    rejections = unreported_names(seen.expectation, seen.pairing)
    for place in seen.pairing.surplus:
        call = seen.replay.turn.tool_calls[place]
        if call.name and call.name not in rejections and "" not in rejections:
            yield Violation(f"calls[{place}]", "no call", f"{call.name} {call.arguments}")


def _beyond(seen: TurnEvidence) -> Iterator[Violation]:
    """Where calls may be missing, any other name or arguments make a call that nobody made."""
    if not seen.expectation.calls_at_most:
        return
    left = Counter((it.name, meaning(arguments_text(it))) for it in seen.expectation.calls)
    for place, call in enumerate(seen.replay.turn.tool_calls):
        said = call.name, meaning(call.arguments)
        if not left[said]:
            yield Violation(f"calls[{place}]", "no such call", f"{call.name} {call.arguments}")
        left[said] -= 1


def _order(seen: TurnEvidence) -> Iterator[Violation]:
    if "calls" not in seen.expectation.judged:
        return
    places = [actual for _, actual in seen.pairing.pairs]
    if places != sorted(places):
        names = [call.name for call in seen.expectation.calls]
        actual = [call.name for call in seen.replay.turn.tool_calls]
        yield Violation("calls", names, actual)


RULES = (
    Rule(
        "CALL-NAMED",
        "MUST",
        "A call that may be executed has a name.",
        Outcome.LOST_CALL,
        ("DELTA-ID-NAME-FIRST-ONLY", "DELTA-ID-EMPTY-LATER", "DELTA-ID-NULL-LATER"),
        _named,
    ),
    Rule(
        "CALL-NAME-EXACT",
        "MUST",
        "The name is the one that the stream spells, neither doubled nor cut.",
        Outcome.SILENT_WRONG,
        ("DELTA-NAME-REPEATED", "DELTA-NAME-FRAGMENTED", "DELTA-NAME-NULL-STRINGIFIED"),
        _name_exact,
    ),
    Rule(
        "CALL-ID-PRESENT",
        "MUST",
        "A call that may be executed has an id, made up where the stream has none.",
        Outcome.MISMATCH,
        ("DELTA-ID-MISSING", "DELTA-ID-EMPTY-LATER"),
        _id_present,
    ),
    Rule(
        "CALL-ID-EXACT",
        "MUST",
        "The id is the first one that the stream gave the call.",
        Outcome.MISMATCH,
        ("DELTA-ID-NAME-FIRST-ONLY", "DELTA-ID-CHANGES", "DELTA-ID-NULL-LATER"),
        _id_exact,
    ),
    Rule(
        "CALL-IDS-UNIQUE",
        "MUST",
        "No two calls of a turn have the same id.",
        Outcome.MISMATCH,
        ("DELTA-ID-SHARED-BY-SIBLINGS",),
        _ids_unique,
    ),
    Rule(
        "CALLS-KEPT",
        "MUST",
        "Every usable call of the stream comes out.",
        Outcome.LOST_CALL,
        ("DELTA-INDEX-MISSING", "DELTA-MULTI-IN-CHUNK", "FINISH-STOP-WITH-CALLS", "BATCH-ONE-BAD"),
        _kept,
    ),
    Rule(
        "CALLS-NOT-INVENTED",
        "MUST",
        "No call comes out that the stream does not hold.",
        Outcome.SILENT_WRONG,
        ("MESSAGE-NOT-DELTA", "FINISH-DUPLICATE", "ARGS-TRAILING-EMPTY", "N-CHOICES"),
        _not_invented,
    ),
    Rule(
        "CALL-ORDER",
        "MUST",
        "Calls come out in the order in which they first appeared.",
        Outcome.MISMATCH,
        ("DELTA-INTERLEAVED", "DELTA-INDEX-SPARSE"),
        _order,
    ),
)
