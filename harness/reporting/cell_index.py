"""Make the columns of the table of replays, and count the rows that match a link's filters.

The report counts cells with the same columns as the filter of the table. So the number at a link is
the number of rows that the link shows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeAlias

from harness.reporting.report import Report, cut_text
from harness.reporting.words import unjudged_fields
from harness.results.result import CASSETTE_PREFIX, LOG_PREFIX, Result

Value: TypeAlias = str | int | tuple[str, ...]

# What the id of a subject without a scenario starts with.
RECORDINGS: Final = (CASSETTE_PREFIX, LOG_PREFIX)
# The names are the fields of the filter, which docs/reference/report.md documents. Most of them
# are attributes of a result.
_NAMES: Final = (
    *("scenario", "normalizer", "outcome", "blame", "title", "cassette", "provider", "model"),
    *("prompt", "dialect", "text", "origin", "kind", "success", "quirk", "rule", "unjudged"),
    *("cause", "replays"),
)


def _cut(name: str) -> Callable[[Result], str]:
    return lambda result: cut_text(getattr(result, name))


def _success(result: Result) -> str:
    facts = result.conversation
    if facts is not None:
        return "yes" if facts.success else "no"
    if not result.turns:
        return ""
    return "yes" if all(turn.success for turn in result.turns) else "no"


def _failed_turns(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the blame and the reason of each turn or conversation that failed."""
    facts = (result.conversation,) if result.conversation is not None else result.turns
    yield from ((each.blame, cut_text(each.why)) for each in facts if not each.success)


def _should_causes(result: Result) -> tuple[str, ...]:
    found = {cut_text(cause) for finding, cause in result.causes if finding.level != "MUST"}
    return tuple(sorted(found))


COLUMNS: Final[Mapping[str, Callable[[Result], Value]]] = {
    **{name: attrgetter(name) for name in _NAMES},
    **{name: _cut(name) for name in ("title", "provider", "model", "prompt", "cause")},
    "outcome": lambda each: each.outcome.value,
    "text": attrgetter("text_dialect"),
    "success": _success,
    "failed": lambda each: tuple(sorted({blame for blame, _ in _failed_turns(each) if blame})),
    "parse_error": lambda each: tuple(
        sorted({turn.parse_error_blame for turn in each.turns if turn.parse_errors})
    ),
    "why": lambda each: tuple(sorted({why for _, why in _failed_turns(each)})),
    "quirk": attrgetter("quirks"),
    "recording": lambda each: "yes" if each.scenario.startswith(RECORDINGS) else "no",
    "unjudged": unjudged_fields,
    "rule": lambda each: tuple(sorted({finding.rule for finding in each.reported})),
    "should": _should_causes,
}


class CellIndex:
    """Finds the cells that have certain values in the columns of the table of replays.

    Args:
        results: the results of the run.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results
        self._columns: dict[str, dict[str, set[int]]] = {}
        self._found: dict[tuple[str, str | tuple[str, ...]], set[int]] = {}

    def count(self, filters: Mapping[str, str | tuple[str, ...]]) -> int:
        """Return the number of cells that match `filters`, which `replays_link` shows as rows."""
        sets = [self._rows(*each) for each in filters.items() if each[1]]
        if not sets:
            return len(self._results)
        smallest, *others = sorted(sets, key=len)
        return len(smallest.intersection(*others))

    def _rows(self, field: str, value: str | tuple[str, ...]) -> set[int]:
        key = field, value
        if key not in self._found:
            wanted = (value,) if isinstance(value, str) else value
            self._found[key] = set().union(*(self._rows_of(field, each) for each in wanted))
        return self._found[key]

    def _rows_of(self, field: str, value: str) -> set[int]:
        column = self._column(field)
        if not value.endswith("*"):
            return column.get(value) or column.get(cut_text(value), set())
        return set().union(*(rows for each, rows in column.items() if each.startswith(value[:-1])))

    def _column(self, field: str) -> dict[str, set[int]]:
        if field not in self._columns:
            rows: dict[str, set[int]] = defaultdict(set)
            value_of = COLUMNS[field]
            for place, result in enumerate(self._results):
                value = value_of(result)
                for each in value if isinstance(value, tuple) else (str(value),):
                    rows[each].add(place)
            self._columns[field] = dict(rows)
        return self._columns[field]


def cell_index(report: Report) -> CellIndex:
    """Return the index of the cells of the run."""
    return CellIndex(report.run.results)
