"""Models, prompts, normalizers and agents, ranked by the lower bounds of their intervals.

Turn and conversation success rank models and prompts, conformance ranks normalizers and agents.
An emulated cassette measures no model, so that its turns never count for one.
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
        k, n: successes and trials; `low`, `high`: the Wilson 95 % interval of k/n, wider if
            requests repeat (see `harness.runs.statistics`).
        rank_low, rank_high: the best and the worst rank that the intervals allow.
        parse_error: turns with a parse_error, by blame.
        failed: failed turns, by blame.
        best_k: `k` with each turn from the best normalizer that conformed on its cell, so that
            a client does not lower the rank of a model; for a normalizer it is `k`.
        groups: number of different requests that the `n` answer; for a normalizer it is `n`.
        effective_n: the number of independent trials with the same information.
        unjudged, causes: as in `Rate`.
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
    """Rank the models, prompts and normalizers of `run`; see `rank` for the definitions."""
    with Questions(run) as questions:
        return rank(questions)


def rank(questions: Questions) -> Rankings:
    """Rank everything that a loaded run measured; entries with n = 0 are left out.

    Models and prompts: n is the number of turns of recorded and imported cassettes, as the lead
    normalizer read them, and k of those succeeded. Each turn counts once, whatever number of
    scenarios and normalizers it has. A turn is a cassette and an interaction, so that the same
    body with two ids counts twice. An unknown model has no line; its turns count for their prompt.
    Normalizers: n is the number of their judged cells, and
    k of those conform; their parse errors are counted over all turns of those cells. Agents: the
    same for conversations. Conversations: n is the number of those in recorded and imported
    cassettes, and k of those ended with an answer.
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
        RankedConversations(f"{it.model} x {it.prompt} x {it.agent}", it, *interval, *ranks)
        for it, interval, ranks in zip(rows, intervals, rank_ranges(intervals), strict=True)
    )
    return tuple(sorted(lines, key=lambda line: (-line.low, -line.rate.n, line.name)))


def _line(rate: Rate, sure: ClusteredInterval, ranks: RankRange) -> Ranked:
    counts = rate.name, rate.k, rate.n, *sure.interval, *ranks
    turns = rate.parse_error, rate.failed, rate.best_k
    return Ranked(*counts, *turns, sure.groups, sure.effective_n, rate.unjudged, rate.causes)
