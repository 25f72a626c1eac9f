"""`harness doctor`: check the setup of a project, or the consistency of the bundled data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

import click

from harness import shipped
from harness.checks import bundled_data
from harness.checks.bundled_data import BundledData, Check
from harness.checks.client import check_client
from harness.checks.gateway import check_gateway
from harness.checks.kill_table import write_kill_table
from harness.checks.project import is_project, project_checks
from harness.cli import EXIT_GATE_FAILED
from harness.cli.options import echo_result, format_option
from harness.emulation.writing import iter_problems
from harness.judging.scenario_file import find_scenarios
from harness.project import project
from harness.reporting.visible import aligned_columns
from harness.reporting.words import reasons_text
from harness.results.kill_table import MeasuredKill, load_kill_table
from harness.verdicts.judged_shares import JudgedShare
from harness.verdicts.statistics import percent

_SHOWN: Final = 10
_HEADINGS: Final = ("rule", "level", "mutant", "scenarios", "first", "fuzz median", "worst")


@click.command("doctor")
@format_option("pretty", "json")
@click.option("--kill-table", "full", is_flag=True, help="Also print the complete kill table.")
@click.option(
    "--write-kill-table", "write", is_flag=True, help="Judge all mutants, and write the table."
)
@click.option(
    "--bundled", is_flag=True, help="Check the bundled data, also in the folder of a project."
)
@click.option(
    "--client", metavar="CMD", help="Check a client command instead, with ten plain responses."
)
@click.option(
    "-n",
    "--normalizer",
    "gateway",
    metavar="NAME",
    help="Check this gateway of the project instead, or gateway:URL, with ten plain responses.",
)
def doctor_command(  # noqa: PLR0913 - one parameter for each option
    style: Literal["pretty", "json"],
    *,
    full: bool,
    write: bool,
    bundled: bool,
    client: str | None,
    gateway: str | None,
) -> int:
    """Check the project in this folder, or else the bundled data.

    Of a project with [tool.harness] in pyproject.toml: its clients, their packages, its paths,
    scenarios and cassettes. Else: that bundled scenarios, cassettes, quirks, rules and mutants are
    consistent. The command exits with code 1 if a check fails.
    """
    found = project()
    if client is not None:
        return _print_checks(check_client(client), style)
    if gateway is not None:
        return _print_checks(check_gateway(gateway), style)
    if is_project(found) and not (bundled or full or write):
        return _print_checks(project_checks(found), style)
    if write:
        click.echo(f"wrote {write_kill_table(BundledData().kill_rows(every=True))}", err=True)
    done = list(_printed(checks(), style))
    table, judged = load_kill_table(), bundled_data.judged_turns()
    shown = {"checks": done, "judged": judged, "kill_table": table} if full else done
    kills = aligned_columns([_HEADINGS, *map(_cells, table)]) if full else _summary_lines(table)
    echo_result(style, shown, (*map(_share_line, judged), *kills))
    return 0 if all(check.ok for check in done) else EXIT_GATE_FAILED


def _print_checks(found: Iterable[Check], style: str) -> int:
    """Print each check, and return the exit code."""
    checked = tuple(_printed(found, style))
    if style == "json":
        echo_result(style, checked, ())
    return 0 if all(check.ok for check in checked) else EXIT_GATE_FAILED


def checks() -> Iterator[Check]:
    """Run all checks of the bundled files, and yield the result of each."""
    yield from bundled_data.checks()
    root = shipped.bundled_folder("scenarios")
    scenarios = find_scenarios([root])
    wrong = tuple(iter_problems(scenarios, root, shipped.bundled_folder("cassettes")))
    name = "emulated cassettes are as their scenarios describe them"
    yield Check(name, ok=not wrong, count=len(scenarios), detail=wrong)


def _share_line(share: JudgedShare) -> str:
    rate = f"{share.k}/{share.n} ({percent(share.k / share.n)})"
    return f"judged turns, {share.field}: {rate}: {reasons_text(share)}"


def _printed(results: Iterable[Check], style: str) -> Iterator[Check]:
    """Yield each result, and print it at once unless the output is JSON."""
    for check in results:
        if style == "pretty":
            _print_check(check)
        yield check


def _print_check(check: Check) -> None:
    click.echo(f"{'ok  ' if check.ok else 'FAIL'}  {check.check} ({check.count})")
    for line in check.detail[:_SHOWN]:
        click.echo(f"      {line}")
    if len(check.detail) > _SHOWN:
        click.echo(f"      and {len(check.detail) - _SHOWN} more")


def _summary_lines(table: Sequence[MeasuredKill]) -> Iterator[str]:
    for about in ("turns", "conversation"):
        rows = [row for row in table if row.about == about]
        rules = Counter(row.rule for row in rows)
        mutants = Counter(row.mutant for row in rows)
        weakest = min(rows, key=lambda row: row.scenarios, default=None)
        measured = sum(row.fuzz_median is not None for row in rows)
        yield (
            f"kill table, {about}: {len(rules)} rules, {len(mutants)} mutants, fewest "
            f"scenarios {weakest.scenarios if weakest else 0} "
            f"({weakest.mutant if weakest else 'none'}), found by fuzzing {measured}"
        )


def _cells(row: MeasuredKill) -> tuple[str, ...]:
    missed = f"{row.fuzz_found} of {row.fuzz_seeds}" if row.fuzz_seeds else "not measured"
    median = missed if row.fuzz_median is None else f"{row.fuzz_median:g}"
    worst = "" if row.fuzz_worst is None else str(row.fuzz_worst)
    first = row.scenario or "none: it survives"
    return (row.rule, row.level, row.mutant, str(row.scenarios), first, median, worst)
