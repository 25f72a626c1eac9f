"""The rates of a log as tables for a terminal, or as Markdown."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from harness.measuring.rates import Measured, RateLine, Share, Signature
from harness.reporting.visible import aligned_columns, markdown_table, markdown_text, plain
from harness.verdicts.statistics import percent

Format = Literal["pretty", "markdown"]

_HEAD: Final = ("name", "turns", "turn success", "95 %", "parse_error", "95 %", "failed by blame")
_SIGNATURE_HEAD: Final = ("turns", "blame", "signature", "models", "first of them")
_MOST_ROWS: Final = 15
_MOST_MODELS: Final = 3


def measured_text(found: Measured, style: Format) -> str:
    """Return the rates of a log as tables for a terminal or as Markdown, ending with a newline."""
    return "\n".join(_lines(found, style)) + "\n"


def _lines(found: Measured, style: Format) -> Iterator[str]:
    yield (
        f"{found.turns:,} turns: {_rate(found.success)} succeeded, "
        f"{_rate(found.parse_error_rate)} have a parse error"
    )
    if found.duplicates:
        yield f"{found.duplicates:,} equal ones do not count"
    if found.outcomes:
        counts = (f"{count:,} {outcome}" for outcome, count in found.outcomes.items())
        yield f"outcomes of the normalizer: {', '.join(counts)}"
    for lack, count in found.lacks.items():
        yield f"{lack} missing in {count:,} turns: what depends on it is not judged"
    for axis, lines in found.by.items():
        if len(lines) > 1 or (lines and lines[0].names != ("",)):
            yield from _table(f"By {axis}", _HEAD, [_row(each) for each in lines], style)
    rows = [_signature(each) for each in found.signatures]
    yield from _table("Failures by signature", _SIGNATURE_HEAD, rows, style)


def _rate(share: Share) -> str:
    return percent(share.k / share.n) if share.n else "-"


def _interval(share: Share) -> str:
    return f"{percent(share.low)} to {percent(share.high)}"


def _row(line: RateLine) -> tuple[str, ...]:
    success, rejected = line.turn_success, line.parse_error_rate
    failed = ", ".join(f"{count:,} {blame}" for blame, count in sorted(line.failed.items()))
    return (
        " x ".join(name or "(not logged)" for name in line.names),
        f"{success.n:,}",
        _rate(success),
        _interval(success),
        _rate(rejected),
        _interval(rejected),
        failed or "0",
    )


def _signature(each: Signature) -> tuple[str, ...]:
    models = ", ".join(each.models[:_MOST_MODELS])
    more = len(each.models) - _MOST_MODELS
    return (
        f"{each.n:,}",
        each.blame,
        each.signature,
        models + (f" and {more} more" if more > 0 else ""),
        _place(*each.samples[0]),
    )


def _place(file: str, position: int, _: str, record: str) -> str:
    return f"{file}#{position} ({record})" if record else f"{file}#{position}"


def _table(
    title: str, head: Sequence[str], rows: Sequence[tuple[str, ...]], style: Format
) -> Iterator[str]:
    shown, more = rows[:_MOST_ROWS], len(rows) - _MOST_ROWS
    if not rows:
        return
    if style == "markdown":
        yield f"\n### {title}\n"
        yield markdown_table(head, [[markdown_text(cell) for cell in row] for row in shown])
    else:
        yield f"\n{title}"
        cells = [tuple(head), *(tuple(map(plain, row)) for row in shown)]
        yield from (f"  {line}" for line in aligned_columns(cells))
    if more > 0:
        yield f"  {more} more: see --format json"
