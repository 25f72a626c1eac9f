"""`conformance_suite`: one parametrised test for another repository's normalizer or agent.

Its items are the scenarios that the normalizer supports, so `-k`, `-n auto`, `--lf` and
`--junitxml` work as for any test; what pytest collects is the same in each of its processes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from harness.errors import UsageError
from harness.judging.chunkings import Cuts
from harness.judging.judge import Loaded
from harness.project import project
from harness.runs.areas import area_of
from harness.runs.expectations import stale_before
from harness.runs.known import Known, known
from harness.runs.plan import Job
from harness.runs.policy import expectations_of, project_paths
from harness.runs.select import select as select_subjects
from harness.runs.select import subject_id
from harness.runs.worker import is_supported, load_subject
from harness.testing.cells import check, marks, today
from harness.testing.fuzzed import fuzzed

_KEYS: Final[dict[str, Callable[[Loaded], Iterable[str]]]] = {
    "dialect": lambda loaded: {each.dialect for each in loaded.cassette.interactions},
    "provider": lambda loaded: (loaded.cassette.provider,),
    "model": lambda loaded: (loaded.cassette.model,),
    "prompt": lambda loaded: (loaded.cassette.prompt,),
    "area": lambda loaded: (area_of(loaded.id),),
    "id": lambda loaded: (loaded.id,),
    "quirk": lambda loaded: loaded.scenario.quirks if loaded.scenario else (),
}

_Check: TypeAlias = Callable[[pytest.Config], None]


def conformance_suite(  # noqa: PLR0913 - one call, by keyword
    normalizer: str = "",
    *,
    agent: str = "",
    select: str = "",
    paths: Sequence[str | Path] = (),
    cuts: Cuts | None = None,
    fuzz: str | None = None,
) -> Callable[..., None]:
    """Return a test to assign to a name that pytest collects, such as `test_conformance`.

    Args:
        normalizer: a name that `-n` knows, or `module:callable`; "" for none.
        agent: the same for an agent, judged over conversations; "" for none.
        select: words `key:glob`, all of which must match: `dialect`, `provider`, `model`,
            `prompt`, `area`, `id` or `quirk`, as in `dialect:openai-chat id:qwen/*`.
        paths: files and folders of scenarios; none for those that the project lists, else
            those that ship.
        cuts: `whole`, `quick`, `standard` or `every`; None for pytest's `--harness-cuts`.
        fuzz: a profile of `harness fuzz`, such as `ci`, for one more item that searches from
            the selected scenarios; None for none. Needs the extra `fuzz`.

    Raises:
        UsageError: nothing is called so, nothing is selected, or an extra is missing.
        UnreadableError: a scenario, a cassette or a file of the project cannot be used.
    """
    if not normalizer and not agent:
        raise UsageError("expected a normalizer or an agent", where="conformance_suite")
    wanted = _terms(select)
    jobs = tuple(_jobs(normalizer, agent, wanted, tuple(map(Path, paths)) or project_paths()))
    cells = tuple(job for job in jobs if is_supported(job))
    if not cells:
        raise UsageError(
            f"no scenario that is supported is selected by {select!r}",
            where="conformance_suite",
            hint="`harness list scenarios` prints those that ship",
        )

    items = (*_items(jobs, cells, cuts), *fuzzed(normalizer, fuzz, cells))

    def test_conformance(check_item: _Check, pytestconfig: pytest.Config) -> None:
        check_item(pytestconfig)

    parametrised: Callable[..., None] = pytest.mark.parametrize("check_item", items)(
        test_conformance
    )
    return parametrised


def _terms(select: str) -> tuple[tuple[str, str], ...]:
    terms = tuple(word.partition(":") for word in select.split())
    for key, _, glob in terms:
        if key not in _KEYS or not glob:
            raise UsageError(
                f"expected words `key:glob`, found {key!r}",
                where="select",
                hint=f"keys: {', '.join(_KEYS)}",
            )
    return tuple((key, glob) for key, _, glob in terms)


def _jobs(
    normalizer: str, agent: str, terms: tuple[tuple[str, str], ...], paths: tuple[Path, ...]
) -> Iterator[Job]:
    for subject in select_subjects(paths):
        name = agent if subject.conversation else normalizer
        if name and subject.kind != "log" and (not terms or _matches(load_subject(subject), terms)):
            yield Job(subject, name)


def _matches(loaded: Loaded, terms: tuple[tuple[str, str], ...]) -> bool:
    return all(any(fnmatchcase(value, glob) for value in _KEYS[key](loaded)) for key, glob in terms)


def _items(jobs: tuple[Job, ...], cells: tuple[Job, ...], cuts: Cuts | None) -> Iterator[Any]:
    entries = expectations_of(project())
    for job in cells:
        said = marks(job, entries)
        yield pytest.param(_checked(job, cuts), id=subject_id(job.subject), marks=said)
    if entries:
        yield pytest.param(lambda _config: _check_expectations(jobs, cells), id="expectations")


def _checked(job: Job, cuts: Cuts | None) -> _Check:
    def run(config: pytest.Config) -> None:
        said = cuts or config.getoption("--harness-cuts", "standard")
        check(job, said, config.invocation_params.dir)

    return run


def _check_expectations(jobs: tuple[Job, ...], cells: tuple[Job, ...]) -> None:
    """Fail where an entry has expired, or names no cell that there is."""
    ran = Known(
        frozenset(subject_id(job.subject) for job in jobs),
        frozenset(job.normalizer for job in jobs),
    )
    named = [(subject_id(job.subject), job.normalizer) for job in cells]
    beside = known()
    found = (
        stale_before(entry, today(), named, ran, beside) for entry in expectations_of(project())
    )
    told = [each.told for each in found if each is not None]
    if told:
        pytest.fail("\n".join(told), pytrace=False)
