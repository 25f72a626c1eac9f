"""`conformance_suite`: one parametrised test for another repository's normalizer or agent.

Its items are what `harness run` would judge of the one that is named: scenarios, and recordings
that none labels, where it supports them. `-k`, `-n auto`, `--lf` and `--junitxml` work as for any
test; what pytest collects is the same in each of its processes.
"""

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import pytest

from harness.errors import UsageError
from harness.judging.replaying import Cuts
from harness.project import project
from harness.reporting.text.cell import findings_lines
from harness.reporting.visible import marked
from harness.runs.cells import SelectedClients, requested_cells
from harness.runs.expectations import stale_entry
from harness.runs.plan import Job, subject_id
from harness.runs.policy import expectations_of
from harness.runs.selection import ExistingNames, existing_names
from harness.runs.worker import is_job_supported
from harness.testing.items import check_cell, expectation_marks, today

if TYPE_CHECKING:
    from harness.fuzzing.found import FuzzFinding

_Kind: TypeAlias = Literal["normalizer", "agent"]
# The same inputs in each run, so that an item is not red by chance.
_SEED: Final = 0


def fuzz_items(
    normalizer: str,
    agent: str,
    profile: str | None,
    cells: Collection[Job],
    places: Collection[Path] = (),
) -> Iterator[Any]:
    """Yield an item for each of `normalizer` and `agent` that is named, where a profile is wanted.

    Args:
        normalizer: what is searched; "" for none.
        agent: the same.
        profile: a name; None for no item.
        cells: of the suite, whose scenarios are started from.
        places: paths that hold them, to be told; none for what ships.

    Raises:
        UsageError: the extra is missing, or there is no such profile.
    """
    if profile is None:
        return
    try:
        from harness.fuzzing.search import find_profile  # noqa: PLC0415 - see the rule above
    except ModuleNotFoundError as error:
        raise UsageError(
            f"searching needs {error.name}, which is not installed",
            where="fuzz",
            hint="Install the extra: pip install 'toolcall-harness[fuzz]'",
        ) from error
    find_profile(profile)
    named: tuple[tuple[_Kind, str], ...] = (("normalizer", normalizer), ("agent", agent))
    for kind, name in named:
        if name:
            again = _fuzz_command(kind, name, profile, places)
            run = _fuzz_check(kind, name, profile, cells, again)
            yield pytest.param(run, id=f"fuzz-{profile}-{kind}")


def _fuzz_check(
    kind: _Kind, name: str, profile: str, cells: Collection[Job], again: str
) -> Callable[[pytest.Config], None]:
    def run(_config: pytest.Config) -> None:
        from harness.fuzzing.shards import fuzz_findings  # noqa: PLC0415 - as above

        found = fuzz_findings(name, profile, kind=kind, paths=_seed_paths(cells), random=_SEED)
        if any(each.fails_gate for each in found):
            pytest.fail("\n".join([*_finding_texts(found), f"  {marked(again)}"]), pytrace=False)

    return run


def _seed_paths(cells: Collection[Job]) -> list[Path]:
    """Return the scenarios that a search starts from, or the recordings where there are none."""
    turns = [job.subject for job in cells if job.subject.of_turns]
    labelled = [subject for subject in turns if subject.kind == "scenario"]
    return [Path(subject.path) for subject in labelled or turns]


def _finding_texts(found: Collection["FuzzFinding"]) -> Iterator[str]:
    for each in found:
        yield marked(f"{each.slug}, found from {each.parent}")
        yield from findings_lines([each.finding])


def _fuzz_command(kind: _Kind, name: str, profile: str, places: Collection[Path]) -> str:
    """Return the command that searches in the same way and keeps what it finds."""
    option = "-n" if kind == "normalizer" else "-a"
    how = (option, name, "--profile", profile, "--seed", str(_SEED), "-j", "1", "--save", ".")
    return shlex.join(("harness", "fuzz", *map(str, places), *how))


_Check: TypeAlias = Callable[[pytest.Config], None]


def conformance_suite(  # noqa: PLR0913 - one call, by keyword
    normalizer: str = "",
    *,
    agent: str = "",
    select: str | None = None,
    paths: Sequence[str | Path] = (),
    cuts: Cuts | None = None,
    fuzz: str | None = None,
) -> Callable[..., None]:
    """Return a test to assign to a name that pytest collects, such as `test_conformance`.

    Args:
        normalizer: a name that `-n` knows, or `module:callable`; "" for none.
        agent: the same for an agent, judged over conversations; "" for none.
        select: words `key:glob`, all of which must fit: `dialect`, `provider`, `model`,
            `prompt`, `area`, `id` or `quirk`, as in `dialect:openai-chat id:qwen/*`; None for
            those of the project, or all where `paths` are given.
        paths: files and folders of scenarios and cassettes; none for those that the project
            lists, else the scenarios and recordings that ship.
        cuts: `whole`, `quick`, `standard` or `every`; None for pytest's `--harness-cuts`.
        fuzz: a profile of `harness fuzz`, such as `ci`, for one more item that searches: a
            normalizer from the selected scenarios, an agent in conversations that are drawn;
            None for none. Needs the extra `fuzz`.

    Raises:
        UsageError: nothing is called so, nothing is selected, or an extra is missing.
        UnreadableError: a scenario, a cassette or a file of the project cannot be used.
    """
    if not normalizer and not agent:
        raise UsageError("expected a normalizer or an agent", where="conformance_suite")
    found = requested_cells(
        SelectedClients(_names(normalizer), _names(agent)), map(Path, paths), select
    )
    jobs = tuple(job for job in found.jobs if job.subject.kind != "log")
    cells = _supported(jobs, found.words)
    searches = fuzz_items(normalizer, agent, fuzz, cells, found.paths)
    return _test_of((*_items(jobs, cells, cuts), *searches))


def _names(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


def _supported(jobs: tuple[Job, ...], words: str) -> tuple[Job, ...]:
    cells = tuple(filter(is_job_supported, jobs))
    if not cells:
        raise UsageError(
            f"nothing that is supported is selected by {words!r}",
            where="conformance_suite",
            hint="`harness list scenarios` and `harness list cassettes` print what ships",
        )
    return cells


def _test_of(items: tuple[Any, ...]) -> Callable[..., None]:
    def test_conformance(check_item: _Check, pytestconfig: pytest.Config) -> None:
        check_item(pytestconfig)

    parametrised: Callable[..., None] = pytest.mark.parametrize("check_item", items)(
        test_conformance
    )
    return parametrised


def _items(jobs: tuple[Job, ...], cells: tuple[Job, ...], cuts: Cuts | None) -> Iterator[Any]:
    entries = expectations_of(project())
    for job in cells:
        said = expectation_marks(job, entries)
        yield pytest.param(_cell_check(job, cuts), id=subject_id(job.subject), marks=said)
    if entries:
        yield pytest.param(lambda _config: _check_expectations(jobs, cells), id="expectations")


def _cell_check(job: Job, cuts: Cuts | None) -> _Check:
    def run(config: pytest.Config) -> None:
        said = cuts or config.getoption("--harness-cuts", "standard")
        check_cell(job, said, config.invocation_params.dir)

    return run


def _check_expectations(jobs: tuple[Job, ...], cells: tuple[Job, ...]) -> None:
    """Fail where an entry has expired, or names no cell that there is."""
    ran = ExistingNames(
        frozenset(subject_id(job.subject) for job in jobs),
        frozenset(job.normalizer for job in jobs),
    )
    named = [(subject_id(job.subject), job.normalizer) for job in cells]
    beside = existing_names()
    found = (
        stale_entry(entry, today(), named, ran, beside) for entry in expectations_of(project())
    )
    told = [each.told for each in found if each is not None]
    if told:
        pytest.fail("\n".join(told), pytrace=False)
