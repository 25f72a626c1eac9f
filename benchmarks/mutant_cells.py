"""Judges checks in a separate process, in which one module has a deliberate fault.

A fault in the body of a function replaces its code in a fork of a process that has loaded the
suite. A fault that shows while the module is imported, such as in a constant or a class, needs a
new process, which compiles the module from its changed tree.
"""

import ast
import functools
import gc
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import msgspec

from benchmarks.code_mutations import mutated, mutated_text

_ROOT: Final = Path(__file__).parents[1]
_CLIENT_MODULES: Final = (
    "harness.conversation", "harness.dialects", "harness.normalizers", "harness.text_calls",
    "harness.turns",
)  # fmt: skip
# A fault may make an endless loop; the slowest list of checks takes a fraction of it.
SECONDS: Final = 120
_NEW_PROCESS: Final = "import sys; from benchmarks import mutant_cells; mutant_cells.main()"


class Fault(msgspec.Struct, frozen=True):
    """A fault to put in place.

    Fields:
        file: relative to the repository.
        index: among the faults of the file.
        function: qualified name of the function that contains it; "" if it shows at import.
    """

    file: str
    index: int
    function: str = ""


class Task(msgspec.Struct, frozen=True):
    """What to change, and the checks to judge then.

    Fields:
        fault: None for the code as it is.
        checks: in order.
        cut: how many of the first checks are judged at quick cuts too.
    """

    fault: Fault | None
    checks: tuple[Any, ...]
    cut: int


class Answer(msgspec.Struct, frozen=True):
    """The first finding that a check does not have without the fault.

    Fields:
        check: its index; None if there is none, or if the suite itself failed.
        cut: whether only cuts show it.
        finding: level, rule and path, or what ended the suite; "" if there is none.
    """

    check: int | None = None
    cut: bool = False
    finding: str = ""


class _MutantLoader(SourceFileLoader):
    """Compiles the changed tree of one module."""

    def __init__(self, name: str, path: str, index: int) -> None:
        super().__init__(name, path)
        self._index = index

    def get_code(self, fullname: str) -> CodeType:
        return _changed_code(self.get_filename(fullname), self._index)


class _MutantFinder(MetaPathFinder):
    """Finds one module as its mutant."""

    def __init__(self, module: str, index: int) -> None:
        self._module, self._index = module, index

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the changed module; None for others."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname == self._module else None
        if spec is not None and spec.origin is not None:
            spec.loader = _MutantLoader(fullname, spec.origin, self._index)
        return spec


def _changed_code(path: str, index: int) -> CodeType:
    tree: ast.Module = mutated(Path(path).read_text(encoding="utf-8"), index)
    return compile(tree, path, "exec", dont_inherit=True)


# A function in a loaded suite


@functools.cache
def client_caches() -> tuple[Any, ...]:
    """Return each cache of `functools` in the code of clients."""
    kind = type(functools.cache(_nested))
    wrappers = [each for each in gc.get_objects() if isinstance(each, kind)]
    return tuple(each for each in wrappers if each.__module__.startswith(_CLIENT_MODULES))


def prepare() -> None:
    """Make this process ready for forks: find functions and caches, and share its memory."""
    _functions()
    client_caches()
    gc.collect()
    gc.freeze()


@functools.cache
def _functions() -> dict[tuple[str, str], list[FunctionType]]:
    """Return the functions of the suite, by the path of their file and their qualified name."""
    found: dict[tuple[str, str], list[FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            code = each.__code__
            found.setdefault((code.co_filename, code.co_qualname), []).append(each)
    return found


def outermost_function(file: str, scope: str) -> str:
    """Return the function of a loaded suite that contains all of `scope`; "" if there are several.

    It is "" too if the function was made inside another one while a module was imported: it keeps
    its code if that of the other one is replaced.

    Args:
        file: relative to the repository.
        scope: names of classes and functions, joined by dots.
    """
    functions, path = _functions(), str(_ROOT / file)
    if any(
        made[0] == path and "<locals>." in made[1] and made[1].replace("<locals>.", "") == scope
        for made in functions
    ):
        return ""
    names = scope.split(".")
    for count in range(1, len(names) + 1):
        name = ".".join(names[:count])
        found = functions.get((path, name), [])
        if len({each.__code__ for each in found}) == 1:
            return name
    return ""


def _replace(fault: Fault) -> None:
    """Put a fault of a function in place."""
    path = str(_ROOT / fault.file)
    functions = _functions()[path, fault.function]
    (code,) = (
        each
        for each in _nested(_changed_code(path, fault.index))
        if each.co_qualname == fault.function
        and each.co_firstlineno == functions[0].__code__.co_firstlineno
    )
    for each in functions:
        each.__code__ = code


def _nested(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _nested(each)


# A module that is imported after the change


def _change_at_import(fault: Fault) -> None:
    file = (_ROOT / fault.file).resolve()
    if file.suffix == ".py":
        module = ".".join(Path(fault.file).with_suffix("").parts).removesuffix(".__init__")
        sys.meta_path.insert(0, _MutantFinder(module, fault.index))
        return
    text = mutated_text(file.read_text(encoding="utf-8"), fault.index)
    read = Path.read_text

    def read_text(path: Path, encoding: str | None = None, errors: str | None = None) -> str:
        return text if path == file else read(path, encoding, errors)

    Path.read_text = read_text  # type: ignore[assignment, method-assign]


def answer(task: Task) -> Answer:
    """Answer `task`: here, after changing this process for good, or in a new one."""
    if task.fault is not None and not task.fault.function:
        return _answer_of_new_process(task)
    if task.fault is not None:
        _replace(task.fault)
    for each in client_caches():
        each.cache_clear()
    return judge(task)


def judge(task: Task) -> Answer:
    """Judge the checks of `task` until one has a finding that it does not have otherwise."""
    number, cut = None, False
    try:
        for cut, checks in ((False, task.checks), (True, task.checks[: task.cut])):
            for number, each in enumerate(checks):
                found = each.findings("quick" if cut else "whole")
                if new := [it for it in found if it not in each.known and _counts(it, cut=cut)]:
                    return Answer(number, cut, new[0])
    except Exception as error:  # noqa: BLE001 - a suite that raises is a suite that noticed
        return Answer(number, cut, f"{type(error).__name__}: {error}"[:200])
    return Answer()


def _counts(finding: str, *, cut: bool) -> bool:
    """Whether a finding is one of the fault: a SHOULD finding at cuts may be there without it."""
    return not cut or not finding.startswith("SHOULD")


def _answer_of_new_process(task: Task) -> Answer:
    ended = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", _NEW_PROCESS],
        input=pickle.dumps((task.fault, pickle.dumps(task))),
        capture_output=True,
        cwd=_ROOT,
        check=False,
    )
    if ended.returncode:
        return Answer(None, finding=f"the suite exited with {ended.returncode}")
    return msgspec.json.decode(ended.stdout, type=Answer)


def main() -> None:
    """Answer one task from standard input; its checks are loaded after the change."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    fault, task = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - from the parent
    _change_at_import(fault)
    try:
        found = judge(pickle.loads(task))  # noqa: S301 - from the parent
    except Exception as error:  # noqa: BLE001 - a suite that cannot be loaded noticed
        found = Answer(finding=f"{type(error).__name__}: {error}"[:200])
    sys.stdout.buffer.write(msgspec.json.encode(found))
