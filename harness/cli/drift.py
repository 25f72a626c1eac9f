"""`harness drift`: find out whether rates in logs became worse on a day; usable as a CI check."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.cli.options import echo_result, format_option
from harness.measuring.change_point import FEWEST_DAYS
from harness.measuring.drift import (
    AXES,
    METRICS,
    Change,
    Drift,
    DriftAxis,
    DriftMetric,
    DriftOptions,
    DriftSeries,
    find_drift,
)
from harness.measuring.finished import require_complete
from harness.measuring.rates import Share
from harness.measuring.rows import DEFAULT_FOLDER
from harness.reporting.visible import plain
from harness.wording import pluralize


@click.command("drift")
@click.argument("folder", required=False, default=DEFAULT_FOLDER, type=click.Path(path_type=Path))
@click.option(
    "--by",
    "axes",
    multiple=True,
    type=click.Choice(list(AXES)),
    default=("all",),
    show_default=True,
    help="What has a series of days: all turns, or those of each name. Repeatable.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=click.Choice(list(METRICS)),
    default=tuple(METRICS),
    show_default=True,
    help="Rate to test. Repeatable.",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    help="First day to count, such as the day after a change that you accept. Default: all days.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0.0001, 0.5),
    default=0.01,
    show_default=True,
    help="Highest chance of a false alarm, over all series.",
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Smallest change of a rate that counts, such as 0.01 for one percentage point.",
)
@format_option("pretty", "json")
def drift_command(  # noqa: PLR0913 - one argument for each option
    folder: Path,
    *,
    axes: tuple[DriftAxis, ...],
    metrics: tuple[DriftMetric, ...],
    since: datetime | None,
    alpha: float,
    least: float,
    style: str,
) -> int:
    """Test whether a rate became worse on a day, in the rows that `harness measure` wrote.

    FOLDER is by default reports/measure. The command exits with code 1 if the turn success fell or
    the parse_error rate rose significantly, and with code 5 if no series has enough days.
    """
    day = since.date().isoformat() if since else ""
    unique = (tuple(dict.fromkeys(axes)), tuple(dict.fromkeys(metrics)))
    done = require_complete(folder)
    if done.damaged:
        number = pluralize(done.damaged, "record")
        click.echo(f"{number} of the logs could not be read, and are not in the rates", err=True)
    found = find_drift(folder, DriftOptions(*unique, day, alpha, least))
    echo_result(style, found, _lines(found))
    statuses = {each.status for each in found.series}
    if "worse" in statuses:
        return EXIT_GATE_FAILED
    return 0 if "steady" in statuses else EXIT_NOTHING_SELECTED


def _lines(found: Drift) -> Iterator[str]:
    for each in found.series:
        yield from _series_lines(each)
    counts = Counter(each.status for each in found.series)
    yield (
        f"{len(found.series)} series: {counts['worse']} worse, "
        f"{counts['steady']} steady, {counts['untested']} not tested"
    )
    if found.left_out:
        yield f"{found.left_out} series with fewer turns were left out"
    if found.undated:
        yield f"{pluralize(found.undated, 'turn')} without a time"


def _series_lines(series: DriftSeries) -> Iterator[str]:
    names = ", ".join(map(plain, series.names)) or "all turns"
    turns = sum(n for _, n in series.days.values())
    over = f"{pluralize(turns, 'turn')} on {pluralize(len(series.days), 'day')}"
    about = f"{series.metric}  {names}  {over}"
    if series.status == "untested":
        yield f"not tested  {about}: expected at least {FEWEST_DAYS} days"
        return
    yield f"{series.status:<10}  {about}, adjusted p = {series.adjusted:.4f}"
    if series.change:
        yield from _change_lines(series.change)


def _change_lines(change: Change) -> Iterator[str]:
    yield f"    since {change.day}: {_share(change.before)} before, {_share(change.after)} after"
    if change.signature:
        grown = change.signature
        yield (
            f"    grew most: {plain(grown.signature)}, "
            f"from {grown.before:.2%} to {grown.after:.2%} of the turns"
        )
        yield f"    such as: {plain(grown.file)} at {grown.position}: {plain(grown.why)}"
    if change.new:
        yield f"    new on that day: {', '.join(map(plain, change.new))}"


def _share(share: Share) -> str:
    return f"{share.k / share.n:.1%} [{share.low:.1%}, {share.high:.1%}] of {share.n}"
