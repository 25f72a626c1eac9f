"""The pytest plugin: scenario files become items, `scenario::normalizer` or `scenario::agent`.

pytest loads this module in every project that has harness installed, so it imports other modules
of the package only to collect a scenario or to create a fixture.

Fixtures: `harness_recorder` plays or records the cassette of the test, and `harness_client` creates
clients of httpx or httpx2 that use it.
"""

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from harness.recording.recorder import Recorder

_SUFFIXES = (".yaml", ".yml")
_CELL: Final = "harness_cell"  # of a report, which pytest-xdist sends to its controller
_PLAN: Final = "harness_plan"  # of a pytest-xdist worker, for its controller
_SHARED = frozenset(("tools", "prompts"))
_REPEATABLE: Final[dict[str, Any]] = {"action": "append", "default": [], "metavar": "NAME"}
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "--harness-normalizer": {
        **_REPEATABLE,
        "help": "judge this normalizer (a name or module:callable); repeatable",
    },
    "--harness-agent": {
        **_REPEATABLE,
        "help": "judge this agent on conversations (a name or module:callable); repeatable",
    },
    "--harness-cuts": {
        "choices": ("whole", "quick", "standard", "every"),
        "help": "chunkings of each body; default: that of the project, or else standard",
    },
    "--harness-dialect": {
        "default": "",
        "metavar": "NAME",
        "help": "parse every cassette as this dialect and skip detection",
    },
    "--harness-evidence": {
        "choices": ("own",),
        "default": "",
        "help": "own: judge third-party clients also by streams that no server is known to send; "
        "default: skip these",
    },
    "--harness-in-process": {
        "action": "store_true",
        "help": "run third-party clients in this process, for coverage or a debugger; one that "
        "ends its process then ends pytest",
    },
    "--harness-unsupported": {
        "action": "store_true",
        "help": "collect unsupported cells as skipped items",
    },
    "--harness-record": {
        "default": "none",
        "metavar": "MODE",
        "help": "recording mode of harness_recorder: none (default), once, new_episodes, any, all",
    },
    "--harness-record-in-ci": {
        "action": "store_true",
        "help": "let --harness-record connect to live servers even if CI is set",
    },
    "--harness-block-network": {
        "action": "store_true",
        "help": "block connections to other machines",
    },
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which all begin with --harness-."""
    group = parser.getgroup("harness", "conformance of stream normalizers")
    for name, option in _OPTIONS.items():
        group.addoption(name, **option)
    parser.addini("harness_scenarios", "folders of scenario files to collect", "paths", [])


def pytest_configure(config: pytest.Config) -> None:
    """Collect the judged cells for the gate, and block connections if the option says so."""
    if not hasattr(config, "workerinput"):  # of pytest-xdist, whose controller gets all reports
        config.pluginmanager.register(_GateOfSession(), "harness-gate")
    for folder in config.getini("harness_scenarios"):
        if not folder.is_dir():
            raise pytest.UsageError(f"harness_scenarios: the folder {folder} does not exist")
    if config.getoption("--harness-block-network"):
        from harness.recording.network import block_remote_connections  # noqa: PLC0415 - see the rule of this module

        blocked = ExitStack()
        blocked.enter_context(block_remote_connections())
        config.add_cleanup(blocked.close)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the cell that an item judged to the report of the item."""
    report = yield
    items = sys.modules.get("harness.testing.items")  # a test of another kind needs no import
    if call.when == "call" and items is not None:
        vars(report)[_CELL] = items.take_judged_cell(item.config)
    return report


class _GateOfSession:
    """Judges the rules of the project's gate at the end, on the cells of all pytest processes."""

    def __init__(self) -> None:
        self._cells: list[str] = []
        self._plans: list[Any] = []  # of the workers of pytest-xdist
        self._lines: tuple[str, ...] = ()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cell = vars(report).get(_CELL)
        if cell:
            self._cells.append(cell)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - of pytest-xdist
        plan = getattr(node, "workeroutput", {}).get(_PLAN)
        self._plans += [plan] if plan else []

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        option = session.config.getoption
        runs = not (option("collectonly") or option("setupplan", default=False))
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not (runs and ended) or not (self._plans or "harness.testing.items" in sys.modules):
            return
        from harness.testing.gate import judge_session  # noqa: PLC0415 - see the rule of this module
        from harness.testing.items import today  # noqa: PLC0415 - as above
        from harness.testing.session import decode_plans, plan_of  # noqa: PLC0415 - as above

        plan = decode_plans(self._plans) if self._plans else plan_of(session.config)
        if plan.of or plan.skipped or plan.clients or plan.not_collected:
            found = judge_session(plan, self._cells, today())
            self._lines = found.lines
            if found.fails:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._lines:
            terminalreporter.section("harness gate")
            for line in self._lines:
                terminalreporter.line(line)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Plan the cells of the session, after all items are selected."""
    if "harness.testing.items" in sys.modules:  # a session without cells needs no import
        from harness.testing.session import encode_plan, plan_session  # noqa: PLC0415 - see the rule of this module

        plan = plan_session(session)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_PLAN] = encode_plan(plan)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect scenario files in the folders of `harness_scenarios`."""
    if file_path.suffix.lower() not in _SUFFIXES:
        return None
    roots = parent.config.getini("harness_scenarios")
    root = next((root for root in roots if file_path.is_relative_to(root)), None)
    if root is None or _SHARED.intersection(file_path.relative_to(root).parts):
        return None
    from harness.testing import ScenarioFile  # noqa: PLC0415 - see the rule of this module

    return ScenarioFile.from_parent(parent, path=file_path)


@pytest.fixture
def harness_recorder(request: pytest.FixtureRequest) -> "Iterator[Recorder]":
    """Play or record the cassette of this test, `cassettes/MODULE/TEST.yaml` next to its file."""
    from harness.recording.recorder import recorder_for_test  # noqa: PLC0415 - see the rule of this module

    option = request.config.getoption
    recorder = recorder_for_test(
        request.path,
        request.node.name,
        option("--harness-record"),
        allow_in_ci=option("--harness-record-in-ci"),
    )
    with recorder:
        yield recorder


@pytest.fixture
def harness_client(harness_recorder: "Recorder") -> Iterator[Callable[..., Any]]:
    """Return a function that creates a sync client of a library: `harness_client(httpx)`."""
    with ExitStack() as open_clients:

        def make(library: ModuleType, **options: Any) -> Any:  # noqa: ANN401 - options and client of the library
            transport = harness_recorder.transport(library)
            return open_clients.enter_context(library.Client(transport=transport, **options))

        yield make
