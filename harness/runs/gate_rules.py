"""Rules of the project x a run -> verdicts, each with the numbers that it was decided by.

Green must be earned: a rule that matches nothing fails, and one that too little is known about is
`inconclusive`, which is no pass.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Literal

import msgspec

from harness.project import Basis, GateRule, Metric, Where
from harness.runs.questions import Questions
from harness.runs.repeats import Cluster, Clustered, clustered, likeness
from harness.runs.rule_sql import Trials
from harness.runs.statistics import Interval

RuleResult = Literal["pass", "fail", "inconclusive"]

# Metrics whose rate is good where it is high; of the others it counts what went wrong.
HIGH_IS_GOOD: tuple[Metric, ...] = (
    "conformance",
    "turn_success",
    "conversation_success",
    "recovery",
)


class RuleVerdict(msgspec.Struct, frozen=True):
    """What came of one rule; the numbers are there for whoever wants to decide anew.

    Fields:
        rule: its place, such as `gate[0]`.
        k, n, rate: what was counted; the rate is None where nothing was.
        groups: different requests among the `n`; `low`, `high`: the 95 % interval.
        min, max, basis, min_n: as the rule says.
        reason: one line for people.
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
    """Judge each of `rules`, in their order; `excused` cells count in none."""
    return tuple(
        _verdict(f"gate[{place}]", rule, questions.trials(rule, excused))
        for place, rule in enumerate(rules)
    )


def _verdict(name: str, rule: GateRule, trials: Collection[Trials]) -> RuleVerdict:
    wanted = [each.cluster for each in trials if each.wanted]
    k = sum(each.k * each.times for each in wanted)
    n = sum(each.n * each.times for each in wanted)
    sure = _clustered(trials)
    verdict, why = _decide(rule, k, n, sure.interval)
    return RuleVerdict(
        rule=name,
        metric=rule.metric,
        where=rule.where,
        verdict=verdict,
        k=k,
        n=n,
        rate=k / n if n else None,
        groups=sure.groups,
        low=sure.interval.low,
        high=sure.interval.high,
        min=rule.min,
        max=rule.max,
        basis=rule.basis,
        min_n=rule.min_n,
        reason=f"{name} {rule.metric}{_told(rule.where)}: {why}",
    )


def _clustered(trials: Collection[Trials]) -> Clustered:
    entries: dict[str, list[Cluster]] = defaultdict(list)
    for each in trials:
        entries[each.entry].append(each.cluster)
    return clustered([each.cluster for each in trials if each.wanted], likeness(entries.values()))


def _decide(rule: GateRule, k: int, n: int, interval: Interval) -> tuple[RuleResult, str]:
    if not n:
        return "fail", "nothing in the run matches it"
    said = f"{k}/{n} = {k / n:.1%}"
    if n < rule.min_n:
        return "inconclusive", f"{said}, fewer than min_n = {rule.min_n}"
    low, high = interval if rule.basis == "interval" else (k / n, k / n)
    told = f"{said}, 95 % interval {interval.low:.1%} to {interval.high:.1%}"
    said = told if rule.basis == "interval" else said
    bounds = " and ".join(
        f"{word} {bound:g}"
        for word, bound in (("min", rule.min), ("max", rule.max))
        if bound is not None
    )
    least = 0.0 if rule.min is None else rule.min
    most = 1.0 if rule.max is None else rule.max
    if low >= least and high <= most:
        return "pass", f"{said} keeps {bounds}"
    if high < least or low > most:
        return "fail", f"{said} breaks {bounds}"
    return "inconclusive", f"{said} lies on both sides of {bounds}: more would tell"


def _told(where: Where) -> str:
    named = msgspec.to_builtins(where)
    return f" ({', '.join(f'{key} {value}' for key, value in named.items())})" if named else ""
