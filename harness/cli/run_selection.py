"""Select the cells of `harness run`, and print why others are excluded."""

import fnmatch
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from harness.dialects.table import DIALECTS
from harness.errors import HarnessError
from harness.files.write import partial_path
from harness.project import SelectedEvidence, project
from harness.providers import UNKNOWN
from harness.recording.importing import reason_of_unread_api
from harness.reporting.visible import marked
from harness.results.run import Run
from harness.results.store import read_run
from harness.runs.filters import selects_models
from harness.runs.load import load_recording
from harness.runs.plan import Subject, cell_id, subject_id
from harness.runs.request import RequestedCells, SelectedClients, requested_cells, selected_clients
from harness.runs.selection import own_folders, select_subjects
from harness.shipped import BUNDLED, bundled_folder
from harness.verdicts.gate import judge_gate
from harness.verdicts.policy import GatePolicy
from harness.wording import pluralize


class RunRequest(msgspec.Struct, frozen=True):
    """The user's options that select cells.

    Fields:
        words: the filters; None for the filters of the project.
        dialect: the dialect of all cassettes; "" for the dialect that each cassette states.
        cuts: how bodies are split; None for the default.
        requirement_set: the frozen list of files and rules; None for the project's one, "" for
            none.
        evidence: `own` to judge third-party clients also by streams that no server is known to
            send; "" for the project's setting.
        without: files to leave out, because their recordings were imported.
    """

    clients: SelectedClients
    paths: tuple[Path, ...]
    words: str | None
    dialect: str
    cuts: str | None
    requirement_set: str | None = None
    evidence: SelectedEvidence = ""
    without: frozenset[Path] = frozenset()

    @property
    def cells(self) -> RequestedCells:
        """Return the cells that these options select."""
        chosen = selected_clients(self.clients.normalizers, self.clients.agents)
        return requested_cells(
            *(chosen, self.paths, self.words, self.dialect, self.requirement_set, self.evidence),
            without=self.without,
        )


def request_of_last_run(asked: RunRequest, last: Run) -> RunRequest:
    """Return `asked`; options that the user did not give have the values of the last run."""
    before, header = last.header.selection, last.header
    clients = asked.clients
    if not clients.normalizers and not clients.agents:
        names = (
            tuple(each.name for each in group) for group in (header.normalizers, header.agents)
        )
        clients = SelectedClients(*names)
    cuts = asked.cuts or before.cuts
    frozen = before.requirement_set if asked.requirement_set is None else asked.requirement_set
    evidence = asked.evidence or before.evidence
    asked = msgspec.structs.replace(
        asked, clients=clients, cuts=cuts, requirement_set=frozen, evidence=evidence
    )
    if asked.paths or asked.words is not None:
        return asked
    paths, dialect = tuple(map(Path, before.paths)), asked.dialect or before.dialect
    return msgspec.structs.replace(asked, paths=paths, words=before.select, dialect=dialect)


def read_last_run(path: Path) -> Run | None:
    """Return the run at `path`, or a later one that was killed; None with a note if there is none.

    Raises:
        UnreadableError: the run is damaged.
    """
    killed = partial_path(path)
    if killed.is_file() and killed.stat().st_size:
        return read_run(killed)
    if path.is_file():
        return read_run(path)
    click.echo(f"--lf: {marked(str(path))} does not exist, so all cells run", err=True)
    return None


def only_failed(found: RequestedCells, last: Run, policy: GatePolicy) -> RequestedCells:
    """Return the cells that failed in the last run and are not accepted, or that it never ran.

    If there are none, return all.
    """
    accepted = {each.cell for each in judge_gate(last, policy).excused}
    failed = {it.cell for it in last.results if it.outcome.fails} - accepted
    left = _never_run(found, last)
    jobs = tuple(job for job in found.jobs if cell_id(job) in failed | left)
    gone = failed - {cell_id(job) for job in found.jobs}
    if gone:
        number = pluralize(len(gone), "cell")
        click.echo(f"--lf: {number} that failed no longer exist, such as {min(gone)}", err=True)
    if not jobs:
        click.echo("--lf: no selected cell failed in the last run, so all cells run", err=True)
        return found
    click.echo(f"--lf: {pluralize(len(jobs) - len(left), 'cell')} failed in the last run", err=True)
    if left:
        click.echo(f"--lf: {pluralize(len(left), 'cell')} never ran, because it stopped", err=True)
    subjects = {job.subject for job in jobs}
    kept = tuple(each for each in found.subjects if each in subjects)
    return msgspec.structs.replace(found, jobs=jobs, subjects=kept, refused={}, left_out=())


def _never_run(found: RequestedCells, last: Run) -> set[str]:
    """Return the cells of `found` that the last run planned and did not run."""
    if last.complete:
        return set()
    selection = last.header.selection
    here = {cell_id(job) for job in found.jobs}
    planned = here.intersection(selection.cells) if selection.last_failed else here
    return planned - {it.cell for it in last.results} - set(selection.skipped)


def asks_about_models(found: RequestedCells) -> bool:
    """Return whether the user selected recordings or models, so that rankings are useful.

    A run without named paths always has the bundled recordings, so these do not count.
    """
    bundled = bundled_folder("cassettes")
    is_default = not found.paths or Path(BUNDLED) in found.paths
    recordings = (each for each in found.subjects if each.kind in ("cassette", "log"))
    named = (it for it in recordings if not (is_default and Path(it.path).is_relative_to(bundled)))
    return any(named) or selects_models(found.words)


def print_left_out(found: RequestedCells) -> None:
    """Print which cells are left out and why, and the unlisted scenarios of the project."""
    if not found.paths:
        _print_own_scenarios()
    if found.refused:
        count = sum(found.refused.values())
        what = pluralize(count, "cassette")
        click.echo(f"agents cannot replay {what} of several requests:", err=True)
    for why, count in found.refused.items():
        click.echo(f"{count:>8}  {marked(why)}", err=True)
    if found.left_out:
        click.echo(
            f"left out: {pluralize(len(found.left_out), 'cell')} of third-party clients, because "
            "no server is known to send these streams (evidence: own).\n  --evidence own judges "
            "them, by SHOULD rules at most.",
            err=True,
        )


def print_unread(run: Run, subjects: Iterable[Subject]) -> None:
    """Print of how many cassettes no dialect reads the API, so that no client is judged."""
    unread = {it.scenario for it in run.results if it.kind == "turns" and it.dialect == UNKNOWN}
    found = (each for each in subjects if subject_id(each) in unread) if unread else ()
    for why, count in Counter(map(_reason_of_unread, found)).most_common():
        click.echo(f"not judged: {pluralize(count, 'cassette')}: {marked(why)}", err=True)


def _reason_of_unread(subject: Subject) -> str:
    interactions = load_recording(subject).interactions
    api = reason_of_unread_api(interactions[0]) if interactions else "no interactions"
    return api or "no recognized dialect"


def _print_own_scenarios() -> None:
    """Print a note if scenarios of the project do not run because it does not list their folder."""
    own = own_folders(project().root)
    try:
        count = len(select_subjects(own, recordings=True)) if own else 0
    except HarnessError:  # a run of that folder says what is wrong
        count = 1
    if count:
        names = [folder.name for folder in own]
        listed = ", ".join(f'"{name}"' for name in (BUNDLED, *names))
        click.echo(
            f"note: {pluralize(count, 'scenario')} of this project in {' and '.join(names)} did "
            f"not run.\n  Run `harness run {' '.join(names)}`, or add `paths = [{listed}]` to "
            "[tool.harness] in pyproject.toml.",
            err=True,
        )


def empty_reason(found: RequestedCells) -> str:
    """Return why no cell is selected."""
    recordings = [subject for subject in found.subjects if subject.kind == "cassette"]
    if recordings and not found.clients.normalizers:
        return (
            f"no conversation that agents can replay in {pluralize(len(recordings), 'recording')}: "
            "it needs several requests that follow one another.\n"
            "  To judge the turns, add a normalizer, such as -n reference."
        )
    if found.left_out and not found.jobs:
        return "no server is known to send the selected streams.\n  Add --evidence own."
    if found.subjects:
        return (
            "no selected scenario is supported by the normalizers and agents given with -n and -a"
        )
    if found.words:
        return f"nothing matches {found.words!r}{_dialect_hint(found.words)}"
    return "the paths have no scenario, cassette or log"


def _dialect_hint(words: str) -> str:
    """Return the list of known dialects if the filters `words` name an unknown one; else ""."""
    selected = (word.removeprefix("dialect:") for word in words.split() if "dialect:" in word)
    known = all(fnmatch.filter(DIALECTS, pattern) for pattern in selected)
    return "" if known else f"\n  Choose one of these dialects: {', '.join(DIALECTS)}."
