"""The public Python interface: its names, its signatures, and what importing it loads."""

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from textwrap import dedent

import pytest

import harness

ROOT = Path(__file__).parents[1]
COMMITTED = Path(__file__).with_suffix(".json")
PUBLIC = ("harness", "harness.testing", "harness.fuzzing.strategies", "harness.normalizers.sdk")
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for page in ROOT.glob(pattern)
    if page.name != "CHANGELOG.md"
)


def _signature(value: object) -> str:
    """Return what a caller depends on: parameters and their defaults, or the kind of a value."""
    if isinstance(value, type) and issubclass(value, Enum):
        return " | ".join(value)
    if not callable(value):
        return type(value).__name__
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "callable"
    text = ", ".join(str(each.replace(annotation=each.empty)) for each in parameters)
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    # The order of a set differs from process to process.
    text = re.sub(r"(?<=\{)[^{}]+(?=\})", lambda it: ", ".join(sorted(it[0].split(", "))), text)
    return f"({text})"


def _interface() -> dict[str, dict[str, str]]:
    modules = {name: importlib.import_module(name) for name in PUBLIC}
    return {
        name: {each: _signature(getattr(module, each)) for each in sorted(module.__all__)}
        for name, module in modules.items()
    }


def test_names_and_signatures_equal_the_committed_list() -> None:
    text = json.dumps(_interface(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        COMMITTED.write_text(text, encoding="utf-8")
    assert json.loads(text) == json.loads(COMMITTED.read_text(encoding="utf-8"))


def test_type_checkers_see_the_names_that_exist_at_run_time() -> None:
    stub = ast.parse(Path(harness.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    seen = {
        (node.module, alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {(f"harness.{module}", name) for name, module in vars(harness)["_MODULES"].items()}
    assert seen == homes


def test_importing_harness_loads_no_other_module_of_it() -> None:
    program = "import sys, harness; print([m for m in sys.modules if m.startswith('harness.')])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(harness, "nothing")  # noqa: B009 - a type checker would refuse the attribute
    assert "judge" in dir(harness)


def _imports(page: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of each import of this package in the examples of `page`."""
    for example in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(dedent(example))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_import_public_names_only(page: Path) -> None:
    ours = [each for each in _imports(page) if each[0].partition(".")[0] == "harness"]
    interface = {name: set(importlib.import_module(name).__all__) for name in PUBLIC}
    private = [
        (module, name)
        for module, name in ours
        if f"{module}.{name}" not in interface
        and (module not in interface or (name and name not in interface[module]))
    ]
    assert private == []
