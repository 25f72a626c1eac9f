"""The pytest plugin: scenario files become items, `scenario::normalizer` or `scenario::agent`.

pytest loads this module in every project that has harness installed, so it imports other modules
of the package only to collect a scenario or to create a fixture.

Fixtures: `harness_recorder` plays or records the cassette of the test, and `harness_client` creates
clients of httpx or httpx2 that use it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from harness.recording.recorder import Recorder

_SUFFIX = ".yaml"
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
        "default": "standard",
        "choices": ("whole", "quick", "standard", "every"),
        "help": "chunkings of each body",
    },
    "--harness-dialect": {
        "default": "",
        "metavar": "NAME",
        "help": "parse every cassette as this dialect and skip detection",
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
    """Block connections to other machines if --harness-block-network is set."""
    if config.getoption("--harness-block-network"):
        from harness.recording.network import block_remote_connections  # noqa: PLC0415 - see the rule of this module

        blocked = ExitStack()
        blocked.enter_context(block_remote_connections())
        config.add_cleanup(blocked.close)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect scenario files in the folders of `harness_scenarios`."""
    if file_path.suffix != _SUFFIX or _SHARED.intersection(file_path.parts):
        return None
    roots = parent.config.getini("harness_scenarios")
    if not any(file_path.is_relative_to(root) for root in roots):
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
