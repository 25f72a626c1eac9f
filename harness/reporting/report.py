"""Collect the data of a report: a run, further data, and values that several pages share.

The caller gives all data; this module reads no file. A link inside the report is `kind/NAME`,
percent-encoded; `case/CELL@412` also names a byte, so `@`, `?` and `&` in a name are encoded.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast
from urllib.parse import quote

import msgspec

from harness.results.catalogue import Quirk
from harness.results.kill_table import MeasuredKill
from harness.results.result import Result
from harness.results.run import Run
from harness.verdicts.database import Questions, questions_on
from harness.verdicts.gate import Gate, judge_gate
from harness.verdicts.history import RunAbout
from harness.verdicts.rankings import Rankings, rank

_View = TypeVar("_View")
# What rows of the table of replays must match: column -> a value, or any of several.
Filters: TypeAlias = Mapping[str, str | tuple[str, ...]]


class NamedRun(msgspec.Struct, frozen=True):
    """A run with the label that identifies it to the reader, such as its file name.

    Fields:
        commit: the commit of its project; "" if it is not known, or the project had changes.
    """

    label: str
    run: Run
    commit: str = ""


class ReportContext(msgspec.Struct, frozen=True):
    """The data that a report shows in addition to its run.

    Fields:
        base: the run to compare with; None for no comparison.
        history: earlier runs, the oldest first, without the run of the report.
        label: the label of the run of the report, in the trends.
        about: the time and the commit of the run; None if the run is not in the history.
        quirks: id -> quirk of the catalogue.
        kills: the kill table.
        live: a server shows the page while the run is in progress.
    """

    base: NamedRun | None = None
    history: tuple[NamedRun, ...] = ()
    label: str = "this run"
    about: RunAbout | None = None
    quirks: Mapping[str, Quirk] = msgspec.field(default_factory=dict)
    kills: tuple[MeasuredKill, ...] = ()
    live: bool = False


NO_CONTEXT = ReportContext()


class Report:
    """A run, further data and the verdict, with values that several pages share.

    Args:
        run: a run, finished or not.
        context: further data to show.
        gate: the verdict.
        store: the run as a database.
    """

    def __init__(self, run: Run, context: ReportContext, gate: Gate, store: Questions) -> None:
        self.run = run
        self.context = context
        self.gate = gate
        self.store = store
        self._views: dict[Callable[[Report], Any], Any] = {}

    def of(self, compute: "Callable[[Report], _View]") -> _View:
        """Return the result of `compute` for this report; each function is called only once."""
        if compute not in self._views:
            self._views[compute] = compute(self)
        return cast("_View", self._views[compute])

    @cached_property
    def rankings(self) -> Rankings:
        """The rankings of the run."""
        return rank(self.store)

    @cached_property
    def results(self) -> dict[str, Result]:
        """The result of each cell, by the name of the cell."""
        return {each.cell: each for each in self.run.results}

    @property
    def command(self) -> str:
        """The command that made the run."""
        return shlex.join(self.run.header.command)

    @property
    def replay_options(self) -> str:
        """The options that each command `harness replay CELL` of this run needs after the cell."""
        selection = self.run.header.selection
        paths = (word for path in selection.paths for word in ("--in", path))
        return shlex.join([*selection.options, *paths])


@contextmanager
def open_report(
    run: Run,
    context: ReportContext = NO_CONTEXT,
    gate: Gate | None = None,
    loaded: Questions | None = None,
) -> Iterator[Report]:
    """Yield the report of `run`; without `gate`, its verdict ignores the rules of the project."""
    with questions_on(run, loaded) as store:
        yield Report(run, context, gate or judge_gate(run), store)


AnchorKind = Literal[
    "case",
    "input",
    "failure",
    "model",
    "prompt",
    "pair",
    "normalizer",
    "peer",
    "agent",
    "quirk",
    "cassette",
    "rule",
]


def anchor(name: str, kind: AnchorKind = "case") -> str:
    """Return the HTML id of the element for `name`, which is also the link to it after `#`."""
    return f"{kind}/{quote(name, safe='/:!$*,;', errors='replace')}"


# Longer titles and names are cut in the table of replays: the run file has all text.
_LONGEST: Final = 200
_UNCUT: Final = frozenset(("scenario", "normalizer", "cassette"))


def cut_text(text: str) -> str:
    """Return `text`, cut to the length that the table of replays shows."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def replays_link(**filters: str | tuple[str, ...]) -> str:
    """Return a link to the table of replays; each keyword is a column with its required value.

    A row matches a tuple if it has one of its values.
    """
    terms = (f"{field}:{_quote_values(field, value)}" for field, value in filters.items() if value)
    return "replays?q=" + quote(" ".join(terms), safe="", errors="replace")


def _quote_values(field: str, values: str | tuple[str, ...]) -> str:
    each = (values,) if isinstance(values, str) else values
    return ",".join(_quote_value(it if field in _UNCUT else cut_text(it)) for it in each)


def _quote_value(value: str) -> str:
    # The filter cannot escape a quote; `?` matches any character.
    literal = value.replace('"', "?")
    return f'"{literal}"' if set(literal) & set(' ,"') else literal
