"""Rules about what was run: the calls that the scenario expects, and nothing of a broken turn."""

from collections.abc import Iterator

import msgspec

from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.conversations.rule import ConversationRule
from harness.judging.conversations.script import ExpectedExecution
from harness.judging.conversations.session import Execution, as_text
from harness.judging.results import Outcome
from harness.judging.rule import Violation
from harness.turns.arguments import same_value


class CallMatches(msgspec.Struct, frozen=True):
    """Places of expected calls and of runs: those that are the same, and what is left."""

    pairs: tuple[tuple[int, int], ...]
    changed: tuple[tuple[int, int], ...]
    lost: tuple[int, ...]
    unwanted: tuple[int, ...]


def _from_broken_turn(seen: ConversationEvidence) -> Iterator[Violation]:
    for place, why in sorted(seen.stray.items()):
        run = seen.runs[place]
        yield Violation(f"executed[{place}]", f"nothing run, since {why}", _execution_text(run))


def _lost(seen: ConversationEvidence) -> Iterator[Violation]:
    for place in match_calls(seen).lost:
        yield Violation(
            f"executed[{place}]", _expected_text(_expected_executions(seen)[place]), "not run"
        )


def _unwanted(seen: ConversationEvidence) -> Iterator[Violation]:
    for place in match_calls(seen).unwanted:
        yield Violation(f"executed[{place}]", "no such call", _execution_text(seen.runs[place]))


def _arguments(seen: ConversationEvidence) -> Iterator[Violation]:
    for wanted, place in match_calls(seen).changed:
        expected = as_text(_expected_executions(seen)[wanted].arguments)
        yield Violation(f"executed[{place}].arguments", expected, seen.runs[place].arguments)


def _order(seen: ConversationEvidence) -> Iterator[Violation]:
    places = [place for _, place in match_calls(seen).pairs]
    if places != sorted(places):
        expected = " ".join(
            _expected_executions(seen)[at].tool for at, _ in match_calls(seen).pairs
        )
        yield Violation("executed", expected, " ".join(run.tool for run in seen.runs))


def match_calls(seen: ConversationEvidence) -> CallMatches:
    """Pair the expected calls with the runs: the same ones first, then those of one tool.

    Where it is open what must be run, nothing is left over.
    """
    if seen.script.expect.executed is None:
        return CallMatches((), (), (), ())
    wanted = _expected_executions(seen)
    left = [place for place in range(len(seen.runs)) if place not in seen.stray]
    pairs, changed = [], []
    for at, expected in enumerate(wanted):
        found = next((place for place in left if _same(expected, seen.runs[place])), None)
        if found is not None:
            pairs.append((at, found))
            left.remove(found)
    matched = {at for at, _ in pairs}
    for at, expected in enumerate(wanted):
        others = (place for place in left if seen.runs[place].tool == expected.tool)
        found = None if at in matched else next(others, None)
        if found is not None:
            changed.append((at, found))
            left.remove(found)
    matched |= {at for at, _ in changed}
    lost = tuple(at for at in range(len(wanted)) if at not in matched)
    return CallMatches(tuple(pairs), tuple(changed), lost, tuple(left))


def _expected_executions(seen: ConversationEvidence) -> tuple[ExpectedExecution, ...]:
    return seen.script.expect.executed or ()


def _same(expected: ExpectedExecution, run: Execution) -> bool:
    if expected.tool != run.tool:
        return False
    return expected.arguments is None or same_value(as_text(expected.arguments), run.arguments)


def _execution_text(run: Execution) -> str:
    return f"{run.tool} {run.arguments}"


def _expected_text(expected: ExpectedExecution) -> str:
    arguments = "" if expected.arguments is None else f" {as_text(expected.arguments)}"
    return f"{expected.tool}{arguments}"


RULES = (
    ConversationRule(
        "CONV-CALL-FROM-BROKEN-TURN",
        "MUST",
        "Nothing is run of a turn that failed, was cut short or was rejected.",
        Outcome.SILENT_WRONG,
        ("SSE-EOF-MIDCALL", "FINISH-LENGTH-WITH-CALL", "BATCH-ONE-BAD"),
        _from_broken_turn,
        always=True,
    ),
    ConversationRule(
        "CONV-CALL-UNWANTED",
        "MUST",
        "No call is run that the model did not make, and none more often than it was made.",
        Outcome.SILENT_WRONG,
        ("ID-REUSED-ACROSS-TURNS", "LOOP-IDENTICAL", "NAME-SANITIZE-COLLISION"),
        _unwanted,
    ),
    ConversationRule(
        "CONV-CALL-ARGUMENTS",
        "MUST",
        "A call is run with the arguments that the model gave, by value.",
        Outcome.SILENT_WRONG,
        (),
        _arguments,
    ),
    ConversationRule(
        "CONV-CALL-LOST",
        "MUST",
        "Every call that can be used is run.",
        Outcome.LOST_CALL,
        (
            "BATCH-ONE-BAD",
            "CALL-WITH-FINAL",
            "ID-DEDUP-DROPS-RESULTS",
            "NAME-UNKNOWN-DROPS-BATCH",
        ),
        _lost,
        yields_to=frozenset(("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-UNPLAYED")),
    ),
    ConversationRule(
        "CONV-CALL-ORDER",
        "MUST",
        "Calls are run in the order in which the model made them.",
        Outcome.MISMATCH,
        (),
        _order,
    ),
)
