"""Answer the queries of reports on a run with an embedded DuckDB database.

The rows of one run go into tables in memory, as parameters. No SQL is made from data, and the
database has access to neither files nor the network. Every answer is ordered, so that equal runs
give equal answers.

Each query is a file in `queries/`; values are parameters. Tables: `outcomes` (each outcome),
`results` (one row for each cell), `turns` (for each interaction of a cell), `conversations` (for
each cell with a complete conversation), `findings` (for each finding).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal, Self, get_args

import msgspec

from harness.project import GateRule, Metric
from harness.results.cause import inherited_from
from harness.results.outcome import Outcome
from harness.results.result import ConversationFacts, Result, area_of
from harness.results.run import Run
from harness.turns.exact_json import encodable
from harness.verdicts.query_rows import (
    BlameSplit,
    ConversationRate,
    FailedTurns,
    MeasuredRate,
    QuirkLoss,
    Rate,
)
from harness.verdicts.sql import ISOLATED, SEALED
from harness.verdicts.statistics import Cluster
from harness.workers.interruption import defer_interrupts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Axis = Literal["model", "prompt", "model x prompt"]
AXES: Final[tuple[Axis, ...]] = get_args(Axis)
TurnMetric = Literal["success", "parse_error"]


@cache
def _query_text(name: str) -> str:
    """Return the text of `queries/NAME.sql`."""
    return (resources.files(__package__) / "queries" / f"{name}.sql").read_text(encoding="utf-8")


@cache
def _gate_query(name: str) -> str:
    return _query_text(name).format(
        selected=_query_text("gate_selected"),
        not_excused="cell NOT IN (SELECT unnest($excused::VARCHAR[]))",
    )


class RuleTrials(msgspec.Struct, frozen=True):
    """Turns, cells or conversations that a gate rule counts and that answer the same request.

    Fields:
        entry: the model if the rule counts turns of models.
        wanted: whether the rule counts them. The others only help to estimate how much
            repeated requests correlate.
        cluster: `k` of the `n` trials have the property that the rule's metric counts.
    """

    entry: str
    wanted: bool
    cluster: Cluster


# Every other metric is a share of cells.
_QUERY_OF: Final[dict[Metric, str]] = {
    "turn_success": "gate_turns",
    "parse_error_rate": "gate_turns",
    "unjudged_turns": "gate_turns",
    "conversation_success": "gate_conversations",
    "retries": "gate_conversations",
    "recovery": "gate_conversations",
}
_OF_MODELS: tuple[Metric, ...] = ("turn_success", "conversation_success")


def _rule_query(rule: GateRule, lead: str) -> tuple[str, Mapping[str, object]]:
    """Return the SQL query of a gate rule, and its parameters except `excused`.

    Args:
        rule: a rule of the project, which says what to count.
        lead: name of the lead normalizer, through which models are ranked.
    """
    name, where = _QUERY_OF.get(rule.metric, "gate_cells"), rule.where
    values: dict[str, object] = {**msgspec.structs.asdict(where), "metric": rule.metric}
    if name == "gate_cells":
        return _gate_query(name), values
    measured = bool(where.model or where.prompt) or rule.metric in _OF_MODELS
    values["measured"] = measured
    if name == "gate_turns":
        values["lead"] = lead if measured and not where.normalizer else ""
    return _gate_query(name), values


@cache
def _sealed_database() -> "DuckDBPyConnection":
    """Return the empty database of this process, made once because that is slow."""
    with defer_interrupts():  # one during its import would abort the process
        import duckdb  # noqa: PLC0415 - slow to import, and most commands ask nothing

        return duckdb.connect(":memory:", config={**ISOLATED, **SEALED})


class Questions:
    """A run in a database, with a method for each question about it.

    Use as a context manager. The database computes each answer once.
    """

    def __init__(self, run: Run) -> None:
        self.lead = run.header.lead
        self._answers: dict[tuple[str, tuple[tuple[str, object], ...]], list[tuple[Any, ...]]] = {}
        self._database = _sealed_database().cursor()  # has separate temporary tables
        self._rows(_query_text("schema"))
        self._insert(
            "outcomes",
            ({"outcome": o, "badness": o.badness, "conforms": o.conforms} for o in Outcome),
        )
        self._insert("results", map(_result_row, run.results))
        self._insert("turns", _parts(run, lambda result: result.turns, "ambiguous"))
        self._insert("conversations", _parts(run, _complete_conversation))
        self._insert("findings", _finding_rows(run))
        self._rows(_query_text("measured"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._database.close()

    @property
    def database(self) -> "DuckDBPyConnection":
        """The database with the tables of the run, for SQL of the user (`harness.verdicts.sql`)."""
        return self._database

    def outcome_counts(self) -> dict[str, dict[str, int]]:
        """Return normalizer -> outcome -> number of cells, the worst outcome first."""
        counts: dict[str, dict[str, int]] = {}
        for normalizer, outcome, count in self._ask("outcome_counts"):
            counts.setdefault(normalizer, {})[outcome] = count
        return counts

    def losses_by_quirk(self) -> tuple[QuirkLoss, ...]:
        """Return how many cells of each normalizer with each quirk conform, sorted by name."""
        return tuple(
            QuirkLoss(normalizer, quirk, k, n, Outcome(worst))
            for normalizer, quirk, k, n, worst in self._ask("losses_by_quirk")
        )

    def turn_success(self, axis: Axis) -> tuple[Rate, ...]:
        """Return how many turns of each model, prompt or pair succeeded, by name."""
        rows = self._ask("turn_success", axis=axis, lead=self.lead)
        return tuple(map(_rate, rows))

    def measured_turns(self) -> tuple[MeasuredRate, ...]:
        """Return how many turns of each model and prompt succeeded through each normalizer."""
        return tuple(MeasuredRate(*row) for row in self._ask("measured_turns"))

    def commonest_failures(self, axis: Axis) -> dict[str, tuple[str, int, str]]:
        """Return the most frequent failure of each model or prompt: reason, turns, and a cell id.

        Names without a failed turn are left out. If reasons are equally frequent, the first counts.
        """
        rows = self._ask("commonest_failures", axis=axis, lead=self.lead)
        return {name: (why, count, cell) for name, why, count, cell in rows}

    def failed_turns(self) -> tuple[FailedTurns, ...]:
        """Return the failed turns by blame and reason, the reasons with most turns first.

        They are the failed ones among the turns of `turn_success`, which counts each turn once.
        """
        rows = self._ask("failed_turns", lead=self.lead)
        return tuple(FailedTurns(blame, why, n, tuple(cells)) for blame, why, n, cells in rows)

    def repeats(self, axis: Axis, metric: TurnMetric) -> dict[str, tuple[Cluster, ...]]:
        """Return the repeated requests of each name of `turn_success` as clusters.

        The `k` of a cluster counts the turns with the property `metric`.
        """
        found: dict[str, tuple[Cluster, ...]] = {}
        rows = self._ask("repeats", axis=axis, lead=self.lead, metric=metric)
        for name, k, n, times in rows:
            found[name] = (*found.get(name, ()), Cluster(k, n, times))
        return found

    def trials(self, rule: GateRule, excused: Collection[str]) -> tuple[RuleTrials, ...]:
        """Return what a gate rule counts, and similar trials to estimate how repeats correlate.

        Args:
            rule: a rule of the project.
            excused: ids of cells that no rule counts, because their failure is accepted.
        """
        query, values = _rule_query(rule, self.lead)
        rows = self._rows(query, {**values, "excused": sorted(excused)})
        return tuple(RuleTrials(entry, wanted, Cluster(*rest)) for entry, wanted, *rest in rows)

    def conformance(self, kind: Literal["turns", "conversation"]) -> tuple[Rate, ...]:
        """Return how many cells of `kind` that each client supports conform, by name."""
        rows = self._ask("conformance", axis="normalizer", kind=kind)
        return tuple(_rate(row) for _, *row in rows)

    def conversation_success(self) -> tuple[ConversationRate, ...]:
        """Return how many recorded conversations of each model, prompt and agent succeeded."""
        return tuple(map(_conversation_rate, self._ask("conversation_success")))

    def conformance_by_text_dialect(self) -> dict[str, tuple[Rate, ...]]:
        """Return text dialect -> how many cells of its scenarios conform, for each normalizer."""
        found: dict[str, tuple[Rate, ...]] = {}
        for text_dialect, *row in self._ask("conformance", axis="text dialect", kind="turns"):
            found[text_dialect] = (*found.get(text_dialect, ()), _rate(row))
        return found

    def _ask(self, name: str, **values: str) -> list[tuple[Any, ...]]:
        key = (name, tuple(values.items()))
        if key not in self._answers:
            self._answers[key] = self._rows(_query_text(name), values)
        return self._answers[key]

    def _rows(
        self, query: str, values: Mapping[str, object] | Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(query, values).fetchall()
        except RuntimeError as error:
            if "interrupted" in str(error):  # DuckDB has taken a KeyboardInterrupt for itself
                raise KeyboardInterrupt from error
            raise

    def _insert(self, table: str, rows: Iterable[Mapping[str, object]]) -> None:
        kept = list(rows)
        if not kept:
            return
        columns = self._rows(f"DESCRIBE {table}")
        # One list a column, unnested in the database: a hundred times faster than row by row.
        lists = ", ".join(f"unnest(?::{kind}[])" for _, kind, *_ in columns)
        values = [[_stored(row[name]) for row in kept] for name, *_ in columns]
        self._rows(f"INSERT INTO {table} SELECT {lists}", values)


@contextmanager
def questions_on(run: Run, loaded: Questions | None = None) -> Iterator[Questions]:
    """Yield `loaded` if the caller has it; else load `run`, and close the database at the end."""
    if loaded is not None:
        yield loaded
    else:
        with Questions(run) as questions:
            yield questions


def _stored(value: object) -> object:
    """Return `value` as a type that the database can store; most values are plain text."""
    if type(value) is str:
        return value if value.isascii() else encodable(value)
    return encodable(msgspec.to_builtins(value))


def _rate(row: Sequence[Any]) -> Rate:
    name, k, n, best_k, unjudged, *split = row
    many = len(BlameSplit.__struct_fields__)
    blamed = BlameSplit(*split[:many]), BlameSplit(*split[many : 2 * many])
    return Rate(name, k, n, best_k, unjudged, *blamed, *split[2 * many :])


def _conversation_rate(row: Sequence[Any]) -> ConversationRate:
    *counted, _failed = ConversationRate.__struct_fields__
    said = dict(zip(counted, row, strict=False))  # the rest is the split
    return ConversationRate(**said, failed=BlameSplit(*row[len(counted) :]))


def _result_row(result: Result) -> dict[str, object]:
    area = area_of(result.scenario)
    derived = {
        "area": area,
        "cell_blame": result.blame,
        "inherited": bool(inherited_from(result.cause, result.normalizer)),
    }
    return {**msgspec.structs.asdict(result), **derived}


def _parts(
    run: Run, parts_of: Callable[[Result], Iterable[msgspec.Struct]], *derived: str
) -> Iterator[dict[str, object]]:
    """Yield a row for each turn or conversation of each result.

    Args:
        run: the run.
        parts_of: returns the turns or conversations of a result.
        derived: names of properties to add to the row.
    """
    for result in run.results:
        for part in parts_of(result):
            more = {name: getattr(part, name) for name in derived}
            yield {**msgspec.structs.asdict(part), "cell": result.cell, **more}


def _finding_rows(run: Run) -> Iterator[dict[str, object]]:
    """Yield a row for each reported finding of each result."""
    for result in run.results:
        for each, cause in result.causes:
            cell, level, outcome = result.cell, each.level, each.outcome
            yield {"cell": cell, "level": level, "outcome": outcome, "cause": cause}


def _complete_conversation(result: Result) -> tuple[ConversationFacts, ...]:
    facts = result.conversation
    return (facts,) if facts is not None and facts.whole else ()
