"""Describe an exception of a client: the function that raised it, and a readable traceback.

The message of an exception quotes the input, and its line changes with each version of a library.
So only its type and the deepest function of the library under test identify a bug.
"""

import linecache
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Final

_LONGEST: Final = 300
_TRACE_FRAMES: Final = 12
# Python 3.12 has no frames for comprehensions, so their function counts; so for a lambda.
_UNNAMED: Final = re.compile(r"(\.<locals>\.<\w+>)+$")
# Code that runs and answers the client under test.
_MACHINERY: Final = ("harness.judging.", "harness.playback.")
# Packages that many libraries use and that no adapter tests: HTTP, validation, retries.
_SHARED: Final = frozenset(
    (
        *("aiohttp", "anyio", "h11", "h2", "httpcore", "httpcore2", "httpx", "httpx2", "requests"),
        *("pydantic", "pydantic_core", "tenacity", "urllib3"),
    )
)


def raised_in(problem: BaseException) -> str:
    """Return `Type in module:function` for an exception and the function that raised it.

    It prefers a function of the library under test to one of a package that libraries share, and
    that to one of the harness, such as an adapter. It never names the standard library. It names a
    constructor only if there is no other function, because its caller causes the exception.
    """
    frames = [(_rank(module), f"{module}:{function}") for module, function in _frames(problem)]
    best = max((rank for rank, _ in frames), default=0)
    found = [name for rank, name in frames if rank == best > 0]
    functions = [name for name in found if not name.endswith(".__init__")] or found
    kind = type(problem).__name__
    if not functions:
        return kind[:_LONGEST]
    deepest = functions[-1]
    if isinstance(problem, RecursionError):
        # Which of the functions that call each other reaches the limit depends on the caller.
        times = Counter(functions)
        deepest = next((name for name in functions if times[name] > 1), deepest)
    return f"{kind} in {deepest}"[:_LONGEST]


def traceback_of(problem: BaseException) -> str:
    """Return the traceback of an exception, without the standard library and the harness around it.

    Paths are relative to the working folder or to the folder from which Python imports the module,
    so that a run does not name folders of a machine. The text of the exception is left out, because
    it may contain anything.
    """
    frames = [
        (str(frame.f_globals.get("__name__")), frame.f_code, line)
        for frame, line in walk_tb(problem.__traceback__)
    ]
    shown = [(code, line) for module, code, line in frames if _is_shown(module)][-_TRACE_FRAMES:]
    roots = [str(Path.cwd()), *sorted(filter(None, sys.path), key=len, reverse=True)]
    return "\n".join(text for code, line in shown for text in _frame_lines(code, line, roots))


def _is_shown(module: str) -> bool:
    in_library = module.partition(".")[0] in sys.stdlib_module_names
    return not in_library and not module.startswith(_MACHINERY)


def _frame_lines(code: CodeType, line: int | None, roots: list[str]) -> Iterator[str]:
    yield f'File "{_short_path(code.co_filename, roots)}", line {line}, in {code.co_name}'
    source = linecache.getline(code.co_filename, line or 0).strip()
    if source:
        yield f"  {source[:_LONGEST]}"


def _short_path(path: str, roots: list[str]) -> str:
    _, installed, inside = path.rpartition("site-packages/")
    if installed:
        return inside
    folders = (f"{root.rstrip('/')}/" for root in roots)
    return path.removeprefix(next((each for each in folders if path.startswith(each)), ""))


def _frames(problem: BaseException) -> Iterator[tuple[str, str]]:
    """Yield the module and the function of each frame, the outermost first."""
    for frame, _ in walk_tb(problem.__traceback__):
        module = frame.f_globals.get("__name__")
        if isinstance(module, str):
            yield module, _UNNAMED.sub("", frame.f_code.co_qualname)


def _rank(module: str) -> int:
    """Return how well a module identifies a bug: 3 for the library under test, 0 for never."""
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names or module.startswith(_MACHINERY):
        return 0
    if package == "harness":
        return 1
    return 2 if package in _SHARED else 3
