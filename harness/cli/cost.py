"""`harness cost`: measure the time and memory of clients, and the bytes that they hold back."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED
from harness.cli.cassette_options import dialect_option
from harness.cli.options import echo_result, format_option, output_option
from harness.cli.run_files import write_text
from harness.cost.measure import CostLimits
from harness.cost.processes import measure
from harness.errors import UsageError
from harness.judging.rules.cost import cost_findings
from harness.project import ClientKind
from harness.reporting.cost_table import COST_HEAD, cost_cells
from harness.reporting.visible import aligned_columns, marked
from harness.results.cost import Cost
from harness.results.finding import Finding
from harness.runs.declared import declared_normalizer

_USUAL: str = "openai-chat"


class MeasuredClient(msgspec.Struct, frozen=True):
    """The cost of one client with its findings, as the command prints them as JSON."""

    normalizer: str
    kind: ClientKind
    cost: Cost
    findings: tuple[Finding, ...]


@click.command("cost")
@click.option(
    "-n", "--normalizer", "names", multiple=True, metavar="NAME", help="As in harness run."
)
@click.option("--client", "clients", multiple=True, metavar="CMD", help="As in harness run.")
@dialect_option(f"Dialect of the streams. Default: {_USUAL}, or else the client's first.")
@click.option(
    "--deltas",
    type=(click.IntRange(min=100), click.IntRange(min=200)),
    default=CostLimits().deltas,
    show_default=True,
    metavar="SHORT LONG",
    help="Deltas of the shortest and of the longest stream.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=CostLimits().replay_seconds,
    show_default=True,
    help="Time limit of one replay. A stream that may take longer is not tried.",
)
@format_option("pretty", "json")
@output_option("Also write the JSON to this file.", default=None, is_folder=False)
def cost_command(  # noqa: PLR0913 - one parameter for each option
    names: tuple[str, ...],
    *,
    clients: tuple[str, ...],
    dialect: str | None,
    deltas: tuple[int, int],
    seconds: float,
    style: Literal["pretty", "json"],
    output: Path | None,
) -> int:
    """Measure clients, each in new processes, and judge them by the rules about cost.

    The command exits with code 1 if a client could not be measured. These rules are SHOULD rules,
    so their findings do not change the exit code.
    """
    selected = (*names, *(f"client:{each}" for each in clients))
    if not selected:
        raise UsageError("expected a client, found none", hint="Pass -n NAME or --client CMD.")
    if deltas[0] * 2 > deltas[1]:
        what = "expected a longest stream at least twice longer than the shortest"
        raise UsageError(what, where="--deltas", hint="Pass for example 5000 40000.")
    limits = CostLimits(deltas=deltas, replay_seconds=seconds)
    found = [_measure(name, dialect, limits) for name in selected]
    if output is not None:
        write_text(output, msgspec.json.encode(found).decode() + "\n")
    echo_result(style, found, _lines(found))
    return EXIT_GATE_FAILED if any(each.cost.not_measured for each in found) else 0


def _measure(name: str, dialect: str | None, limits: CostLimits) -> MeasuredClient:
    normalizer = declared_normalizer(name)
    if dialect is not None and dialect not in normalizer.dialects:
        hint = f"Choose one of: {', '.join(sorted(normalizer.dialects))}."
        raise UsageError(f"{name} does not support {dialect}", where="--dialect", hint=hint)
    cost = measure(name, dialect or usual_dialect(normalizer.dialects), limits)
    return MeasuredClient(name, normalizer.kind, cost, tuple(cost_findings(cost, normalizer.kind)))


def usual_dialect(dialects: Iterable[str]) -> str:
    """Return the dialect in which to measure a client that supports several `dialects`."""
    known = sorted(dialects)
    return _USUAL if _USUAL in known else known[0]


def _lines(found: list[MeasuredClient]) -> Iterator[str]:
    rows = [(marked(each.normalizer), *cost_cells(each.cost)) for each in found]
    yield from aligned_columns([("normalizer", *COST_HEAD), *rows])
    for each in found:
        if each.cost.not_measured:
            yield f"not measured: {marked(each.normalizer)}: {marked(each.cost.not_measured)}"
        for finding in each.findings:
            expected, actual = finding.expected, finding.actual
            yield f"{finding.level} {finding.rule}: expected {expected}, found {actual}"
