"""Judges cells in a process of its own, in which one module has a deliberate fault.

Reads a `Task` as JSON from standard input and prints an `Answer`. The module is compiled from its
changed tree when the suite imports it, so that constants and classes are changed like functions.
The benchmark `teeth` starts it.
"""

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, Literal

import msgspec

from benchmarks.code_mutations import mutated, mutated_text

# Cells that are judged at the standard cuts. The others are judged in whole bodies only: few faults
# show at cuts alone, and what this misses counts as a survivor.
_MOST_CUT: Final = 200


class Task(msgspec.Struct, frozen=True):
    """What to change, and the cells to judge then.

    Fields:
        module: name of the module, or path of a file of texts.
        index: of the fault in `mutations`; None for the code as it is.
        jobs: the cells, in order, each a `Job` as JSON.
        known: for each cell, the findings without the fault.
        examples: number of inputs to search each client with, if no cell has another finding.
    """

    module: str
    index: int | None
    jobs: tuple[msgspec.Raw, ...]
    known: tuple[tuple[str, ...], ...]
    examples: int


class Answer(msgspec.Struct, frozen=True):
    """The first failure.

    Fields:
        judged: number of cells up to it.
        cell: index of the cell; None if each has the findings that it has without the fault.
        finding: rule and path, from the cell or from the search, or the exception that ended it.
    """

    judged: int
    cell: int | None = None
    finding: str = ""


class _MutantLoader(SourceFileLoader):
    """Compiles the changed tree of one module."""

    def __init__(self, name: str, path: str, index: int) -> None:
        super().__init__(name, path)
        self._index = index

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree: ast.Module = mutated(Path(path).read_text(encoding="utf-8"), self._index)
        return compile(tree, path, "exec", dont_inherit=True)


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


def _change(task: Task) -> None:
    """Put the fault in place."""
    if task.index is None:
        return
    if not task.module.endswith(".toml"):
        sys.meta_path.insert(0, _MutantFinder(task.module, task.index))
        return
    file = Path(task.module).resolve()
    text = mutated_text(file.read_text(encoding="utf-8"), task.index)
    read = Path.read_text

    def read_text(path: Path, encoding: str | None = None, errors: str | None = None) -> str:
        return text if path == file else read(path, encoding, errors)

    Path.read_text = read_text  # type: ignore[assignment, method-assign]


def answer(task: Task) -> Answer:
    """Judge the cells of `task` until one has a finding that it does not have otherwise.

    The suite is imported here, after the change is in place.
    """
    judged = 0
    try:
        from benchmarks.suite_cells import decode, findings, searched  # noqa: PLC0415 - see above

        cells = [(decode(job), known) for job, known in zip(task.jobs, task.known, strict=True)]
        for index, (job, known) in enumerate((*cells, *cells[:_MOST_CUT])):
            judged = index % len(cells) + 1
            cuts: Literal["whole", "standard"] = "whole" if index < len(cells) else "standard"
            if new := [each for each in findings(job, cuts) if each not in known]:
                return Answer(judged, judged - 1, new[0])
        if task.examples and (found := searched([job for job, _ in cells], task.examples)):
            return Answer(judged, None, found)
    except Exception as error:  # noqa: BLE001 - a suite that raises is a suite that noticed
        return Answer(judged, max(judged - 1, 0), f"{type(error).__name__}: {error}"[:200])
    return Answer(judged)


def main() -> None:
    """Answer one task."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    _change(task)
    sys.stdout.buffer.write(msgspec.json.encode(answer(task)))


if __name__ == "__main__":
    main()
