"""Make the rows of the rankings (boards) as a report shows them, each with its interval.

Order and numbers are those of `harness.verdicts.rankings`.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from harness.reporting.report import Filters, Report
from harness.reporting.words import MEASURED
from harness.verdicts.query_rows import BlameSplit
from harness.verdicts.rankings import Ranked, RankedConversations, RankedRate, Rankings
from harness.verdicts.statistics import percent, percent_range

FEW = 30
NOT_DISTINGUISHABLE = "not distinguishable"

_NOT_MEASURED = (
    "No recorded or imported turns are in this run, so there is nothing to rank. "
    "Emulated cassettes measure normalizers, not {what}: they were not recorded from a {one}."
)


class ErrorRateText(msgspec.Struct, frozen=True):
    """The rate of parse errors of a ranked name as text; `rate` is None if it was not measured."""

    rate: RankedRate | None = None
    place: str = ""
    share: str = ""
    interval: str = ""


class BoardRow(msgspec.Struct, frozen=True):
    """A row of a ranking: one ranked name, such as a model.

    Fields:
        ranked: the name with its numbers.
        place: the rank as text.
        note: a label after the name.
        share, interval: the rate and its 95 % confidence interval as text.
        parse_errors, failed: numbers of turns by blame, as text.
        errors: the rate of parse errors.
        filters: the filters of the table of replays that list the cells of this name; empty for no
            link.
    """

    ranked: Ranked
    place: str
    note: str
    share: str
    interval: str
    parse_errors: str
    failed: str
    errors: ErrorRateText
    filters: Filters = {}

    @property
    def few(self) -> bool:
        """Whether n is too small for a ranking."""
        return self.ranked.n < FEW


class Board(msgspec.Struct, frozen=True):
    """A ranking as a report shows it.

    Fields:
        one: what a row is, such as `model`.
        rows: the best first.
        empty: the text that replaces a table without rows.
        rate: the name of the rate, which is k of n.
        unit: the things that n counts.
        best: whether to show `best_k`, the k that the best normalizer for each turn would give.
    """

    id: str
    title: str
    one: str
    rows: tuple[BoardRow, ...]
    empty: str
    rate: str = "conformance"
    unit: str = "cells"
    best: bool = False


class ConversationRow(msgspec.Struct, frozen=True):
    """A row of the ranking of combinations of a model, a prompt and an agent.

    Fields:
        cells: text of usable turns, turns with parse errors, recovered turns, retries, strategy,
            and failed conversations by blame.
    """

    ranked: RankedConversations
    place: str
    share: str
    interval: str
    few: bool
    cells: tuple[str, ...]


def conversation_rows(rankings: Rankings) -> tuple[ConversationRow, ...]:
    """Return the ranked combinations of model, prompt and agent, from measured conversations."""
    return tuple(map(_conversation_row, rankings.conversations))


def _conversation_row(ranked: RankedConversations) -> ConversationRow:
    rate = ranked.rate
    strategies = rate.tool_use + rate.json_fallback
    return ConversationRow(
        ranked,
        rank_text(ranked),
        percent(rate.k / rate.n),
        percent_range(ranked.low, ranked.high),
        rate.n < FEW,
        (
            _count_of_total(rate.turns - rate.broken_turns, rate.turns),
            _count_of_total(rate.parse_error_turns, rate.turns),
            f"{rate.recovered} of {rate.broken_turns}",
            str(rate.retries),
            f"tool_use {percent(rate.tool_use / strategies)}" if strategies else "not reported",
            blame_counts(rate.failed),
        ),
    )


def _count_of_total(count: int, total: int) -> str:
    return f"{count}/{total} ({percent(count / total)})" if total else "0"


def boards(report: Report) -> dict[str, Board]:
    """Return the rankings by id: models, prompts, pairs, normalizers, text dialects, agents."""
    rankings, header = report.rankings, report.run.header
    roles = {each.name: each.role for each in header.normalizers}
    agent_roles = {each.name: each.role for each in header.agents}
    measured: Filters = {"normalizer": header.lead, "origin": MEASURED}
    pairs = {
        f"{each.model} x {each.prompt}": {"model": each.model, "prompt": each.prompt}
        for each in report.store.measured_turns()
    }
    models = _turn_rows(rankings.models, lambda name: {"model": name, **measured})
    prompts = _turn_rows(rankings.prompts, lambda name: {"prompt": name, **measured})
    by_pair = _turn_rows(rankings.pairs, lambda name: {**pairs[name], **measured})
    found = (
        _turn_board("models", "Models", "model", models),
        _turn_board("prompts", "Prompts", "prompt", prompts),
        _turn_board("pairs", "Models by prompts", "pair", by_pair),
        Board(
            id="normalizers",
            title="Normalizers",
            one="normalizer",
            rows=tuple(_client_row(each, roles) for each in rankings.normalizers),
            empty="This run judged no normalizer: no cell was selected.",
        ),
        Board(
            id="text-dialects",
            title="Normalizers by text dialect",
            one="normalizer x text dialect",
            rows=tuple(_text_dialect_rows(rankings)),
            empty="No scenario of this run has text calls.",
        ),
        Board(
            id="agents",
            title="Agents",
            one="agent",
            unit="conversations",
            rows=tuple(_client_row(each, agent_roles) for each in rankings.agents),
            empty="This run judged no agent: no conversation was selected.",
        ),
    )
    return {each.id: each for each in found}


def _text_dialect_rows(rankings: Rankings) -> Iterator[BoardRow]:
    """Yield, for each text dialect, the normalizers that support it, ranked."""
    for text_dialect, ranked in rankings.text_dialects.items():
        for each in ranked:
            name = f"{each.name} x {text_dialect}"
            yield board_row(msgspec.structs.replace(each, name=name))


def _client_row(ranked: Ranked, roles: Mapping[str, str]) -> BoardRow:
    return board_row(ranked, roles.get(ranked.name, ""), {"normalizer": ranked.name})


def _turn_rows(
    ranked: tuple[Ranked, ...], filters: Callable[[str], Filters]
) -> tuple[BoardRow, ...]:
    return tuple(board_row(each, filters=filters(each.name)) for each in ranked)


def _turn_board(board: str, title: str, one: str, rows: tuple[BoardRow, ...]) -> Board:
    return Board(
        id=board,
        title=title,
        one=one,
        rate="turn success",
        unit="turns",
        best=True,
        rows=rows,
        empty=_NOT_MEASURED.format(what=board, one=one),
    )


def board_row(ranked: Ranked, note: str = "", filters: Filters | None = None) -> BoardRow:
    """Return a row of a ranking; `note` is a label after the name."""
    share = ranked.k / ranked.n if ranked.n else 0.0
    return BoardRow(
        ranked=ranked,
        place=rank_text(ranked),
        note=note,
        share=percent(share) if ranked.n else "not measured",
        interval=percent_range(ranked.low, ranked.high),
        parse_errors=blame_counts(ranked.parse_error),
        failed=blame_counts(ranked.failed),
        errors=_error_rate_text(ranked.parse_error_rate),
        filters=filters or {},
    )


def _error_rate_text(rate: RankedRate | None) -> ErrorRateText:
    if rate is None:
        return ErrorRateText()
    share, interval = percent(rate.k / rate.n), percent_range(rate.low, rate.high)
    return ErrorRateText(rate, rank_text(rate), share, interval)


def blame_counts(split: BlameSplit) -> str:
    """Return the number of failures for each blame as text; "0" if there are none."""
    parts = (
        (count, name.replace("_", " ")) for name, count in msgspec.structs.asdict(split).items()
    )
    return ", ".join(f"{count} {name}" for count, name in parts if count) or "0"


def rank_text(ranked: Ranked | RankedConversations | RankedRate) -> str:
    """Return the rank as a range, such as `2-4`, or as one number if the intervals allow only one.

    A range of more than half of the ranks says too little. Then the text states that ranks cannot
    be distinguished.
    """
    if not ranked.distinguishable:
        return NOT_DISTINGUISHABLE
    low, high = ranked.rank_low, ranked.rank_high
    return str(low) if low == high else f"{low}-{high}"
