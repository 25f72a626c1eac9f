"""Write the output of `harness run`: a line for each client, then the worst failures.

For each cause, it shows the worst failure. A colour only repeats what a word states.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import click

from harness.reporting.failures import Failure
from harness.reporting.text.failure import failure_lines
from harness.reporting.visible import marked, plain
from harness.reporting.words import FAILING
from harness.results.catalogue import Quirk
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.verdicts.gate import Summary
from harness.wording import pluralize

MOST_FAILURES: Final = 10
_NAME_CHARACTERS: Final = 80


def verdict_text(
    run: Run,
    summary: Summary,
    failures: Sequence[Failure],
    quirks: Mapping[str, Quirk],
    *,
    colour: bool | None = None,
) -> str:
    """Return the result of `run` as text, ending in a newline.

    Args:
        run: the run.
        summary: the summary of the run.
        failures: the failures of the run by cause, the worst first.
        quirks: id -> quirk of the catalogue.
        colour: whether to use ANSI colours; None reads the variable NO_COLOR (no-color.org).
            `click.echo` removes them if the output is not a terminal.
    """
    coloured = not os.environ.get("NO_COLOR") if colour is None else colour
    failing = [each for each in failures if each.is_must and each.accepted < each.group.cells]
    lines = [*_client_lines(run, summary, coloured=coloured), *_minor_lines(failures)]
    for number, each in enumerate(failing[:MOST_FAILURES], 1):
        lines += ["", *_failure(number, each, run, quirks, coloured=coloured)]
    more = len(failing) - MOST_FAILURES
    if more > 0:
        lines += ["", f"and {pluralize(more, 'more cause')} of failure in the report"]
    return "\n".join([*lines, ""])


def _client_lines(run: Run, summary: Summary, *, coloured: bool) -> Iterator[str]:
    """Yield, for each client, how many cells conform, and how many others it has of each kind."""
    accepted = [each.cell for each in summary.gate.excused]
    for name, counts in summary.outcomes.items():
        judged = sum(count for it, count in counts.items() if Outcome(it).judged)
        failed = {it: counts[it] for it in FAILING if counts.get(it)}
        total = sum(failed.values())
        known = sum(cell.endswith(f"/{name}") for cell in accepted)
        others = [f"{counts[it]:,} {it}" for it in ("unjudged", "unsupported") if counts.get(it)]
        others += _left_out(run, name)
        if total:
            kinds = ", ".join(f"{count:,} {it}" for it, count in failed.items())
            verb = "does" if total == 1 else "do"
            text = f"{total:,} of {pluralize(judged, 'cell')} {verb} not conform ({kinds})"
        else:
            text = f"{pluralize(judged, 'cell')} {'conforms' if judged == 1 else 'conform'}"
        fails = total > known and summary.gate.verdict != "pass"  # a rule may allow failures
        word = "FAIL" if fails else "ok  "
        more = [*([f"{known:,} accepted"] if known else []), *others]
        shown = click.style(word, fg="red" if fails else "green") if coloured else word
        named = " ".join(filter(None, (name, run.header.version_of(name))))
        yield f"{shown}  {plain(named, _NAME_CHARACTERS)}: {', '.join([text, *more])}"


def _left_out(run: Run, name: str) -> Iterator[str]:
    """Yield how many cells and turns a client was not judged by, as no server sends them."""
    cells = sum(cell.endswith(f"/{name}") for cell in run.header.selection.left_out)
    turns = sum(len(result.left_out) for result in run.results if result.normalizer == name)
    yield from (f"{cells:,} left out",) if cells else ()
    yield from (f"{pluralize(turns, 'turn')} left out",) if turns else ()


def _minor_lines(failures: Sequence[Failure]) -> Iterator[str]:
    minor = [each for each in failures if not each.is_must]
    if minor:
        cells = pluralize(sum(each.group.cells for each in minor), "cell")
        causes = pluralize(len(minor), "cause")
        yield f"      SHOULD rules, which fail no cell, are violated in {cells} ({causes})"


def _failure(
    number: int, each: Failure, run: Run, quirks: Mapping[str, Quirk], *, coloured: bool
) -> Iterator[str]:
    more = each.group.cells - 1
    cells = f"and {pluralize(more, 'other cell')}" if more else ""
    title = f"{number}. {marked(each.cell)}: {each.group.outcome.value} {cells}".rstrip()
    yield click.style(title, bold=True) if coloured else title
    result = next(it for it in run.results if it.cell == each.cell)
    yield from failure_lines(
        result,
        findings=(each.example,) if each.example else (),
        case=run.cases.get(each.cell) or run.conversations.get(each.cell),
        output=run.outputs.get(each.cell, ""),
        command=each.command,
        quirks=quirks,
        repro=each.repro,
    )
