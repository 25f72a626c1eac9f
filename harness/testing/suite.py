"""Define `conformance_suite`: a parametrized test for a client of another repository.

The items of the test are the cells that `harness run` would judge: scenarios, and recordings
without a scenario, if the client supports them. `-k`, `-n auto`, `--lf` and `--junitxml` work as
for any test. Each pytest process collects the same items. As in `harness run`, the baseline and the
rules of the gate apply. As in the gate, only a violated MUST rule fails an item. Fuzzing needs an
extra, so its modules are imported only for a fuzz item.
"""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import pytest

from harness.errors import UnreadableError, UsageError
from harness.judging.replaying import Cuts
from harness.project import SelectedEvidence, project
from harness.reporting.text.cell import findings_lines
from harness.reporting.visible import marked
from harness.runs.existing_names import existing_names
from harness.runs.judge_job import is_job_supported
from harness.runs.plan import Job, cell_id, subject_id
from harness.runs.request import SelectedClients, requested_cells
from harness.testing.items import check_cell, expectation_marks, fail_unreadable, today
from harness.testing.session import CellOfSuite, cell_of_job
from harness.verdicts.expectations import ExistingNames, stale_entry
from harness.verdicts.policy import expectations_of
from harness.wording import pluralize

_Check: TypeAlias = Callable[[pytest.Config], None]
_Kind: TypeAlias = Literal["normalizer", "agent"]
# Each run has the same inputs, so that an item does not fail by chance.
_SEED: Final = 0


def conformance_suite(  # noqa: PLR0913 - one call, by keyword
    normalizer: str = "",
    *,
    agent: str = "",
    select: str | None = None,
    paths: Sequence[str | Path] = (),
    cuts: Cuts | None = None,
    fuzz: str | None = None,
    evidence: SelectedEvidence = "",
) -> Callable[..., None]:
    """Return a test to assign to a name that pytest collects, such as `test_conformance`.

    Args:
        normalizer: the name of a normalizer of the harness or the project, or `module:callable`; ""
            for none.
        agent: the same for an agent, which is judged on conversations; "" for none.
        select: filters `key:glob`, all of which must match. Keys are `dialect`, `provider`,
            `model`, `prompt`, `area`, `id`, `quirk` and `evidence`. An example is
            `dialect:openai-chat id:qwen/*`. None means the filters of the project, or no filter if
            `paths` are given.
        paths: files and folders of scenarios and cassettes. If empty, the paths of the project, or
            else the bundled scenarios and recordings.
        cuts: `whole`, `quick`, `standard` or `every`: the chunkings of each body. None means the
            option `--harness-cuts` of pytest, or else the setting of the project.
        fuzz: a profile of `harness fuzz`, such as `ci`; None for no fuzzing. It adds an item that
            searches for failures: of a normalizer from the selected scenarios, of an agent in
            generated conversations. Needs the extra `fuzz`.
        evidence: `own` to judge the client also by streams that no server is known to send, which
            fail no item. If it is "" and the project does not say so either, one skipped item tells
            how many of these are left out.

    Raises:
        UsageError: a name is unknown, the selection is empty, or an extra is not installed.
        UnreadableError: the project's own settings are unusable. An unusable scenario or cassette
            does not raise, but has an item that fails.
    """
    if not normalizer and not agent:
        raise UsageError(
            "expected a normalizer or an agent",
            where="conformance_suite",
            hint="Pass the name of one, or module:callable.",
        )
    clients: tuple[tuple[_Kind, str], ...] = (("normalizer", normalizer), ("agent", agent))
    names = (tuple(filter(None, (name,))) for _, name in clients)
    found = requested_cells(SelectedClients(*names), map(Path, paths), select, evidence=evidence)
    jobs = tuple(job for job in found.jobs if job.subject.kind != "log")
    cells, unreadable = _supported(jobs)
    if not cells and not unreadable and not found.left_out:
        raise UsageError(
            f"the client supports nothing that {found.words!r} selects",
            where="conformance_suite",
            hint="Run `harness list scenarios` and `harness list cassettes` to list all.",
        )
    fuzzed = _fuzz_items(clients, fuzz, cells, found.paths) if fuzz is not None else ()

    failing = [
        pytest.param(partial(_fail_unreadable, error), id=f"unreadable {path}")
        for path, error in unreadable.items()
    ]

    rest = (*fuzzed, *_left_out_items(found.left_out))

    @pytest.mark.parametrize("check_item", [*failing, *_items(jobs, cells, cuts), *rest])
    def test_conformance(check_item: _Check, pytestconfig: pytest.Config) -> None:
        check_item(pytestconfig)

    return test_conformance


def _supported(jobs: Iterable[Job]) -> tuple[tuple[Job, ...], dict[str, str]]:
    """Return the cells that the client supports, and file -> error for each unusable file."""
    cells: list[Job] = []
    unreadable: dict[str, str] = {}
    for job in jobs:
        try:
            if is_job_supported(job):
                cells.append(job)
        except UnreadableError as error:
            unreadable[job.subject.path] = str(error)
    return tuple(cells), unreadable


def _left_out_items(cells: Sequence[Job]) -> Iterator[Any]:
    """Yield a skipped item that tells how many cells of the client are left out."""
    if cells:
        reason = (
            f"{pluralize(len(cells), 'cell')}: no server is known to send these streams; "
            'conformance_suite(evidence="own") judges them'
        )
        yield pytest.param(
            lambda _config: None, id="left out", marks=pytest.mark.skip(reason=reason)
        )


def _fail_unreadable(error: str, _config: pytest.Config) -> None:
    fail_unreadable(error)


def _items(jobs: tuple[Job, ...], cells: tuple[Job, ...], cuts: Cuts | None) -> Iterator[Any]:
    entries = expectations_of(project())
    marks = [expectation_marks(job, entries) for job in cells]
    skipped = sum(any(it.name == "skip" for it in each) for each in marks)
    suite = " ".join(cell_id(job) for job in (*cells[:1], *cells[-1:]))
    for job, each in zip(cells, marks, strict=True):
        skips = any(it.name == "skip" for it in each)
        cell = cell_of_job(job, suite, len(cells) - skipped, skips=skips)
        check = partial(_check_cell, job, cuts, cell_of_suite=cell)
        yield pytest.param(check, id=subject_id(job.subject), marks=each)
    if entries:
        yield pytest.param(lambda _config: _check_expectations(jobs, cells), id="expectations")


def _check_cell(
    job: Job, cuts: Cuts | None, config: pytest.Config, *, cell_of_suite: CellOfSuite
) -> None:
    """Judge a cell; `cell_of_suite` is read when the session is planned."""
    del cell_of_suite
    chosen = cuts or config.getoption("--harness-cuts", None) or project().table.cuts
    check_cell(job, chosen, config)


def _check_expectations(jobs: tuple[Job, ...], cells: tuple[Job, ...]) -> None:
    """Fail if an accepted failure of the project has expired, or matches no existing cell."""
    ran = ExistingNames(
        frozenset(subject_id(job.subject) for job in jobs),
        frozenset(job.normalizer for job in jobs),
    )
    named = [(subject_id(job.subject), job.normalizer) for job in cells]
    known, entries = existing_names(), expectations_of(project())
    stale = [stale_entry(entry, today(), named, ran, known) for entry in entries]
    lines = [each.message for each in stale if each is not None]
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


def _fuzz_items(
    clients: tuple[tuple[_Kind, str], ...],
    profile: str,
    cells: Collection[Job],
    paths: Collection[Path],
) -> Iterator[Any]:
    """Yield a pytest item that fuzzes each client.

    Args:
        clients: kind and name; a client without a name is skipped.
        profile: a profile of `harness fuzz`.
        cells: the cells of the suite, whose scenarios are the seeds.
        paths: the PATHS of the command that repeats the search; none for the bundled scenarios.

    Raises:
        UsageError: the extra is not installed, or the profile is unknown.
    """
    try:
        from harness.fuzzing.search import find_profile  # noqa: PLC0415 - see the module docstring
    except ModuleNotFoundError as error:
        raise UsageError(
            f"fuzzing needs {error.name}, which is not installed",
            where="fuzz",
            hint="Run pip install 'toolcall-harness[fuzz]'.",
        ) from error
    find_profile(profile)
    for kind, name in clients:
        if name:
            options = ("-n" if kind == "normalizer" else "-a", name, "--profile", profile)
            repeat = ("--seed", str(_SEED), "-j", "1", "--save", ".")
            command = shlex.join(("harness", "fuzz", *map(str, paths), *options, *repeat))
            check = partial(_check_fuzz, kind, name, profile, _seed_paths(cells), command)
            yield pytest.param(check, id=f"fuzz-{profile}-{kind}")


def _seed_paths(cells: Collection[Job]) -> list[Path]:
    """Return the paths of the scenarios from which the fuzzer starts, or else of the recordings."""
    turns = [job.subject for job in cells if job.subject.of_turns]
    scenarios = [subject for subject in turns if subject.kind == "scenario"]
    return [Path(subject.path) for subject in scenarios or turns]


def _check_fuzz(
    kind: _Kind, name: str, profile: str, seeds: list[Path], command: str, _config: pytest.Config
) -> None:
    from harness.fuzzing.targets import fuzz_client  # noqa: PLC0415 - as above

    report = fuzz_client(name, profile, kind=kind, paths=seeds, random=_SEED)
    found = report.findings
    if report.crashed or any(each.fails_gate for each in found):
        lines = ["the search is not complete: the client ended its process"] * report.crashed
        for each in found:
            lines.append(marked(f"{each.slug}, found from {each.parent.id}"))
            lines += findings_lines([each.finding])
        pytest.fail("\n".join([*lines, f"  {marked(command)}"]), pytrace=False)
