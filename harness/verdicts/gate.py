"""Judge a run by the policy of a project: pass, fail, inconclusive or nothing, with reasons.

A run fails if a judged cell does not conform, if it was interrupted or killed, if a planned cell
has no outcome, if a client of the project was not judged, or if the failure that an entry accepts
no longer occurs. Unjudged cells are allowed and listed, unless a rule on `unjudged` forbids them;
a run in which nothing was judged has the verdict `nothing`. A cell that a rule on `conformance`
covers is judged by this rule alone. A rule with too little data is `inconclusive`, which is not a
pass.
"""

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import msgspec

from harness.project import Basis, GateRule, Metric, Where
from harness.results.outcome import Blame, Outcome
from harness.results.result import Result
from harness.results.run import Run, Selection
from harness.results.scenario_evidence import evidence_rank
from harness.shipped import BUNDLED
from harness.verdicts.accounting import Accounting, account, rule_covers
from harness.verdicts.baseline import Baseline, BaselineUpdate, update_baseline
from harness.verdicts.causes import FailureCause, failing_causes
from harness.verdicts.database import Questions, RuleTrials, questions_on
from harness.verdicts.expectations import AcceptedCell, AppliedEntries, StaleEntry, apply_entries
from harness.verdicts.judged_shares import JudgedShare, judged_shares_of_run
from harness.verdicts.policy import GatePolicy, project_paths
from harness.verdicts.rankings import Rankings, rank
from harness.verdicts.statistics import (
    Cluster,
    ClusteredInterval,
    Interval,
    clustered_interval,
    intraclass_correlation,
    percent,
)
from harness.wording import pluralize

RuleResult = Literal["pass", "fail", "inconclusive"]


class RuleVerdict(msgspec.Struct, frozen=True):
    """The verdict on one gate rule, with the numbers that led to it.

    Fields:
        rule: the path of the rule in the configuration, such as `gate[0]`.
        k, n, rate: the counts and `k` / `n`; the rate is None if `n` is 0.
        groups: the number of different requests among the `n`.
        low, high: the 95 % interval of the rate.
        min, max, basis, min_n: as in the rule.
        reason: the reason for the verdict in one line of text.
    """

    rule: str
    metric: Metric
    where: Where
    verdict: RuleResult
    k: int
    n: int
    rate: float | None
    groups: int
    low: float
    high: float
    min: float | None
    max: float | None
    basis: Basis
    min_n: int
    reason: str


def judge_rules(
    questions: Questions, rules: Collection[GateRule], excused: Collection[str]
) -> tuple[RuleVerdict, ...]:
    """Return the verdict on each gate rule; no rule counts the `excused` cells."""
    return tuple(
        _rule_verdict(f"gate[{index}]", rule, questions.trials(rule, excused))
        for index, rule in enumerate(rules)
    )


def _rule_verdict(name: str, rule: GateRule, trials: Collection[RuleTrials]) -> RuleVerdict:
    wanted = [each.cluster for each in trials if each.wanted]
    k = sum(each.k * each.times for each in wanted)
    n = sum(each.n * each.times for each in wanted)
    sure = _clustered_interval(trials)
    verdict, why = _rule_result(rule, k, n, sure.interval)
    return RuleVerdict(
        **msgspec.structs.asdict(rule),
        rule=name,
        verdict=verdict,
        k=k,
        n=n,
        rate=k / n if n else None,
        groups=sure.groups,
        low=sure.interval.low,
        high=sure.interval.high,
        reason=f"{name} {rule.metric}{_where_text(rule.where)}: {why}",
    )


def _clustered_interval(trials: Collection[RuleTrials]) -> ClusteredInterval:
    entries: dict[str, list[Cluster]] = defaultdict(list)
    for each in trials:
        entries[each.entry].append(each.cluster)
    return clustered_interval(
        [each.cluster for each in trials if each.wanted], intraclass_correlation(entries.values())
    )


def _rule_result(rule: GateRule, k: int, n: int, interval: Interval) -> tuple[RuleResult, str]:
    if not n:
        return "fail", "nothing in the run matches it"
    counts = f"{k}/{n} = {percent(k / n)}"
    if n < rule.min_n:
        return "inconclusive", f"{counts}, fewer than min_n = {rule.min_n}"
    low, high = interval if rule.basis == "interval" else (k / n, k / n)
    if rule.basis == "interval":
        counts += f", 95 % interval {percent(interval.low)} to {percent(interval.high)}"
    bounds = " and ".join(
        f"{word} {bound:g}"
        for word, bound in (("min", rule.min), ("max", rule.max))
        if bound is not None
    )
    least = 0.0 if rule.min is None else rule.min
    most = 1.0 if rule.max is None else rule.max
    if low >= least and high <= most:
        return "pass", f"{counts} keeps {bounds}"
    if high < least or low > most:
        return "fail", f"{counts} breaks {bounds}"
    return "inconclusive", f"{counts} is on both sides of {bounds}: add more trials"


def _where_text(where: Where) -> str:
    named = msgspec.to_builtins(where)
    return f" ({', '.join(f'{key} {value}' for key, value in named.items())})" if named else ""


Verdict = Literal["pass", "fail", "inconclusive", "nothing"]

NO_POLICY = GatePolicy()


class Gate(msgspec.Struct, frozen=True):
    """The verdict on a run.

    Fields:
        reasons: the reasons for the verdict as lines of text, the worst first.
        rules: the verdict on each rule of the project.
        excused: accepted failures, which rules do not count.
        stale: entries of `expectations.toml` that are no longer true.
        baseline: what changed in the baseline; None if the project has none, or the run is not
            complete.
        unjudged: cells whose calls could not be judged.
        accounting: how many cells were planned, and what they have; None in older summaries.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    rules: tuple[RuleVerdict, ...] = ()
    excused: tuple[AcceptedCell, ...] = ()
    stale: tuple[StaleEntry, ...] = ()
    baseline: BaselineUpdate | None = None
    unjudged: tuple[str, ...] = ()
    accounting: Accounting | None = None

    @property
    def remark(self) -> str:
        """What the verdict does not depend on: how many cells are unjudged; "" if none are."""
        if not self.unjudged:
            return ""
        return f"{pluralize(len(self.unjudged), 'cell')} unjudged, such as {self.unjudged[0]}"


def judge_gate(
    run: Run, policy: GatePolicy = NO_POLICY, questions: Questions | None = None
) -> Gate:
    """Judge `run` by `policy`; without a policy, it passes if every supported cell conforms.

    Args:
        run: the run.
        policy: the policy of the project.
        questions: the database of the run, if the caller has loaded it already.
    """
    if not policy.rules:
        return _gate(run, policy, questions)
    with questions_on(run, questions) as loaded:
        return _gate(run, policy, loaded)


def next_baseline(run: Run, policy: GatePolicy) -> Baseline | None:
    """Return the baseline as updated by `run`; None if there is none or the run is not complete."""
    updated = _updated_baseline(run, policy, _applied_entries(run, policy))
    return updated[0] if updated else None


def _gate(run: Run, policy: GatePolicy, questions: Questions | None) -> Gate:
    applied = _applied_entries(run, policy)
    updated = _updated_baseline(run, policy, applied)
    excused = (
        *applied.excused,
        *(
            AcceptedCell(cell, "baseline", "known to fail")
            for cell in (updated[1].known if updated else ())
        ),
    )
    left_out = frozenset(each.cell for each in excused)
    rules = judge_rules(questions, policy.rules, left_out) if questions else ()
    judged = [each for each in run.results if each.outcome.judged]
    counted = [each for each in judged if each.cell not in left_out]
    free = [each for each in counted if not rule_covers(policy.rules, each)]
    chosen = run.header.selection
    is_narrow = chosen.last_failed or chosen.select != policy.select
    accounting = account(run, () if is_narrow else policy.own)
    broken = (
        *_incomplete_reason(run, accounting),
        *accounting.reasons,
        *(each.message for each in applied.stale),
        *_failure_reasons(free, run.header.selection),
        *(each.reason for each in rules if each.verdict == "fail"),
    )
    unsure = tuple(each.reason for each in rules if each.verdict == "inconclusive")
    verdict, reasons = _verdict(broken, unsure, judged, excused, rules)
    unjudged = tuple(it.cell for it in run.results if it.outcome is Outcome.UNJUDGED)
    change = updated[1] if updated else None
    return Gate(verdict, reasons, rules, excused, applied.stale, change, unjudged, accounting)


def _verdict(
    broken: tuple[str, ...],
    unsure: tuple[str, ...],
    judged: list[Result],
    excused: tuple[AcceptedCell, ...],
    rules: tuple[RuleVerdict, ...],
) -> tuple[Verdict, tuple[str, ...]]:
    if broken:
        return "fail", (*broken, *unsure)
    if not judged:
        return "nothing", ("no cell was judged",)
    if unsure:
        return "inconclusive", unsure
    return "pass", (*_passing_reasons(judged, excused), *(each.reason for each in rules))


def _passing_reasons(judged: list[Result], excused: tuple[AcceptedCell, ...]) -> Iterator[str]:
    conform = sum(each.outcome.conforms for each in judged)
    yield f"{pluralize(conform, 'cell')} {'conforms' if conform == 1 else 'conform'}"
    if excused:
        yield f"{pluralize(len(excused), 'cell')} accepted by expectations or the baseline"


def _applied_entries(run: Run, policy: GatePolicy) -> AppliedEntries:
    return apply_entries(run, policy.expectations, policy.today, policy.known)


def _updated_baseline(
    run: Run, policy: GatePolicy, applied: AppliedEntries
) -> tuple[Baseline, BaselineUpdate] | None:
    if policy.baseline is None or not run.complete:
        return None
    excused = frozenset(each.cell for each in applied.excused)
    return update_baseline(
        policy.baseline, run, excused, policy.known, accept_new=policy.accept_new
    )


def replay_command(cell: str, places: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """Return the command that replays `cell`, quoted for a shell.

    Args:
        cell: id of the cell.
        places: the selected paths; () for the bundled files. The command needs no option for the
            default paths of the project.
        more: further options to append to the command.
    """
    known = ((BUNDLED,), tuple(each.as_posix() for each in project_paths()))
    named = () if tuple(places) in known else places
    where = [word for path in named for word in ("--in", path)]
    return shlex.join(["harness", "replay", cell, *more, *where])


def _incomplete_reason(run: Run, accounting: Accounting) -> Iterator[str]:
    if run.footer is None:
        yield f"the run was killed after {pluralize(len(run.results), 'cell')}"
    elif run.footer.interrupted:
        done, left = run.footer.results, run.footer.not_run
        yield f"the run was interrupted after {done} of {pluralize(done + left, 'cell')}"
    elif accounting.not_run:
        yield f"{pluralize(accounting.not_run, 'cell')} did not run"
    for file in (run.footer and run.footer.unreadable) or ():
        yield f"a file cannot be used: {'. '.join(map(str.strip, file.error.splitlines()))}"


def _failure_reasons(judged: list[Result], selection: Selection) -> Iterator[str]:
    total: dict[str, int] = defaultdict(int)
    failed: dict[str, list[Result]] = defaultdict(list)
    for result in judged:
        total[result.normalizer] += 1
        if result.outcome.fails:
            failed[result.normalizer].append(result)
    for results in failed.values():
        results.sort(key=lambda it: (it.outcome.badness, evidence_rank(it.evidence), it.cell))
    for name, results in sorted(failed.items(), key=_worst_first):
        worst = results[0]
        yield (
            f"{name}: {len(results)} of {pluralize(total[name], 'cell')} "
            f"{_DO[len(results) == 1]} not conform, worst {worst.outcome.value}: "
            f"{replay_command(worst.cell, selection.paths, selection.options)}"
        )


def _worst_first(item: tuple[str, list[Result]]) -> tuple[int, int, str]:
    name, results = item
    return results[0].outcome.badness, -len(results), name


_DO = {True: "does", False: "do"}


class Summary(msgspec.Struct, frozen=True):
    """The machine-readable summary of a run: `summary.json` of a report.

    The keys are a public contract: they stay, and others may be added.

    Fields:
        scenarios: the number of selected subjects.
        replays: the number of replays of all cells.
        outcomes: name of the normalizer or agent -> outcome -> number of cells.
        rankings: the rankings of models, prompts, normalizers and agents.
        gate: the verdict of the gate.
        judged: for calls, text, reasoning and finish, in how many turns the field was judged.
        causes: the causes for which cells fail, the worst first.
    """

    scenarios: int
    replays: int
    outcomes: dict[str, dict[str, int]]
    rankings: Rankings
    gate: Gate
    judged: tuple[JudgedShare, ...] = ()
    causes: tuple[FailureCause, ...] = ()


class CellSummary(msgspec.Struct, frozen=True):
    """One cell in machine-readable output: subject, client, outcome, blame and cause.

    Fields:
        cell: the id of the cell, which is the argument of `harness replay`.
        cause: the cause of the failure; "" if the cell did not fail.
    """

    cell: str
    scenario: str
    title: str
    normalizer: str
    outcome: Outcome
    blame: Blame
    cause: str


class RunSummary(Summary, frozen=True):
    """The summary of a run with all its cells, as `harness run --format json` prints it."""

    cells: tuple[CellSummary, ...] = ()


def with_cells(summary: Summary, run: Run) -> RunSummary:
    """Return `summary`, which is the summary of `run`, with the cells of `run`."""
    fields = CellSummary.__struct_fields__
    cells = (CellSummary(*(getattr(each, name) for name in fields)) for each in run.results)
    known = {name: getattr(summary, name) for name in Summary.__struct_fields__}
    return RunSummary(**known, cells=tuple(cells))


def summarize(run: Run, policy: GatePolicy = NO_POLICY, loaded: Questions | None = None) -> Summary:
    """Return the summary of `run`, which `msgspec.json.encode` turns into the public JSON.

    Args:
        run: the run.
        policy: the policy of the project.
        loaded: the database of the run, if the caller has loaded it already.
    """
    with questions_on(run, loaded) as questions:
        return Summary(
            scenarios=run.header.scenario_count,
            replays=sum(result.replays for result in run.results),
            outcomes=questions.outcome_counts(),
            rankings=rank(questions),
            gate=judge_gate(run, policy, questions),
            judged=judged_shares_of_run(run),
            causes=tuple(each.summary for each in failing_causes(run.results)),
        )
