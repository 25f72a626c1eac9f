"""Models, prompts, normalizers and agents, ranked by what is sure about them.

Turn and conversation success rank models and prompts, conformance ranks normalizers and agents;
they are never mixed.
Nobody measured the model of an emulated cassette, so such turns never count for it.
"""

from collections.abc import Iterable, Sequence

import msgspec

from harness.runs.questions import Axis, BlameSplit, ConversationRate, Questions, Rate
from harness.runs.run import Run
from harness.runs.statistics import (
    ClusteredInterval,
    RankRange,
    clustered_interval,
    intraclass_correlation,
    rank_ranges,
    wilson,
)


class Ranked(msgspec.Struct, frozen=True):
    """One line of a ranking.

    Fields:
        k, n: successes and trials; `low`, `high`: the Wilson 95 % interval of k/n, wider where
            requests repeat (see `harness.runs.statistics`).
        rank_low, rank_high: the best and the worst rank that the intervals leave open.
        parse_error: turns with a parse_error, by blame.
        failed: turns that are no success, by blame.
        best_k: `k` where each turn is taken from the best normalizer of the run that
            conformed on its cell, so that a model is not punished for a client; for a
            normalizer it is `k`.
        groups: number of different requests that the `n` answer; for a normalizer it is `n`.
        effective_n: the number of independent trials that the `n` are worth.
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


class RankedConversations(msgspec.Struct, frozen=True):
    """One line of the ranking of models by prompts by agents.

    Fields:
        low, high, rank_low, rank_high: as in `Ranked`, of the conversations that ended with an
            answer.
    """

    name: str
    rate: ConversationRate
    low: float
    high: float
    rank_low: int
    rank_high: int


class Rankings(msgspec.Struct, frozen=True):
    """Each sorted by the lower bound, so that 1 of 1 cannot beat 98 of 100.

    Fields:
        pairs: models by prompts, each named `MODEL x PROMPT`.
        text_dialects: text dialect -> the normalizers, ranked on its scenarios alone.
        agents: by conformance.
        conversations: models by prompts by agents, by conversation success.
    """

    models: tuple[Ranked, ...]
    prompts: tuple[Ranked, ...]
    pairs: tuple[Ranked, ...]
    normalizers: tuple[Ranked, ...]
    text_dialects: dict[str, tuple[Ranked, ...]] = msgspec.field(default_factory=dict)
    agents: tuple[Ranked, ...] = ()
    conversations: tuple[RankedConversations, ...] = ()


def rankings(run: Run) -> Rankings:
    """Rank the models, prompts and normalizers of `run`; see `rank` for what counts."""
    with Questions(run) as questions:
        return rank(questions)


def rank(questions: Questions) -> Rankings:
    """Rank what a loaded run measured.

    Models and prompts: n is the turns of recorded and imported cassettes, each once (however
    many scenarios and normalizers it met), as the lead normalizer of the run read it; k is
    those that were a success. A turn is a cassette and an interaction: the same body
    imported under two ids counts twice. Normalizers: n is the cells that they support, k
    those whose outcome conforms; their parse errors are counted over all turns of those
    cells. Agents: the same over conversations. Conversations: n is those of recorded and
    imported cassettes, k those that ended with an answer. What was never measured (n = 0) is
    left out.
    """
    return Rankings(
        models=_measured(questions, "model"),
        prompts=_measured(questions, "prompt"),
        pairs=_measured(questions, "model x prompt"),
        normalizers=_ranked(questions.conformance()),
        text_dialects={
            name: _ranked(rates) for name, rates in questions.conformance_by_text_dialect().items()
        },
        agents=_ranked(questions.agent_conformance()),
        conversations=_ranked_conversations(questions.conversation_success()),
    )


def _measured(questions: Questions, axis: Axis) -> tuple[Ranked, ...]:
    repeats = questions.repeats(axis)
    alike = intraclass_correlation(repeats.values())
    rates = questions.turn_success(axis)
    return _sorted([(rate, clustered_interval(repeats[rate.name], alike)) for rate in rates])


def _ranked(rates: Iterable[Rate]) -> tuple[Ranked, ...]:
    return _sorted(
        [(rate, ClusteredInterval(wilson(rate.k, rate.n), rate.n, rate.n)) for rate in rates]
    )


def _sorted(rows: Sequence[tuple[Rate, ClusteredInterval]]) -> tuple[Ranked, ...]:
    ranges = rank_ranges([sure.interval for _, sure in rows])
    lines = (_line(*row, ranks) for row, ranks in zip(rows, ranges, strict=True))
    return tuple(sorted(lines, key=lambda line: (-line.low, -line.n, line.name)))


def _ranked_conversations(rates: Iterable[ConversationRate]) -> tuple[RankedConversations, ...]:
    rows = list(rates)
    intervals = [wilson(rate.k, rate.n) for rate in rows]
    lines = (
        RankedConversations(
            name=f"{rate.model} x {rate.prompt} x {rate.agent}",
            rate=rate,
            low=interval.low,
            high=interval.high,
            rank_low=ranks.low,
            rank_high=ranks.high,
        )
        for rate, interval, ranks in zip(rows, intervals, rank_ranges(intervals), strict=True)
    )
    return tuple(sorted(lines, key=lambda line: (-line.low, -line.rate.n, line.name)))


def _line(rate: Rate, sure: ClusteredInterval, ranks: RankRange) -> Ranked:
    low, high = sure.interval
    return Ranked(
        name=rate.name,
        k=rate.k,
        n=rate.n,
        low=low,
        high=high,
        rank_low=ranks.low,
        rank_high=ranks.high,
        parse_error=rate.parse_error,
        failed=rate.failed,
        best_k=rate.best_k,
        groups=sure.groups,
        effective_n=sure.effective_n,
    )
