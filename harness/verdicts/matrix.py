"""A merged run of peers -> the tables of the matrix, which the report shows too.

Each cell is in exactly one dialect and one group, so that the counts of either add up.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

from harness.project import ClientKind
from harness.results.catalogue import GROUP_TITLES, Quirk
from harness.results.cost import Cost
from harness.results.dialect_titles import DIALECT_TITLES
from harness.results.outcome import Outcome
from harness.results.peer_facts import PeerFacts, PeerSettings, dates_of, settings_of
from harness.results.result import CASSETTE_PREFIX, Result
from harness.results.run import Header, Run
from harness.verdicts.causes import FailureCause, failing_causes
from harness.verdicts.statistics import Interval, wilson

# How many causes of failure of each peer are shown.
WORST: Final = 3
_NO_QUIRK: Final = ""
# Group -> title, in the order of the matrix.
GROUPS: Final[dict[str, str]] = {
    **{group: f"{group}: {title}" for group, title in GROUP_TITLES.items()},
    _NO_QUIRK: "Without a quirk",
}
_Cells: TypeAlias = tuple[Result, ...]


class Tally(msgspec.Struct, frozen=True):
    """Numbers of cells.

    Fields:
        causes: different causes of the failures, see `Result.causes`.
        unjudged: because the bytes are ambiguous; they are not among the judged.
        unsupported: because the peer does not declare support; they are not among the judged.
        worst: the cell with the worst outcome; "" if none fails.
    """

    conforming: int
    judged: int
    causes: int
    unjudged: int
    unsupported: int
    worst: str = ""

    @property
    def cells(self) -> int:
        """The number of all cells."""
        return self.judged + self.unjudged + self.unsupported

    @property
    def interval(self) -> Interval:
        """The Wilson 95 % interval of conforming / judged."""
        return wilson(self.conforming, self.judged)


class Rates(msgspec.Struct, frozen=True):
    """The cells of scenarios, those of recordings, and both; the rate is that of the scenarios."""

    scenarios: Tally
    recordings: Tally
    both: Tally


class PeerRow(msgspec.Struct, frozen=True):
    """A judged peer with the counts of all its cells."""

    facts: PeerFacts
    kind: ClientKind
    rates: Rates
    unsupported: int


class RateRow(msgspec.Struct, frozen=True):
    """The counts of a peer in one table, and those of its scenarios in each group of the table."""

    name: str
    rates: Rates
    groups: tuple[Tally, ...]


class RateTable(msgspec.Struct, frozen=True):
    """The peers in one dialect or group, or all agents; the best lower bound comes first.

    Fields:
        dialect: of a table of one dialect, else "".
        groups: the titles of the groups that have a judged scenario; None if the table is of one.
    """

    id: str
    title: str
    rows: tuple[RateRow, ...]
    dialect: str = ""
    groups: tuple[str, ...] | None = None


class PeerFailure(msgspec.Struct, frozen=True):
    """One of the worst failures of a peer.

    Fields:
        rank: 1 for the worst.
        example: the smallest of its cells.
        command: shows the example in the environment of the peer.
    """

    name: str
    rank: int
    cause: FailureCause
    example: Result
    command: str

    @property
    def title(self) -> str:
        """The cause; the outcome of cells that failed without a finding."""
        return self.cause.cause or self.cause.outcome.value


class PeerTables(msgspec.Struct, frozen=True):
    """The tables of all peers; nothing if there are none.

    Fields:
        total: peers with results, judged or not.
        seconds: of all runs, without cost.
        costs: the peers whose cost is known, by dialect, the fastest first.
        agents: the table of agents, which are judged on other cells than normalizers, if any.
    """

    total: int = 0
    rows: tuple[PeerRow, ...] = ()
    not_judged: tuple[PeerFacts, ...] = ()
    settings: tuple[PeerSettings, ...] = ()
    dates: str = ""
    seconds: float = 0.0
    costs: tuple[tuple[str, Cost], ...] = ()
    dialects: tuple[RateTable, ...] = ()
    agents: tuple[RateTable, ...] = ()
    groups: tuple[RateTable, ...] = ()
    failures: tuple[PeerFailure, ...] = ()


def peer_tables(run: Run, catalogue: Mapping[str, Quirk]) -> PeerTables:
    """Return the tables of the peers in the header of `run`.

    Args:
        run: the runs of all peers as one.
        catalogue: of quirks, by id.
    """
    facts = run.header.peers
    if not facts:
        return PeerTables()
    judged = tuple(each for each in facts if not each.not_judged)
    cells = _cells_of_peers(run, judged)
    agents = set(run.header.names_of_agents)
    turns = {name: own for name, own in cells.items() if name not in agents}
    conversations = {name: own for name, own in cells.items() if name in agents}
    costs = ((each.name, each.cost) for each in judged if each.cost is not None)
    return PeerTables(
        total=len(facts),
        rows=tuple(_peer_row(run.header, each, cells[each.name]) for each in judged),
        not_judged=tuple(each for each in facts if each.not_judged),
        settings=settings_of(facts),
        dates=dates_of(facts),
        seconds=sum(each.seconds for each in facts),
        costs=tuple(sorted(costs, key=_cost_order)),
        dialects=tuple(_dialect_tables(turns, catalogue)),
        agents=_table(
            RateTable("agents", "Agents over conversations", ()), conversations, catalogue
        ),
        groups=tuple(_group_tables(turns, catalogue)),
        failures=tuple(each for own in cells.values() for each in worst_failures(own, WORST)),
    )


def _cells_of_peers(run: Run, peers: Iterable[PeerFacts]) -> dict[str, _Cells]:
    found = _parts((result.normalizer, result) for result in run.results)
    return {each.name: found.get(each.name, ()) for each in peers}


def _peer_row(header: Header, peer: PeerFacts, cells: _Cells) -> PeerRow:
    own = {each.name: each.dialects for each in header.normalizers}
    own |= {each.name: each.dialects for each in header.agents}
    dialects = own.get(peer.name, ())
    declared = tally(cell for cell in cells if cell.dialect in dialects)
    return PeerRow(peer, header.kind_of(peer.name), rates(cells), declared.unsupported)


def _cost_order(named: tuple[str, Cost]) -> tuple[bool, str, float, str]:
    """Sort by dialect, the fastest first; those without a time are last."""
    name, cost = named
    return cost.time is None, cost.dialect, cost.time or 0.0, name


def _dialect_tables(
    cells: Mapping[str, _Cells], catalogue: Mapping[str, Quirk]
) -> Iterator[RateTable]:
    parts = {name: by_dialect(own) for name, own in cells.items()}
    for dialect, title in DIALECT_TITLES.items():
        table = RateTable(f"dialect-{dialect}", f"{title} ({dialect})", (), dialect)
        found = {name: own.get(dialect, ()) for name, own in parts.items()}
        yield from _table(table, found, catalogue)


def _group_tables(
    cells: Mapping[str, _Cells], catalogue: Mapping[str, Quirk]
) -> Iterator[RateTable]:
    parts = {name: by_group(own, catalogue) for name, own in cells.items()}
    for group, title in GROUPS.items():
        table = RateTable(f"group-{group or 'none'}", title, ())
        yield from _table(table, {name: own.get(group, ()) for name, own in parts.items()}, None)


def _table(
    table: RateTable, cells: Mapping[str, _Cells], catalogue: Mapping[str, Quirk] | None
) -> tuple[RateTable, ...]:
    """Return `table` with a row for each peer that supports any of `cells`; () if none does.

    Args:
        table: without rows.
        cells: by peer.
        catalogue: of the quirks by which scenarios have groups; None for no groups.
    """
    found = {
        name: tuple(cell for cell in own if cell.outcome is not Outcome.UNSUPPORTED)
        for name, own in cells.items()
    }
    names = [name for name, own in found.items() if own]
    if not names:
        return ()
    groups = {} if catalogue is None else {name: _tallies(found[name], catalogue) for name in names}
    used = [it for it in GROUPS if any(own[it].judged for own in groups.values())]
    rows = (
        RateRow(name, rates(found[name]), tuple(groups[name][it] for it in used)) for name in names
    )
    ranked = sorted(rows, key=lambda row: (-row.rates.scenarios.interval.low, row.name))
    titles = None if catalogue is None else tuple(GROUPS[it] for it in used)
    return (msgspec.structs.replace(table, rows=tuple(ranked), groups=titles),)


def _tallies(cells: _Cells, catalogue: Mapping[str, Quirk]) -> dict[str, Tally]:
    """Count the scenarios of each group."""
    parts = by_group(scenario_cells(cells), catalogue)
    return {group: tally(parts.get(group, ())) for group in GROUPS}


def tally(results: Iterable[Result]) -> Tally:
    """Count the cells of `results`, which are of one peer."""
    found = tuple(results)
    outcomes = [result.outcome for result in found]
    failing = [result for result in found if result.outcome.fails]
    worst = min(((each.outcome.badness, each.cell) for each in failing), default=(0, ""))
    return Tally(
        conforming=sum(outcome.conforms for outcome in outcomes),
        judged=sum(outcome.judged for outcome in outcomes),
        causes=len({each.cause for each in failing}),
        unjudged=outcomes.count(Outcome.UNJUDGED),
        unsupported=outcomes.count(Outcome.UNSUPPORTED),
        worst=worst[1],
    )


def rates(results: Iterable[Result]) -> Rates:
    """Count the cells of `results` by what they are of."""
    found = tuple(results)
    recordings = tally(cell for cell in found if is_recording(cell))
    return Rates(tally(scenario_cells(found)), recordings, tally(found))


def by_dialect(results: Iterable[Result]) -> dict[str, _Cells]:
    """Return the cells of each dialect, by name."""
    return _parts((result.dialect, result) for result in results)


def by_group(results: Iterable[Result], catalogue: Mapping[str, Quirk]) -> dict[str, _Cells]:
    """Return the cells of each group, by the keys of `GROUPS`: the group of the first quirk."""
    return _parts((_group(result, catalogue), result) for result in results)


def scenario_cells(results: Iterable[Result]) -> _Cells:
    """Return the cells of scenarios."""
    return tuple(cell for cell in results if not is_recording(cell))


def is_recording(result: Result) -> bool:
    """Whether the cell is of a recording without a scenario, which the oracle judges."""
    return result.scenario.startswith(CASSETTE_PREFIX)


def worst_failures(results: Iterable[Result], most: int) -> Iterator[PeerFailure]:
    """Yield at most `most` causes of failure of a peer: the worst outcome, then the most cells."""
    cells = {result.cell: result for result in results}
    for rank, cause in enumerate(failing_causes(cells.values())[:most], start=1):
        example = min((cells[cell] for cell in cause.all_cells), key=_example_order)
        yield PeerFailure(cause.normalizer, rank, cause, example, repro_command(example))


def repro_command(failing: Result) -> str:
    """Return the command that shows a failing cell of a peer in its environment.

    Each peer that is judged on turns has scripts of `harness repro`; an agent has none.
    """
    command = "repro" if failing.kind == "turns" else "replay"
    words = ("harness", "peers", "exec", failing.normalizer, command, failing.cell)
    return shlex.join(words)


def _parts(keyed: Iterable[tuple[str, Result]]) -> dict[str, _Cells]:
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for key, result in keyed:
        found[key].append(result)
    return {key: tuple(results) for key, results in sorted(found.items())}


def _group(result: Result, catalogue: Mapping[str, Quirk]) -> str:
    known = (catalogue[quirk].group for quirk in result.quirks if quirk in catalogue)
    return next(known, _NO_QUIRK)


def _example_order(result: Result) -> tuple[int, bool, int, str]:
    """Prefer the worst outcome, then a scenario to a recording, then a short body."""
    size = result.source.size if result.source is not None else 0
    return result.outcome.badness, is_recording(result), size, result.cell
