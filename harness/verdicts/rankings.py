"""Rank models, prompts, normalizers and agents by the pessimistic bounds of their intervals.

Models and prompts are ranked by the success of turns and of conversations, and by their rate of
parse errors. Normalizers and agents are ranked by conformance. Turns of an emulated cassette do
not count for a model, because no model wrote them.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat
from math import ceil
from typing import NamedTuple

import msgspec

from harness.results.run import Run
from harness.verdicts.database import Axis, Questions, TurnMetric
from harness.verdicts.query_rows import BlameSplit, ConversationRate, Rate
from harness.verdicts.statistics import (
    ClusteredInterval,
    Interval,
    clustered_interval,
    intraclass_correlation,
    rank_ranges,
    trials_to_tell_apart,
    wilson,
)


class _Rank(NamedTuple):
    """The ranks of an entry of a ranking, and whether they say enough; see `Ranked`."""

    rank_low: int
    rank_high: int
    distinguishable: bool = True
    needed_n: int = 0


class _Trials(NamedTuple):
    """The number of successful trials of one entry, `k` of `n`, with the interval of the rate."""

    k: int
    n: int
    sure: ClusteredInterval


class RankedRate(msgspec.Struct, frozen=True):
    """A rate for which low is good, such as of parse errors, ranked by the interval's upper bound.

    Fields:
        k, n: number of turns with the property, and of all turns.
        low, high, distinguishable, needed_n: as in `Ranked`.
        rank_low, rank_high: as in `Ranked`; 1 is the lowest rate.
    """

    k: int
    n: int
    low: float
    high: float
    rank_low: int
    rank_high: int
    distinguishable: bool = True
    needed_n: int = 0


class Ranked(msgspec.Struct, frozen=True):
    """One line of a ranking: a model, prompt, pair, normalizer or agent with its rate and ranks.

    Fields:
        k, n: number of successes and of trials.
        low, high: the Wilson 95 % interval of k/n, which is wider if requests repeat (see
            `harness.verdicts.statistics`).
        rank_low, rank_high: the best and the worst rank that the intervals allow.
        parse_error: turns with a parse error, by blame.
        parse_error_rate: the ranked rate of turns with a parse error; None for clients.
        failed: failed turns, by blame.
        best_k: `k` if each turn is read by the best normalizer that conformed on its cell, so
            that no client lowers the rank of a model; equal to `k` for a normalizer.
        groups: number of different requests among the `n` trials; equal to `n` for a normalizer.
        effective_n: the number of independent trials that would give the same information.
        unjudged, causes: as in `Rate`.
        distinguishable: whether the intervals of at least half of the other entries are entirely
            above or below this one; if not, the ranks say too little to be shown.
        needed_n: if not distinguishable, about how many trials each entry needs until it is, at
            the same rates; 0 if it already is, or if equal rates make it impossible.
    """

    name: str
    k: int
    n: int
    low: float
    high: float
    rank_low: int
    rank_high: int
    parse_error: BlameSplit
    failed: BlameSplit
    best_k: int
    groups: int
    effective_n: float
    unjudged: int = 0
    causes: int = 0
    distinguishable: bool = True
    needed_n: int = 0
    parse_error_rate: RankedRate | None = None


class RankedConversations(msgspec.Struct, frozen=True):
    """One line of the ranking of conversations: a model with a prompt and an agent.

    Fields:
        low, high, rank_low, rank_high, distinguishable, needed_n: as in `Ranked`, of the
            conversations that ended with an answer.
    """

    name: str
    rate: ConversationRate
    low: float
    high: float
    rank_low: int
    rank_high: int
    distinguishable: bool = True
    needed_n: int = 0


class Rankings(msgspec.Struct, frozen=True):
    """All rankings of a run, each sorted by the lower bound, so that 1 of 1 is below 98 of 100.

    Fields:
        pairs: the combinations of a model and a prompt, each named `MODEL x PROMPT`.
        text_dialects: text dialect -> the normalizers, ranked only on its scenarios.
        agents: the agents, ranked by conformance.
        conversations: combinations of a model, prompt and agent, by success of conversations.
    """

    models: tuple[Ranked, ...]
    prompts: tuple[Ranked, ...]
    pairs: tuple[Ranked, ...]
    normalizers: tuple[Ranked, ...]
    text_dialects: dict[str, tuple[Ranked, ...]] = msgspec.field(default_factory=dict)
    agents: tuple[Ranked, ...] = ()
    conversations: tuple[RankedConversations, ...] = ()


def rankings(run: Run) -> Rankings:
    """Return the rankings of `run`; see `rank` for the definitions."""
    with Questions(run) as questions:
        return rank(questions)


def rank(questions: Questions) -> Rankings:
    """Return the rankings of a loaded run. Entries with n = 0 are left out.

    Models and prompts: n is the number of turns of recorded and imported cassettes, and k of these
    succeeded, as the lead normalizer read them. Each turn counts once, even if several scenarios
    and normalizers have it. A turn is one interaction of one cassette, so that the same body in two
    cassettes counts twice. Turns of an unknown model count only for their prompt.

    Normalizers and agents: n is the number of judged cells, and k of these conform. Parse errors
    are counted over all turns of these cells. Conversations: n is the number of conversations in
    recorded and imported cassettes, and k of these ended with an answer.
    """
    return Rankings(
        models=_measured(questions, "model"),
        prompts=_measured(questions, "prompt"),
        pairs=_measured(questions, "model x prompt"),
        normalizers=_ranked(questions.conformance("turns")),
        text_dialects={
            name: _ranked(rates) for name, rates in questions.conformance_by_text_dialect().items()
        },
        agents=_ranked(questions.conformance("conversation")),
        conversations=_ranked_conversations(questions.conversation_success()),
    )


def _measured(questions: Questions, axis: Axis) -> tuple[Ranked, ...]:
    rates = questions.turn_success(axis)
    if not rates:
        return ()
    names = [rate.name for rate in rates]
    errors = _parse_error_rates(_clustered(questions, axis, "parse_error", names))
    return _sorted(rates, _clustered(questions, axis, "success", names), errors)


def _clustered(
    questions: Questions, axis: Axis, metric: TurnMetric, names: Iterable[str]
) -> list[_Trials]:
    repeats = questions.repeats(axis, metric)
    alike = intraclass_correlation(repeats.values())
    return [
        _Trials(
            sum(it.k * it.times for it in repeats[name]),
            sum(it.n * it.times for it in repeats[name]),
            clustered_interval(repeats[name], alike),
        )
        for name in names
    ]


def _parse_error_rates(trials: Sequence[_Trials]) -> list[RankedRate]:
    # Few are good, so the rates are ranked as those of turns without a parse_error.
    good = [each._replace(k=each.n - each.k, sure=_mirrored(each.sure)) for each in trials]
    return [
        RankedRate(each.k, each.n, *each.sure.interval, **rank._asdict())
        for each, rank in zip(trials, _ranks(good), strict=True)
    ]


def _mirrored(sure: ClusteredInterval) -> ClusteredInterval:
    low, high = sure.interval
    return msgspec.structs.replace(sure, interval=Interval(1 - high, 1 - low))


def _ranked(rates: Sequence[Rate]) -> tuple[Ranked, ...]:
    return _sorted(rates, [_independent(rate.k, rate.n) for rate in rates])


def _independent(k: int, n: int) -> _Trials:
    return _Trials(k, n, ClusteredInterval(wilson(k, n), n, n))


def _ranks(trials: Sequence[_Trials]) -> list[_Rank]:
    ranges = rank_ranges([each.sure.interval for each in trials])
    others = len(trials) - 1
    needed = _NeededTrials([each.k / each.n for each in trials])
    return [
        _Rank(*ranks)
        if 2 * (ranks.high - ranks.low) <= others
        else _Rank(*ranks, distinguishable=False, needed_n=needed.of(each))
        for each, ranks in zip(trials, ranges, strict=True)
    ]


class _NeededTrials:
    """Computes how many trials an entry needs to differ from half of the others; see `Ranked`."""

    def __init__(self, rates: Sequence[float]) -> None:
        self._rates = rates
        self._found: dict[float, int] = {}

    def of(self, trials: _Trials) -> int:
        rate = trials.k / trials.n
        if rate not in self._found:
            by_difference = sorted(self._rates, key=lambda other: -abs(other - rate))
            half = len(self._rates) // 2
            self._found[rate] = trials_to_tell_apart(rate, by_difference[half - 1])
        return ceil(self._found[rate] * trials.n / trials.sure.effective_n)


def _sorted(
    rates: Sequence[Rate], trials: Sequence[_Trials], errors: Sequence[RankedRate] = ()
) -> tuple[Ranked, ...]:
    lines = (
        _line(rate, each.sure, rank, error)
        for rate, each, rank, error in zip(
            rates, trials, _ranks(trials), errors or repeat(None), strict=False
        )
    )
    return tuple(sorted(lines, key=lambda line: (-line.low, -line.n, line.name)))


def _ranked_conversations(rates: Iterable[ConversationRate]) -> tuple[RankedConversations, ...]:
    rows = list(rates)
    trials = [_independent(rate.k, rate.n) for rate in rows]
    lines = (
        RankedConversations(
            f"{it.model} x {it.prompt} x {it.agent}", it, *each.sure.interval, **rank._asdict()
        )
        for it, each, rank in zip(rows, trials, _ranks(trials), strict=True)
    )
    return tuple(sorted(lines, key=lambda line: (-line.low, -line.rate.n, line.name)))


def _line(rate: Rate, sure: ClusteredInterval, rank: _Rank, errors: RankedRate | None) -> Ranked:
    return Ranked(
        **rank._asdict(),
        name=rate.name,
        k=rate.k,
        n=rate.n,
        low=sure.interval.low,
        high=sure.interval.high,
        parse_error=rate.parse_error,
        failed=rate.failed,
        best_k=rate.best_k,
        groups=sure.groups,
        effective_n=sure.effective_n,
        unjudged=rate.unjudged,
        causes=rate.causes,
        parse_error_rate=errors,
    )
