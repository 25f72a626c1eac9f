"""A driver is a script of its library: it uses nothing else, and an adapter wraps it."""

import ast
import re
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import adapters
from harness.repro.code import DRIVERS

SHARED = "harness.repro.drivers.shared."
PYTHON = sorted(DRIVERS.rglob("*.py"))
EVENTS = {"text", "reasoning", "call", "value", "checked", "rejected", "usage", "finish", "failure"}


def imported(module: ast.Module) -> Iterator[str]:
    """Yield the modules that any statement of a module imports."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", PYTHON, ids=attrgetter("stem"))
def test_a_driver_imports_nothing_of_the_harness_but_what_scripts_contain(path: Path) -> None:
    own = [name for name in imported(ast.parse(path.read_text("utf-8"))) if "harness" in name]
    assert all(name.startswith(SHARED) for name in own)
    if path.parent.name == "shared" and "langchain" not in path.stem:
        others = {name.partition(".")[0] for name in imported(ast.parse(path.read_text("utf-8")))}
        assert others <= {*sys.stdlib_module_names, "harness"}


@pytest.mark.parametrize("path", sorted(DRIVERS.rglob("*.mjs")), ids=attrgetter("stem"))
def test_a_driver_in_javascript_imports_packages_and_what_drivers_share(path: Path) -> None:
    names = re.findall(r'^import .* from "(.*)";$', path.read_text("utf-8"), re.MULTILINE)
    assert names
    assert all(name.startswith("./shared/") for name in names if name.startswith("."))


def test_each_driver_in_python_has_one_adapter() -> None:
    declared = {it.name for it in vars(adapters).values() if isinstance(it, Normalizer)}
    drivers = {path.stem for path in DRIVERS.glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in declared} == drivers


@pytest.mark.parametrize("path", PYTHON, ids=attrgetter("stem"))
def test_a_driver_yields_events_that_exist(path: Path) -> None:
    """Each tuple that begins with a word, and each word that `emit` gets, is an event."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        value = node.value if isinstance(node, ast.Yield) else None
        first: ast.expr | None = None
        if isinstance(value, ast.Tuple):
            first = value.elts[0]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "emit" and node.args:
            first = node.args[0]
        if isinstance(first, ast.Constant):
            assert first.value in EVENTS
