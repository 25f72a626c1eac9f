"""`harness peers`: install third-party libraries, judge each in its environment, compare them."""

import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import click

from harness.cli import EXIT_GATE_FAILED
from harness.cli.options import (
    echo_result,
    evidence_option,
    format_option,
    jobs_option,
    only_once,
    output_option,
    peers_folder_option,
    today_option,
)
from harness.cli.run_files import bundled_context, write_text
from harness.errors import HarnessError, UsageError
from harness.judging.replaying import CUTS, Cuts
from harness.peers.environment import (
    Environment,
    environment_of,
    install,
    link_harness,
)
from harness.peers.inputs import current_digests, declared_dialects, mark_older
from harness.peers.locking import write_lock
from harness.peers.matrix_page import render_matrix
from harness.peers.process import judging_variables
from harness.peers.record import PeerRecord, read_results, write_merged_run
from harness.peers.running import PeerRuns, judge_peers
from harness.peers.table import Peer, peers, select_peers
from harness.project import SelectedEvidence
from harness.reporting.visible import aligned_columns, marked


@click.group("peers")
def peers_command() -> None:
    """Install third-party libraries, judge each in an environment, compare them."""


@peers_command.command("list")
@peers_folder_option()
@format_option("pretty", "json")
def list_peers(folder: Path, style: str) -> None:
    """List the peers, their packages and environments."""
    rows = list(_rows(folder))
    columns = ("name", "kind", "language", "package", "version", "state", "dialects")
    table = [columns, *([_text(row[column]) for column in columns] for row in rows)]
    echo_result(style, rows, aligned_columns(table))


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    dialects = declared_dialects()
    for peer in peers().values():
        environment = environment_of(peer, folder)
        yield {
            "name": peer.name,
            "kind": peer.kind,
            "language": peer.language,
            "package": peer.library.name,
            "version": peer.library.version,
            "dialects": list(peer.dialects or dialects.get(peer.name, ())),
            "state": environment.state,
            "installed": environment.state == "installed",
            "folder": str(environment.path),
        }


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _chosen(names: tuple[str, ...], *, every: bool) -> tuple[Peer, ...]:
    """Return one peer for each environment of the selected peers."""
    if bool(names) == every:
        raise UsageError("expected either names or --all, found both or neither")
    return tuple({peer.environment: peer for peer in select_peers(names)}.values())


@peers_command.command("install")
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "every", is_flag=True, help="Install all peers.")
@peers_folder_option()
def install_peers(names: tuple[str, ...], *, every: bool, folder: Path) -> int:
    """Install the locked packages of peers, with uv or pip, or with npm.

    The command exits with code 1 if an environment could not be installed.
    """
    failed = False
    for peer in _chosen(names, every=every):
        environment = environment_of(peer, folder)
        try:
            _install(environment)
        except HarnessError as error:
            failed = True
            click.echo(f"not installed: {peer.environment}: {marked(error.what)}", err=True)
    return EXIT_GATE_FAILED if failed else 0


def _install(environment: Environment) -> None:
    if environment.state == "installed":
        click.echo(f"up to date: {environment.path}")
        return
    click.echo(f"installing: {environment.path}")
    install(environment)


@peers_command.command("lock")
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "every", is_flag=True, help="Lock the packages of all peers.")
def lock_peers(names: tuple[str, ...], *, every: bool) -> None:
    """Resolve the packages of peers, and write their locks into this harness."""
    for peer in _chosen(names, every=every):
        for path in write_lock(peer):
            click.echo(path)


@peers_command.command("run")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--in",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="Scenario, cassette or folder of them. Repeatable. Default: the bundled scenarios and "
    "recordings.",
)
@click.option(
    "--cuts", type=click.Choice(CUTS), default="quick", show_default=True, help="As in harness run."
)
@click.option(
    "--select", metavar="FILTERS", multiple=True, callback=only_once, help="As in harness run."
)
@evidence_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=1800,
    show_default=True,
    help="Time limit for each peer.",
)
@click.option(
    "--cost/--no-cost",
    "measured",
    default=True,
    show_default=True,
    help="Measure the cost of each judged peer, as harness cost does.",
)
@click.option(
    "--cost-seconds",
    type=click.FloatRange(min=1),
    default=900,
    show_default=True,
    help="Time limit for the cost of each peer.",
)
@jobs_option("half the cores; each peer has two processes")
@output_option("Folder for the results of each peer.", default="reports/peers")
@peers_folder_option()
@today_option
def run_peers(  # noqa: PLR0913 - one parameter for each option
    names: tuple[str, ...],
    *,
    paths: tuple[Path, ...],
    cuts: Cuts,
    select: str | None,
    evidence: SelectedEvidence,
    seconds: float,
    measured: bool,
    cost_seconds: float,
    jobs: int | None,
    output: Path,
    folder: Path,
    today: date,
) -> int:
    """Judge peers, all by default, each in processes of its environment.

    A peer must first pass a text and a call in each of its dialects; an agent, which is judged on
    conversations, passes one of them first. A peer that hangs, floods or
    dies is recorded as not judged, with the reason, and the command exits with code 1.
    """
    absolute = tuple(path.absolute() for path in paths)
    limit = cost_seconds if measured else 0.0
    runs = PeerRuns(
        *(folder, output, today.isoformat(), seconds, cuts, select or "", absolute, limit, evidence)
    )
    dialects = declared_dialects()
    chosen = [(it, it.dialects or dialects.get(it.name, ())) for it in select_peers(names)]
    failed = []

    def show(record: PeerRecord) -> None:
        if record.not_judged:
            failed.append(record.name)
        how = f"not judged: {record.not_judged}" if record.not_judged else "judged"
        click.echo(f"{record.name} {record.version}: {how} ({record.seconds:g} s)")
        if record.cost is not None and record.cost.not_measured:
            click.echo(f"{record.name}: cost not measured: {record.cost.not_measured}")

    # The processes of peers must not outlive this one, also if it is ended by SIGTERM.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        judge_peers(chosen, runs, jobs or max(1, (os.cpu_count() or 1) // 2), show)
    finally:
        signal.signal(signal.SIGTERM, before)
    return EXIT_GATE_FAILED if failed else 0


@peers_command.command("matrix")
@click.argument("results", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@output_option("File of the matrix.", default="docs/matrix.md", is_folder=False)
@click.option(
    "--run",
    "merged",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the runs of all peers as one, for `harness report`.",
)
def matrix_of_peers(results: Path, output: Path, merged: Path | None) -> None:
    """Write the comparison of all peers in DIR, the output folder of `peers run`, as Markdown."""
    found = read_results(results)
    context = bundled_context()
    page = render_matrix(found, context.quirks, peers().values())
    write_text(output, mark_older(page, current_digests()))
    click.echo(f"wrote {output}", err=True)
    if merged is not None:
        write_merged_run(found, merged)
        click.echo(f"wrote {merged}", err=True)


@peers_command.command("exec", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND...")
@peers_folder_option()
def execute_in_environment(name: str, arguments: tuple[str, ...], folder: Path) -> int:
    """Run a COMMAND of harness, such as `replay CELL`, in the environment of a peer.

    It runs without network, in the folder of the environment, and its exit code is returned.
    """
    (peer,) = select_peers((name,))
    environment = environment_of(peer, folder)
    if environment.state != "installed":
        hint = f"Run `harness peers install {name}`."
        raise UsageError(f"its environment is {environment.state}", where=name, hint=hint)
    link_harness(environment)
    variables = judging_variables(environment.executables, environment.path)
    command = [str(environment.command), *arguments]
    done = subprocess.run(command, cwd=environment.path, env=variables, check=False)  # noqa: S603 - of an environment that this package made
    return done.returncode
