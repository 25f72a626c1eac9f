"""A run -> pass, fail or nothing, with reasons that a person can act on.

Green must be earned: an interrupted or killed run never passes, and neither does one in which
nothing was judged.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from harness.judging.results import Outcome, Result
from harness.runs.run import Run, Selection

Verdict = Literal["pass", "fail", "nothing"]


class Gate(msgspec.Struct, frozen=True):
    """The verdict on a run; the worst reason comes first."""

    verdict: Verdict
    reasons: tuple[str, ...]


def judge_gate(run: Run) -> Gate:
    """Judge `run`: it passes where every supported cell conforms and none was left out."""
    judged = [result for result in run.results if result.outcome is not Outcome.UNSUPPORTED]
    reasons = (*_incomplete(run), *_failures(judged, run.header.selection))
    if reasons:
        return Gate("fail", reasons)
    if not judged:
        return Gate("nothing", ("no cell was judged",))
    verb = "conforms" if len(judged) == 1 else "conform"
    return Gate("pass", (f"{_cells(len(judged))} {verb}",))


def reproduce(cell: str, places: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """Return the command that replays `cell`, quoted for a shell.

    Args:
        cell: id of the cell.
        places: paths that were selected; none where it was what ships.
        more: further options.
    """
    where = [word for place in places for word in ("--in", place)]
    return shlex.join(["harness", "replay", cell, *more, *where])


def _incomplete(run: Run) -> Iterator[str]:
    if run.footer is None:
        yield f"the run was killed after {_cells(len(run.results))}"
    elif run.footer.interrupted:
        done, left = run.footer.results, run.footer.not_run
        yield f"the run was interrupted after {done} of {_cells(done + left)}"
    elif run.footer.not_run:
        yield f"{_cells(run.footer.not_run)} did not run"


def _failures(judged: list[Result], selection: Selection) -> Iterator[str]:
    total: dict[str, int] = defaultdict(int)
    failed: dict[str, list[Result]] = defaultdict(list)
    for result in judged:
        total[result.normalizer] += 1
        if not result.outcome.conforms:
            failed[result.normalizer].append(result)
    for results in failed.values():
        results.sort(key=lambda result: (result.outcome.badness, result.cell))
    for name, results in sorted(failed.items(), key=_worst_first):
        worst = results[0]
        yield (
            f"{name}: {len(results)} of {_cells(total[name])} {_DO[len(results) == 1]} not conform,"
            f" worst {worst.outcome.value}: "
            f"{reproduce(worst.cell, selection.paths, selection.options)}"
        )


def _worst_first(item: tuple[str, list[Result]]) -> tuple[int, int, str]:
    name, results = item
    return results[0].outcome.badness, -len(results), name


_DO = {True: "does", False: "do"}


def _cells(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"
