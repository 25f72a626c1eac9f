"""Show how far `harness run` is, on standard error while it replays.

A terminal gets a bar with the time that is left, the time of a turn, and the first failure of each
rule as soon as its cell is judged. The log of a CI job gets a line at times. It never changes what
the run stores.
"""

import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final, Protocol

import click

from harness.reporting.visible import plain
from harness.results.result import Result
from harness.runs.plan import Job
from harness.wording import pluralize

_PROGRESS_SECONDS: Final = 10.0
_MOST_FAILURES: Final = 5
_SHOWN_CHARACTERS: Final = 60
_MILLISECONDS: Final = 1000
# A terminal goes to the start of the line and clears it, so that a line replaces the bar.
_OVER_THE_BAR: Final = "\r\x1b[K"


class RunProgress(Protocol):
    """Gets how far a run is, and each of its results."""

    def show(self, done: int, total: int) -> None:
        """Show that `done` of `total` cells have a result."""

    def note(self, result: Result) -> None:
        """Use one more result for what `show` shows next."""


@contextmanager
def progress(workers: int, accepts: Callable[[Result], bool]) -> Iterator[RunProgress]:
    """Yield the progress of a run, which is shown until the block ends.

    Args:
        workers: how many cells are judged at the same time.
        accepts: returns whether the project accepts a failure, which is then not shown.
    """
    if not sys.stderr.isatty():
        yield _Lines(time.monotonic)
        return
    with ExitStack() as stack:
        yield _Terminal(lambda: stack.enter_context(_bar()), workers, accepts, time.monotonic)


def _bar() -> AbstractContextManager["_Bar"]:
    return click.progressbar(
        length=1, file=sys.stderr, label="replaying", show_pos=True, item_show_func=lambda it: it
    )


class _Bar(Protocol):
    """The part of click's progress bar that a run uses."""

    length: int | None
    pos: int

    def update(self, n_steps: int, current_item: str | None = None) -> None:
        """Go on by a number of steps, and show a text after the bar."""


class _Lines:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._printed = clock()

    def show(self, done: int, total: int) -> None:
        if self._clock() - self._printed >= _PROGRESS_SECONDS and done < total:
            self._printed = self._clock()
            click.echo(f"replaying: {done:,} of {total:,} cells ({done / total:.0%})", err=True)

    def note(self, result: Result) -> None:
        """Do nothing: a log shows the failures at its end, the worst first."""


class _Terminal:
    """Opens the bar with the first result, because a client takes time to start only once."""

    def __init__(
        self,
        open_bar: Callable[[], _Bar],
        workers: int,
        accepts: Callable[[Result], bool],
        clock: Callable[[], float],
    ) -> None:
        self._open_bar, self._workers, self._accepts = open_bar, workers, accepts
        self._clock, self._began = clock, 0.0
        self._bar: _Bar | None = None
        self._turns = self._failing = 0
        self._rules: set[str] = set()  # whose first failure was shown

    def show(self, done: int, total: int) -> None:
        if not done:
            click.echo(f"replaying {pluralize(total, 'cell')}", err=True)
            return
        if self._bar is None:
            self._bar, self._began, self._turns = self._open_bar(), self._clock(), 0
        self._bar.length = total
        self._bar.update(done - self._bar.pos, self._facts())

    def _facts(self) -> str:
        """Return what follows the time that is left: the time of a turn, and the failing cells.

        The time of a turn has the time of its judgement in it, which counts only for fast clients.
        """
        facts = ["left"]
        if self._turns:
            seconds = (self._clock() - self._began) * self._workers / self._turns
            facts.append(f"{seconds * _MILLISECONDS:,.0f} ms a turn")
        if self._failing:
            facts.append(f"{self._failing:,} failing")
        return ", ".join(facts)

    def note(self, result: Result) -> None:
        self._turns += result.replays
        if not result.outcome.fails or self._accepts(result):
            return
        self._failing += 1
        worst = next((each for each in result.reported if each.level == "MUST"), None)
        if worst is None or worst.rule in self._rules or len(self._rules) == _MOST_FAILURES:
            return
        self._rules.add(worst.rule)
        expected, found = (plain(it, _SHOWN_CHARACTERS) for it in (worst.expected, worst.actual))
        what = f"{plain(result.cell)}: {worst.rule}: expected {expected}, found {found}"
        click.echo(f"{_OVER_THE_BAR}{result.outcome}  {what}", err=True)


def print_not_run(planned: Iterable[Job], results: Iterable[Result], folder: Path) -> None:
    """Print how many cells of each client did not run, and the command that runs them.

    Args:
        planned: the cells of the run.
        results: the results that the run has.
        folder: the output folder of the run.
    """
    again = shlex.join(("harness", "run", "--lf", "-o", str(folder)))
    left = Counter(job.normalizer for job in planned)
    left.subtract(result.normalizer for result in results)
    counts = [
        f"{pluralize(count, 'cell')} of {plain(name)}"
        for name, count in left.most_common()
        if count > 0
    ]
    if counts:
        click.echo(f"not run: {', '.join(counts)}; run them with `{again}`", err=True)
