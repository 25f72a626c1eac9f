"""Rankings -> boards: the rows of a ranking as they are shown, each with its interval.

Order and numbers are those of `harness.runs.rankings`; nothing is counted again here.
"""

from collections.abc import Iterator

import msgspec

from harness.reporting.words import percent
from harness.runs.questions import BlameSplit
from harness.runs.rankings import Ranked, RankedConversations, Rankings
from harness.runs.run import Run

FEW = 30
_BAR_WIDTH = 200

_NOT_MEASURED = (
    "No recorded or imported turns are in this run, so there is nothing to rank. "
    "Emulated cassettes judge normalizers, never {what}: nobody measured that {one}."
)


class Bar(msgspec.Struct, frozen=True):
    """A Wilson interval and its point, on a scale of 0 to `_BAR_WIDTH`."""

    low: float
    point: float
    high: float

    @property
    def width(self) -> float:
        """Return the length of the interval."""
        return round(self.high - self.low, 1)


class BoardRow(msgspec.Struct, frozen=True):
    """One ranked thing; `parse_errors` and `failed` count turns by blame, in words."""

    ranked: Ranked
    place: str
    note: str
    share: str
    interval: str
    bar: Bar
    parse_errors: str
    failed: str

    @property
    def few(self) -> bool:
        """Whether so little was measured that the row is only a hint."""
        return self.ranked.n < FEW


class Board(msgspec.Struct, frozen=True):
    """A ranking.

    Fields:
        rate: what k of n means.
        unit: what n counts.
        clients: whether `best_k` says something: k with the best normalizer for each turn.
        empty: the sentence that stands where there are no rows.
    """

    id: str
    title: str
    one: str
    rate: str
    unit: str
    clients: bool
    rows: tuple[BoardRow, ...]
    empty: str


class ConversationRow(msgspec.Struct, frozen=True):
    """One line of the ranking of models by prompts by agents; shares are of turns, in words."""

    ranked: RankedConversations
    place: str
    share: str
    interval: str
    turns: str
    parse_errors: str
    recovered: str
    strategies: str
    failed: str

    @property
    def few(self) -> bool:
        """Whether so little was measured that the row is only a hint."""
        return self.ranked.rate.n < FEW


def conversation_rows(rankings: Rankings) -> tuple[ConversationRow, ...]:
    """Return the rows of models by prompts by agents; only measured conversations count."""
    return tuple(map(_conversation_row, rankings.conversations))


def _conversation_row(ranked: RankedConversations) -> ConversationRow:
    rate = ranked.rate
    return ConversationRow(
        ranked=ranked,
        place=_range(ranked.rank_low, ranked.rank_high),
        share=percent(rate.k / rate.n),
        interval=f"{percent(ranked.low)} to {percent(ranked.high)}",
        turns=_count_of_total(rate.turns - rate.broken_turns, rate.turns),
        parse_errors=_count_of_total(rate.parse_error_turns, rate.turns),
        recovered=f"{rate.recovered} of {rate.broken_turns}",
        strategies=_strategies(rate.tool_use, rate.json_fallback),
        failed=blame_counts(rate.failed),
    )


def _count_of_total(count: int, total: int) -> str:
    return f"{count}/{total} ({percent(count / total)})" if total else "0"


def _strategies(tool_use: int, json_fallback: int) -> str:
    total = tool_use + json_fallback
    return f"tool_use {percent(tool_use / total)}" if total else "not told"


def boards(run: Run, rankings: Rankings) -> tuple[Board, ...]:
    """Return the boards of models, prompts, pairs of both, normalizers, text dialects, agents."""
    roles = {each.name: each.role for each in run.header.normalizers}
    agent_roles = {each.name: each.role for each in run.header.agents}
    return (
        _measured("models", "Models", "model", rankings.models),
        _measured("prompts", "Prompts", "prompt", rankings.prompts),
        _measured("pairs", "Models by prompts", "pair", rankings.pairs),
        Board(
            id="normalizers",
            title="Normalizers",
            one="normalizer",
            rate="conformance",
            unit="cells",
            clients=False,
            rows=tuple(_row(each, roles.get(each.name, "")) for each in rankings.normalizers),
            empty="This run judged no normalizer: no cell was selected.",
        ),
        Board(
            id="text-dialects",
            title="Normalizers by text dialects",
            one="normalizer x text dialect",
            rate="conformance",
            unit="cells",
            clients=False,
            rows=tuple(_text_dialect_rows(rankings)),
            empty="No scenario of this run has calls that are spelled in text.",
        ),
        Board(
            id="agents",
            title="Agents",
            one="agent",
            rate="conformance",
            unit="conversations",
            clients=False,
            rows=tuple(_row(each, agent_roles.get(each.name, "")) for each in rankings.agents),
            empty="This run judged no agent: no conversation was selected.",
        ),
    )


def _text_dialect_rows(rankings: Rankings) -> Iterator[BoardRow]:
    """Yield the normalizers of each text dialect, whose rank is one among themselves."""
    for text_dialect, ranked in rankings.text_dialects.items():
        for each in ranked:
            name = f"{each.name} x {text_dialect}"
            yield _row(msgspec.structs.replace(each, name=name), "")


def _measured(board: str, title: str, one: str, ranked: tuple[Ranked, ...]) -> Board:
    return Board(
        id=board,
        title=title,
        one=one,
        rate="turn success",
        unit="turns",
        clients=True,
        rows=tuple(_row(each, "") for each in ranked),
        empty=_NOT_MEASURED.format(what=board, one=one),
    )


def _row(ranked: Ranked, note: str) -> BoardRow:
    share = ranked.k / ranked.n if ranked.n else 0.0
    return BoardRow(
        ranked=ranked,
        place=rank_text(ranked),
        note=note,
        share=percent(share) if ranked.n else "not measured",
        interval=f"{percent(ranked.low)} to {percent(ranked.high)}",
        bar=Bar(_x(ranked.low), _x(share), _x(ranked.high)),
        parse_errors=blame_counts(ranked.parse_error),
        failed=blame_counts(ranked.failed),
    )


def blame_counts(split: BlameSplit) -> str:
    """Return the counts by blame in words; "0" where there are none."""
    parts = (
        (split.model, "model"),
        (split.provider, "provider"),
        (split.normalizer, "normalizer"),
        (split.harness, "harness"),
    )
    return ", ".join(f"{count} {name}" for count, name in parts if count) or "0"


def rank_text(ranked: Ranked) -> str:
    """Return the rank as a range, such as `2-4`; one number where the data decide."""
    return _range(ranked.rank_low, ranked.rank_high)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _x(share: float) -> float:
    return round(share * _BAR_WIDTH, 1)
