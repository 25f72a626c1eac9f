"""Account for the cells of a pytest session: planned, judged, and left out.

Each pytest process plans the same cells; with pytest-xdist, each worker sends its plan to the
controller, which gets the judged cells of all.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import pytest

from harness.files.walk import is_yaml, walk_files
from harness.project import project
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.runs.plan import Job, cell_id
from harness.shipped import SHARED_FOLDERS
from harness.verdicts.accounting import counts_text
from harness.wording import pluralize

# The name of the plug-in's suite, to which all items of scenario files belong.
SCENARIO_FILES: Final = "scenario files"


class JudgedCell(msgspec.Struct, frozen=True):
    """The outcome of one pytest item, and its result if the gate of the project has rules."""

    cell: str
    outcome: Outcome
    result: Result | None = None


class CellOfSuite(msgspec.Struct, frozen=True):
    """A cell that a pytest item judges.

    Fields:
        cell: the id of the cell.
        suite: a name that distinguishes the suites of the session.
        cells: the number of cells of the suite that do not skip.
        skips: whether `expectations.toml` excludes the cell.
    """

    cell: str
    suite: str
    cells: int
    skips: bool = False


class SessionPlan(msgspec.Struct, frozen=True):
    """The cells that a session must judge.

    Fields:
        cells: the ids of the selected cells, without those that `expectations.toml` excludes.
        skipped: how many it excludes.
        of: how many cells all suites of the session have, selected or not.
        clients: the clients of the project that must be judged.
        not_collected: scenario files that pytest should collect and did not.
        is_complete: whether all scenario files were collected.
        selected: how many items judge a cell; two suites may have the same cell.
    """

    cells: frozenset[str] = frozenset()
    skipped: int = 0
    of: int = 0
    clients: tuple[str, ...] = ()
    not_collected: tuple[str, ...] = ()
    is_complete: bool = True
    selected: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether all cells are selected, so that the rules of the gate can be judged."""
        return self.is_complete and self.selected == self.of


class CollectedFiles:
    """The scenario files that a process collected, and their cells."""

    def __init__(self) -> None:
        self.paths: set[Path] = set()
        self.jobs: list[Job] = []
        self.clients: tuple[str, ...] = ()


PLAN: Final = pytest.StashKey[SessionPlan]()
FILES: Final = pytest.StashKey[CollectedFiles]()


def collected_files(config: pytest.Config) -> CollectedFiles:
    """Return the record of the scenario files that this process collects."""
    return config.stash.setdefault(FILES, CollectedFiles())


def plan_session(session: pytest.Session) -> SessionPlan:
    """Return the plan of a session whose items are selected, and keep it in its configuration."""
    found = [each for each in map(_cell_of, session.items) if each is not None]
    sizes = {each.suite: each.cells for each in found}
    files = collected_files(session.config)
    if files.jobs:
        sizes[SCENARIO_FILES] = len(files.jobs)
    own = (*project().table.normalizers, *project().table.agents)
    missing = sorted(_scenario_files(session.config) - files.paths) if files.paths else []
    plan = SessionPlan(
        frozenset(each.cell for each in found if not each.skips),
        sum(each.skips for each in found),
        sum(sizes.values()),
        tuple(name for name in files.clients if name in own),
        () if _is_narrowed(session.config) else tuple(map(str, missing)),
        is_complete=not missing,
        selected=sum(not each.skips for each in found),
    )
    session.config.stash[PLAN] = plan
    return plan


def _cell_of(item: pytest.Item) -> CellOfSuite | None:
    found = getattr(item, "cell_of_suite", None)
    if found is None and isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        check = item.callspec.params.get("check_item")
        found = check.keywords.get("cell_of_suite") if isinstance(check, partial) else None
    return found if isinstance(found, CellOfSuite) else None


def _scenario_files(config: pytest.Config) -> set[Path]:
    """Return the scenario files in the folders of `harness_scenarios`."""
    return {
        path
        for root in config.getini("harness_scenarios")
        for path in map(Path, walk_files(str(root), is_yaml))
        if SHARED_FOLDERS.isdisjoint(path.relative_to(root).parts)
    }


def _is_narrowed(config: pytest.Config) -> bool:
    """Return whether the user selected only some of the files."""
    options = ("lf", "ignore", "ignore_glob")
    given = [config.invocation_params.dir / arg.partition("::")[0] for arg in config.args]
    roots = [Path(root) for root in config.getini("harness_scenarios")]
    named = all(any(root.is_relative_to(path) for path in given) for root in roots)
    return not named or any(config.getoption(name, None) for name in options)


def plan_of(config: pytest.Config) -> SessionPlan:
    """Return the plan of the session."""
    return config.stash.get(PLAN, SessionPlan())


def encode_plan(plan: SessionPlan) -> str:
    """Return a plan as text, which a worker of pytest-xdist can send to its controller."""
    return msgspec.json.encode(plan).decode()


def decode_plans(encoded: Iterable[str]) -> SessionPlan:
    """Return the largest of the plans of all workers, which plan the same unless one ended."""
    plans = (msgspec.json.decode(each, type=SessionPlan) for each in encoded)
    return max(plans, key=lambda plan: len(plan.cells), default=SessionPlan())


def lost_lines(plan: SessionPlan, judged: Collection[JudgedCell]) -> Iterator[str]:
    """Yield a line for each reason for which a session must not pass, although no test failed.

    Args:
        plan: the plan of the session.
        judged: the cells that have an outcome.
    """
    missing = sorted(plan.cells - {each.cell for each in judged})
    if missing:
        number = pluralize(len(missing), "planned cell")
        yield f"no outcome of {number}, such as {missing[0]}"
    if plan.not_collected:
        number = pluralize(len(plan.not_collected), "scenario file")
        yield f"pytest did not collect {number}, such as {plan.not_collected[0]}"
    good = {each.cell for each in judged if each.outcome.judged}
    if (plan.cells or plan.skipped) and not good:
        yield "no cell was judged"
    elif plan.is_whole:
        for name in plan.clients:
            if not any(cell.endswith(f"/{name}") for cell in good):
                yield f"{name}: no cell of this client of the project was judged"


def accounting_line(plan: SessionPlan, judged: Collection[JudgedCell]) -> str:
    """Return the number of planned cells and of each kind of outcome, as one line."""
    outcomes = [each.outcome for each in judged]
    counts = (
        (sum(it.judged for it in outcomes), "judged"),
        (outcomes.count(Outcome.UNSUPPORTED), "unsupported"),
        (outcomes.count(Outcome.UNJUDGED), "unjudged"),
        (plan.skipped, "skipped by expectations"),
        (max(0, plan.of - plan.selected), "not selected"),
    )
    return f"{pluralize(plan.of + plan.skipped, 'cell')}: {counts_text(counts)}"


def cell_of_job(job: Job, suite: str, cells: int, *, skips: bool) -> CellOfSuite:
    """Return the cell of a job as an item of a suite."""
    return CellOfSuite(cell_id(job), suite, cells, skips)
