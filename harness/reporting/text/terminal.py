"""Write the rankings of a run as tables for a terminal, or as Markdown.

A colour only repeats what a word states. Names may be hostile, so control characters are replaced.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import click
import msgspec

from harness.reporting.boards import BoardRow, ConversationRow, board_row, conversation_rows
from harness.reporting.visible import markdown_escaped, markdown_table, plain
from harness.reporting.words import OUTCOME_WORDS, reasons_text
from harness.results.outcome import Outcome
from harness.verdicts.causes import FailureCause
from harness.verdicts.gate import Summary
from harness.verdicts.judged_shares import JudgedShare
from harness.verdicts.rankings import Ranked
from harness.verdicts.statistics import percent

Format = Literal["pretty", "markdown"]

_Paint: TypeAlias = Callable[[str, str], str]

_TONES: dict[str, str] = {each.value: OUTCOME_WORDS[each].tone for each in Outcome}
_COLOURS = {
    "bad": "red",
    "warn": "yellow",
    "info": "blue",
    "ok": "green",
    "mute": "bright_black",
}
_RATE_HEAD = ("rank", "name", "k/n", "rate", "95 % interval")
_BLAME_HEAD = ("parse_error by blame", "failed turns by blame")
_ERRORS_HEAD = ("with parse_error", "rate", "95 % interval", "rank")
_TURNS_HEAD = (*_RATE_HEAD, "unjudged", *_ERRORS_HEAD, *_BLAME_HEAD)
# Of a client, how many cells fail, and for how many causes.
_HEAD = (*_RATE_HEAD, "failing", "causes", "unjudged", *_BLAME_HEAD)
_CAUSES_HEAD = ("cells", "name", "outcome", "cause", "a cell for harness replay")
_CONVERSATION_HEAD = (
    *_RATE_HEAD,
    *("usable turns", "parse_error turns", "recovered", "retries", "strategy", "failed by blame"),
)
# The report has longer rankings, with sorting and filters.
_MOST_ROWS = 15
_NAME_CHARACTERS = 120
_CAUSE_CHARACTERS = 160
MAX_WIDTH = 100
# A longer text may be cut to this width if its table is too wide.
_LEAST_WIDTH = 24
_NOT_MEASURED = "no recorded or imported turns: emulated cassettes do not measure models"


class _Table(msgspec.Struct, frozen=True):
    """A table with a title, as text.

    Fields:
        empty: the text that replaces a table without rows; if it is "", nothing is printed.
        more: the number of rows that only the HTML report has.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = ""
    more: int = 0


def tables(summary: Summary, style: Format = "pretty", *, colour: bool | None = None) -> str:
    """Return the rankings of a run as text, ending in a newline.

    Args:
        summary: the summary of a run.
        style: the style of the tables.
        colour: whether `pretty` uses ANSI colours; None reads the variable NO_COLOR
            (no-color.org). `click.echo` removes them if the output is not a terminal.
    """
    write = _WRITERS[style]
    coloured = not os.environ.get("NO_COLOR") if colour is None else colour
    paint = _coloured if coloured else _uncoloured
    ranked = summary.rankings
    found = (
        _table("Normalizers by conformance", ranked.normalizers),
        _table("Agents by conformance", ranked.agents),
        _outcomes(summary.outcomes),
        _causes(summary.causes),
        _judged(summary.judged),
        _text_dialects(ranked.text_dialects),
        _turns_table("Models by turn success", ranked.models, _NOT_MEASURED),
        _turns_table("Prompts by turn success", ranked.prompts),
        _turns_table("Models x prompts by turn success", ranked.pairs),
        _conversations(conversation_rows(ranked)),
    )
    return "\n".join(write(each, paint) for each in found if each.rows or each.empty)


def _table(title: str, ranked: tuple[Ranked, ...]) -> _Table:
    rows = tuple(_client_row(board_row(each)) for each in ranked[:_MOST_ROWS])
    return _Table(title, _HEAD, rows, more=len(ranked) - len(rows))


def _turns_table(title: str, ranked: tuple[Ranked, ...], empty: str = "") -> _Table:
    rows = tuple(_turns_row(board_row(each)) for each in ranked[:_MOST_ROWS])
    return _Table(title, _TURNS_HEAD, rows, empty, len(ranked) - len(rows))


def _causes(causes: tuple[FailureCause, ...]) -> _Table:
    """Return the table of causes, the worst outcome first, then by number of cells."""
    rows = tuple(
        (
            str(each.cells),
            plain(each.normalizer, limit=60),
            each.outcome.value,
            plain(each.text, limit=_CAUSE_CHARACTERS),
            plain(each.cell, limit=_CAUSE_CHARACTERS),
        )
        for each in causes[:_MOST_ROWS]
    )
    return _Table("Failures by cause", _CAUSES_HEAD, rows, more=len(causes) - len(rows))


def _conversations(found: tuple[ConversationRow, ...]) -> _Table:
    rows = tuple(
        (*_rate_cells(each, each.ranked.rate.k, each.ranked.rate.n), *each.cells)
        for each in found[:_MOST_ROWS]
    )
    title = "Models x prompts x agents by conversation success"
    return _Table(title, _CONVERSATION_HEAD, rows, more=len(found) - len(rows))


def _turns_row(each: BoardRow) -> tuple[str, ...]:
    rate, errors = _rate_cells(each, each.ranked.k, each.ranked.n), each.errors
    counts = f"{errors.rate.k}/{errors.rate.n}" if errors.rate else "-"
    with_error = (counts, errors.share, errors.interval, errors.place)
    return (*rate, str(each.ranked.unjudged), *with_error, each.parse_errors, each.failed)


def _client_row(each: BoardRow) -> tuple[str, ...]:
    ranked, rate = each.ranked, _rate_cells(each, each.ranked.k, each.ranked.n)
    failing = (str(ranked.n - ranked.k), str(ranked.causes), str(ranked.unjudged))
    return (*rate, *failing, each.parse_errors, each.failed)


def _rate_cells(each: BoardRow | ConversationRow, k: int, n: int) -> tuple[str, ...]:
    name = plain(each.ranked.name, limit=_NAME_CHARACTERS)
    return (each.place, name, f"{k}/{n}", each.share, each.interval + (", few" if each.few else ""))


def _outcomes(counts: dict[str, dict[str, int]]) -> _Table:
    """Return the table of cells by normalizer and outcome, without outcomes that did not occur."""
    used = [each for each in Outcome if any(each.value in row for row in counts.values())]
    rows = tuple(
        (plain(name, limit=60), *(str(row.get(each.value, 0)) for each in used))
        for name, row in counts.items()
    )
    return _Table("Outcomes of cells", ("name", *map(str, used)), rows)


def _judged(shares: Iterable[JudgedShare]) -> _Table:
    """Return the table of judged turns by field, and why other turns were not judged."""
    rows = tuple(
        (it.field, f"{it.k}/{it.n}", percent(it.k / it.n), plain(reasons_text(it)))
        for it in shares
        if it.n
    )
    return _Table("Judged turns", ("field", "k/n", "rate", "not judged because"), rows)


def _text_dialects(ranked: dict[str, tuple[Ranked, ...]]) -> _Table:
    """Return the table of text dialects and normalizers: k/n cells, or "-" if unsupported."""
    names = sorted({each.name for row in ranked.values() for each in row})
    rows: list[tuple[str, ...]] = []
    for text_dialect, row in ranked.items():
        rates = {each.name: f"{each.k}/{each.n}" for each in row}
        shown = (rates.get(name, "-") for name in names)
        rows.append((plain(text_dialect, limit=60), *shown))
    head = ("text dialect", *(plain(name, limit=60) for name in names))
    return _Table("Text dialects by conformance", head, tuple(rows))


def _pretty(table: _Table, paint: _Paint) -> str:
    title = paint(table.title, "title")
    if not table.rows:
        return f"{title}\n  {table.empty}\n"
    widths = _fitting_widths([*zip(table.head, *table.rows, strict=True)])
    head, *rows = (
        [_cut(text, width) for text, width in zip(row, widths, strict=False)]
        for row in (table.head, *table.rows)
    )
    left_out = table.head[len(widths) :]
    widths[-1] = 0  # so that no line ends in spaces, even in coloured ones
    first = _line(head, widths, [""] * len(widths), paint)
    lines = [_line(row, widths, _tones(head, row), paint) for row in rows]
    more = [f"  and {table.more} more in the report"] if table.more else []
    more += [f"  in the report also: {', '.join(left_out)}"] if left_out else []
    return "\n".join([title, first, *lines, *more, ""])


def _fitting_widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of as many columns as fit on a line, the widest ones cut if need be."""
    widths = [max(map(len, column)) for column in columns]
    while _width_of([min(width, _LEAST_WIDTH) for width in widths]) > MAX_WIDTH:
        widths.pop()
    while _width_of(widths) > MAX_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return widths


def _width_of(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * len(widths)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _line(row: Iterable[str], widths: Iterable[int], tones: Iterable[str], paint: _Paint) -> str:
    cells = zip(row, widths, tones, strict=True)
    padded = (paint(text.ljust(width), tone) for text, width, tone in cells)
    return "  " + "  ".join(padded).rstrip()


def _tones(head: Sequence[str], row: Sequence[str]) -> list[str]:
    """Return the colour of each cell of a table; a count of an outcome has the outcome's colour."""
    return [
        _TONES.get(name, "") if text != "0" else "" for name, text in zip(head, row, strict=True)
    ]


def _coloured(text: str, tone: str) -> str:
    if tone == "title":
        return click.style(text, bold=True)
    return click.style(text, fg=_COLOURS[tone]) if tone else text


def _uncoloured(text: str, _tone: str) -> str:
    return text


def _markdown(table: _Table, _paint: _Paint) -> str:
    lines = [f"### {table.title}", ""]
    if not table.rows:
        return "\n".join([*lines, table.empty, ""])
    rows = (map(markdown_escaped, row) for row in table.rows)
    return "\n".join([*lines, markdown_table(map(markdown_escaped, table.head), rows), ""])


_WRITERS: dict[Format, Callable[[_Table, _Paint], str]] = {"pretty": _pretty, "markdown": _markdown}
