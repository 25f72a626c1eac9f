"""The pytest plugin: scenario files become items, `scenario::normalizer` or `scenario::agent`.

pytest loads this module in every project that has harness installed, so it imports nothing
of the package until a scenario is really collected.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_SUFFIX = ".yaml"
_SHARED = frozenset(("tools", "prompts"))


def pytest_addoption(parser: "pytest.Parser") -> None:
    """Add the options; all begin with --harness-."""
    group = parser.getgroup("harness", "conformance of stream normalizers")
    group.addoption(
        "--harness-normalizer",
        action="append",
        default=[],
        metavar="NAME",
        help="judge this normalizer (a name or module:callable); repeatable",
    )
    group.addoption(
        "--harness-agent",
        action="append",
        default=[],
        metavar="NAME",
        help="judge this agent on conversations (a name or module:callable); repeatable",
    )
    group.addoption(
        "--harness-cuts",
        default="standard",
        choices=("whole", "quick", "standard", "every"),
        help="chunkings of each cell",
    )
    group.addoption(
        "--harness-dialect",
        default="",
        metavar="NAME",
        help="read every cassette as this dialect, whatever it seems to be",
    )
    group.addoption(
        "--harness-unsupported",
        action="store_true",
        help="make a skipped item of each cell that a normalizer does not declare itself for",
    )
    parser.addini("harness_scenarios", "folders of scenario files to collect", "paths", [])


def pytest_collect_file(file_path: Path, parent: "pytest.Collector") -> "pytest.Collector | None":
    """Collect scenario files that lie in a folder of `harness_scenarios`."""
    if file_path.suffix != _SUFFIX or _SHARED.intersection(file_path.parts):
        return None
    roots = parent.config.getini("harness_scenarios")
    if not any(file_path.is_relative_to(root) for root in roots):
        return None
    from harness.testing import ScenarioFile  # noqa: PLC0415 - see the rule of this module

    return ScenarioFile.from_parent(parent, path=file_path)
