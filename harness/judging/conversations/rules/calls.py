"""Rules about what was run: the calls that the scenario expects, and nothing of a broken turn."""

from collections.abc import Iterator

import msgspec

from harness.judging.conversations.evidence import Evidence
from harness.judging.conversations.rules.rule import ConversationRule
from harness.judging.conversations.script import ExpectedExecution
from harness.judging.conversations.session import Execution
from harness.judging.conversations.values import as_text
from harness.judging.results import Outcome
from harness.judging.rules.rule import Broken
from harness.turns.arguments import same_value


class Matched(msgspec.Struct, frozen=True):
    """Places of expected calls and of runs: those that are the same, and what is left."""

    pairs: tuple[tuple[int, int], ...]
    changed: tuple[tuple[int, int], ...]
    lost: tuple[int, ...]
    unwanted: tuple[int, ...]


def _from_broken_turn(seen: Evidence) -> Iterator[Broken]:
    for place, why in sorted(seen.stray.items()):
        run = seen.runs[place]
        yield Broken(f"executed[{place}]", f"nothing run, since {why}", _told(run))


def _lost(seen: Evidence) -> Iterator[Broken]:
    for place in match(seen).lost:
        yield Broken(f"executed[{place}]", _wanted(_expected(seen)[place]), "not run")


def _unwanted(seen: Evidence) -> Iterator[Broken]:
    for place in match(seen).unwanted:
        yield Broken(f"executed[{place}]", "no such call", _told(seen.runs[place]))


def _arguments(seen: Evidence) -> Iterator[Broken]:
    for wanted, place in match(seen).changed:
        expected = as_text(_expected(seen)[wanted].arguments)
        yield Broken(f"executed[{place}].arguments", expected, seen.runs[place].arguments)


def _order(seen: Evidence) -> Iterator[Broken]:
    places = [place for _, place in match(seen).pairs]
    if places != sorted(places):
        expected = " ".join(_expected(seen)[at].tool for at, _ in match(seen).pairs)
        yield Broken("executed", expected, " ".join(run.tool for run in seen.runs))


def match(seen: Evidence) -> Matched:
    """Pair the expected calls with the runs: the same ones first, then those of one tool.

    Where it is open what must be run, nothing is left over.
    """
    if seen.script.expect.executed is None:
        return Matched((), (), (), ())
    wanted = _expected(seen)
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
    return Matched(tuple(pairs), tuple(changed), lost, tuple(left))


def _expected(seen: Evidence) -> tuple[ExpectedExecution, ...]:
    return seen.script.expect.executed or ()


def _same(expected: ExpectedExecution, run: Execution) -> bool:
    if expected.tool != run.tool:
        return False
    return expected.arguments is None or same_value(as_text(expected.arguments), run.arguments)


def _told(run: Execution) -> str:
    return f"{run.tool} {run.arguments}"


def _wanted(expected: ExpectedExecution) -> str:
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
