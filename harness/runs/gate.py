"""A run and a policy -> pass, fail, inconclusive or nothing, with reasons that one can act on.

Green must be earned: an interrupted or killed run never passes, nor one in which nothing was
judged, nor one whose accepted failures are no longer true. What is not sure is `inconclusive`,
which is no pass.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from harness.judging.results import Outcome, Result
from harness.runs.baseline import Baseline, Ratchet, ratchet
from harness.runs.counted import counted
from harness.runs.expectations import Excused, Held, Stale, hold
from harness.runs.gate_rules import RuleVerdict, judge_rules
from harness.runs.policy import Policy
from harness.runs.questions import Questions
from harness.runs.run import Run, Selection

Verdict = Literal["pass", "fail", "inconclusive", "nothing"]

CONFORMANCE = "conformance"
NO_POLICY = Policy()


class Gate(msgspec.Struct, frozen=True):
    """The verdict on a run.

    Fields:
        reasons: lines for people, the worst first.
        rules: what came of each rule of the project.
        excused: cells that count in no rule, by an expectation or the baseline.
        stale: expectations that are no longer true.
        baseline: what the run makes of the baseline; None where the project keeps none, or
            the run is not complete.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    rules: tuple[RuleVerdict, ...] = ()
    excused: tuple[Excused, ...] = ()
    stale: tuple[Stale, ...] = ()
    baseline: Ratchet | None = None


def judge_gate(run: Run, policy: Policy = NO_POLICY, questions: Questions | None = None) -> Gate:
    """Judge `run` by `policy`; without one it passes where every supported cell conforms.

    Args:
        run: as read.
        policy: of the project.
        questions: those of the run, where somebody has loaded it already.
    """
    if questions is not None or not policy.rules:
        return _gate(run, policy, questions)
    with Questions(run) as loaded:
        return _gate(run, policy, loaded)


def next_baseline(run: Run, policy: Policy) -> Baseline | None:
    """Return the baseline after `run`; None where there is none or the run is not complete."""
    moved = _ratchet(run, policy, _held(run, policy))
    return moved[0] if moved else None


def _gate(run: Run, policy: Policy, questions: Questions | None) -> Gate:
    held = _held(run, policy)
    moved = _ratchet(run, policy, held)
    excused = (*held.excused, *(_by_baseline(cell) for cell in (moved[1].known if moved else ())))
    left_out = frozenset(each.cell for each in excused)
    rules = judge_rules(questions, policy.rules, left_out) if questions else ()
    judged = [each for each in run.results if each.outcome is not Outcome.UNSUPPORTED]
    counted = [each for each in judged if each.cell not in left_out]
    built_in = all(rule.metric != CONFORMANCE for rule in policy.rules)
    broken = (
        *_incomplete(run),
        *(each.told for each in held.stale),
        *(_failures(counted, run.header.selection) if built_in else ()),
        *(each.reason for each in rules if each.verdict == "fail"),
    )
    unsure = tuple(each.reason for each in rules if each.verdict == "inconclusive")
    verdict, reasons = _verdict(broken, unsure, judged, excused, rules)
    return Gate(verdict, reasons, rules, excused, held.stale, moved[1] if moved else None)


def _verdict(
    broken: tuple[str, ...],
    unsure: tuple[str, ...],
    judged: list[Result],
    excused: tuple[Excused, ...],
    rules: tuple[RuleVerdict, ...],
) -> tuple[Verdict, tuple[str, ...]]:
    if broken:
        return "fail", (*broken, *unsure)
    if not judged and not excused:
        return "nothing", ("no cell was judged",)
    if unsure:
        return "inconclusive", unsure
    return "pass", (*_passed(judged, excused), *(each.reason for each in rules))


def _passed(judged: list[Result], excused: tuple[Excused, ...]) -> Iterator[str]:
    conform = sum(each.outcome.conforms for each in judged)
    yield f"{counted(conform, 'cell')} {'conforms' if conform == 1 else 'conform'}"
    if excused:
        yield f"{counted(len(excused), 'cell')} excused by expectations or the baseline"


def _held(run: Run, policy: Policy) -> Held:
    return hold(run, policy.expectations, policy.today, policy.known)


def _ratchet(run: Run, policy: Policy, held: Held) -> tuple[Baseline, Ratchet] | None:
    if policy.baseline is None or not run.complete:
        return None
    excused = frozenset(each.cell for each in held.excused)
    return ratchet(policy.baseline, run, excused, policy.known, accept_new=policy.accept_new)


def _by_baseline(cell: str) -> Excused:
    return Excused(cell, "baseline", "known to fail")


def reproduce(cell: str, places: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """Return the command that replays `cell`, quoted for a shell.

    Args:
        cell: id of the cell.
        places: paths that were selected; none where it was what ships.
        more: further options.
    """
    where = [word for place in places for word in ("--in", place)]
    return shlex.join(["harness", "replay", cell, *more, *where])


def _incomplete(run: Run) -> Iterator[str]:
    if run.footer is None:
        yield f"the run was killed after {counted(len(run.results), 'cell')}"
    elif run.footer.interrupted:
        done, left = run.footer.results, run.footer.not_run
        yield f"the run was interrupted after {done} of {counted(done + left, 'cell')}"
    elif run.footer.not_run:
        yield f"{counted(run.footer.not_run, 'cell')} did not run"


def _failures(judged: list[Result], selection: Selection) -> Iterator[str]:
    total: dict[str, int] = defaultdict(int)
    failed: dict[str, list[Result]] = defaultdict(list)
    for result in judged:
        total[result.normalizer] += 1
        if not result.outcome.conforms:
            failed[result.normalizer].append(result)
    for results in failed.values():
        results.sort(key=lambda result: (result.outcome.badness, result.cell))
    for name, results in sorted(failed.items(), key=_worst_first):
        worst = results[0]
        yield (
            f"{name}: {len(results)} of {counted(total[name], 'cell')} "
            f"{_DO[len(results) == 1]} not conform, worst {worst.outcome.value}: "
            f"{reproduce(worst.cell, selection.paths, selection.options)}"
        )


def _worst_first(item: tuple[str, list[Result]]) -> tuple[int, int, str]:
    name, results = item
    return results[0].outcome.badness, -len(results), name


_DO = {True: "does", False: "do"}
