"""`conformance_suite`: one parametrised test for another repository's normalizer or agent.

Its items are what `harness run` would judge of the one that is named: scenarios, and recordings
that none labels, where it supports them. `-k`, `-n auto`, `--lf` and `--junitxml` work as for any
test; what pytest collects is the same in each of its processes.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from harness.errors import UsageError
from harness.judging.chunkings import Cuts
from harness.project import project
from harness.runs.choose import Chosen
from harness.runs.expectations import stale_before
from harness.runs.known import Known, known
from harness.runs.plan import Job
from harness.runs.policy import expectations_of
from harness.runs.select import subject_id
from harness.runs.wanted import wanted
from harness.runs.worker import is_supported
from harness.testing.cells import check, marks, today
from harness.testing.fuzzed import fuzzed

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
    found = wanted(Chosen(_named(normalizer), _named(agent)), map(Path, paths), select)
    jobs = tuple(job for job in found.jobs if job.subject.kind != "log")
    cells = _supported(jobs, found.words)
    searches = fuzzed(normalizer, agent, fuzz, cells, found.paths)
    return _test_of((*_items(jobs, cells, cuts), *searches))


def _named(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


def _supported(jobs: tuple[Job, ...], words: str) -> tuple[Job, ...]:
    cells = tuple(filter(is_supported, jobs))
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
