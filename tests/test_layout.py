"""The layout that CONTRIBUTING describes: modules and functions of a natural size.

Also, no property tries fewer examples than the profile says.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from hypothesis import settings

PACKAGE = Path(__file__).parents[1] / "harness"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 400
MAX_FUNCTION_LINES = 40
MIN_EXAMPLES = 25


def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _trees() -> Iterator[tuple[str, ast.Module]]:
    """Yield the tree of each module; all trees at once slow the garbage collector down."""
    for path in MODULES:
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(_source(path))


def test_no_module_is_longer_than_400_lines() -> None:
    sizes = {path.relative_to(PACKAGE).as_posix(): _source(path).count("\n") for path in MODULES}
    assert {name: size for name, size in sizes.items() if size > MAX_LINES} == {}


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions in `node`; expressions, which are most of a tree, have none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        if not isinstance(child, ast.expr):
            yield from _functions(child)


def test_modules_have_a_docstring_and_no_function_is_longer_than_40_lines() -> None:
    """The docstring of a function does not count."""
    long = {}
    for name, tree in _trees():
        assert ast.get_docstring(tree), name
        for node in _functions(tree):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            size = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            if size > MAX_FUNCTION_LINES:
                long[f"{name}:{node.name}"] = size
    assert long == {}


def test_each_property_tries_at_least_25_examples() -> None:
    """The profiles in `conftest.py` say how many; `find` is a search and not a property."""
    assert settings().max_examples >= MIN_EXAMPLES
    tests = Path(__file__).parent
    setting = "max_" + "examples="
    found = {path.name for path in tests.rglob("*.py") if setting in _source(path)}
    assert found <= {"test_fuzzing_mutators.py"}
