"""Make the tables of the matrix of third-party clients (peers) from their merged run.

Each cell is in exactly one dialect and in exactly one group, so that the counts of either add up.
The group is that of the first quirk in the catalogue, such as A for framing and transport.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

from harness.project import ClientKind
from harness.results.catalogue import GROUP_TITLES, Quirk
from harness.results.cause import inherited_from
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
    """Numbers of cells of one peer, by outcome.

    Fields:
        conforming: cells that conform.
        judged: cells that conform or fail.
        causes: the number of different causes of the failures, see `Result.causes`, without those
            that another client's library raises.
        unjudged: cells that were not judged because the bytes are ambiguous.
        unsupported: cells that were not judged because the peer does not support them.
        worst: the id of the failing cell with the worst outcome; "" if none fails.
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
        """The Wilson 95 % interval of the share of judged cells that conform."""
        return wilson(self.conforming, self.judged)


class Rates(msgspec.Struct, frozen=True):
    """The counts of a peer's cells: of scenarios, of recordings, and of both.

    Tables show the share of conforming scenarios as the rate of the peer.
    """

    scenarios: Tally
    recordings: Tally
    both: Tally


class PeerRow(msgspec.Struct, frozen=True):
    """A judged peer with the counts of all its cells.

    Fields:
        unsupported: cells in dialects that the peer declares, but which it does not support.
    """

    facts: PeerFacts
    kind: ClientKind
    rates: Rates
    unsupported: int


class RateRow(msgspec.Struct, frozen=True):
    """The row of a peer in a table: its counts, and the counts of scenarios in each group."""

    name: str
    rates: Rates
    groups: tuple[Tally, ...]


class RateTable(msgspec.Struct, frozen=True):
    """The table of the peers in one dialect or group, or of all agents.

    The first row has the highest lower bound of the interval.

    Fields:
        dialect: the dialect of the table; "" for other tables.
        groups: the titles of the groups that have a judged scenario; None in a table of one group.
    """

    id: str
    title: str
    rows: tuple[RateRow, ...]
    dialect: str = ""
    groups: tuple[str, ...] | None = None


class PeerFailure(msgspec.Struct, frozen=True):
    """One of the worst causes of failure of a peer, with an example.

    Fields:
        rank: the position among the causes of the peer; 1 is the worst.
        example: the result with the worst outcome, preferably of a scenario with a short body.
        command: the shell command that shows the example in the environment of the peer.
    """

    name: str
    rank: int
    cause: FailureCause
    example: Result
    command: str

    @property
    def title(self) -> str:
        """The cause as text, or the outcome if the cells failed without a finding."""
        return self.cause.text


class PeerTables(msgspec.Struct, frozen=True):
    """All tables of the matrix; all fields are empty if the run has no peers.

    Fields:
        total: the number of peers, judged or not.
        seconds: the duration of all runs, without the measurement of cost.
        costs: the peers whose cost is known, by dialect, the fastest first.
        agents: at most one table, of agents, which are judged on conversations.
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
        run: the merged run of all peers.
        catalogue: quirks by id.
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
    """Return a sort key: by dialect, the fastest first, and peers without a time at the end."""
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
    """Return `table` with a row for each peer that supports any of `cells`; () if no peer does.

    Args:
        table: the table without rows.
        cells: name of the peer -> its cells.
        catalogue: quirks by id, to add counts of groups; None for a table without them.
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
    """Return the counts of the cells of scenarios in each group."""
    parts = by_group(scenario_cells(cells), catalogue)
    return {group: tally(parts.get(group, ())) for group in GROUPS}


def tally(results: Iterable[Result]) -> Tally:
    """Count the cells of one peer by outcome."""
    found = tuple(results)
    outcomes = [result.outcome for result in found]
    failing = [result for result in found if result.outcome.fails]
    worst = min(((each.outcome.badness, each.cell) for each in failing), default=(0, ""))
    return Tally(
        conforming=sum(outcome.conforms for outcome in outcomes),
        judged=sum(outcome.judged for outcome in outcomes),
        causes=len(
            {it.cause for it in failing if not inherited_from(it.cause, it.normalizer)},
        ),
        unjudged=outcomes.count(Outcome.UNJUDGED),
        unsupported=outcomes.count(Outcome.UNSUPPORTED),
        worst=worst[1],
    )


def rates(results: Iterable[Result]) -> Rates:
    """Count the cells of one peer, separately for scenarios and recordings, and together."""
    found = tuple(results)
    recordings = tally(cell for cell in found if is_recording(cell))
    return Rates(tally(scenario_cells(found)), recordings, tally(found))


def by_dialect(results: Iterable[Result]) -> dict[str, _Cells]:
    """Return dialect -> its cells."""
    return _parts((result.dialect, result) for result in results)


def by_group(results: Iterable[Result], catalogue: Mapping[str, Quirk]) -> dict[str, _Cells]:
    """Return group -> its cells; the group of a cell is that of its first quirk, or "" for none."""
    return _parts((_group(result, catalogue), result) for result in results)


def scenario_cells(results: Iterable[Result]) -> _Cells:
    """Return the cells whose subject is a scenario."""
    return tuple(cell for cell in results if not is_recording(cell))


def is_recording(result: Result) -> bool:
    """Return whether the subject of a cell is a cassette without a scenario."""
    return result.scenario.startswith(CASSETTE_PREFIX)


def worst_failures(results: Iterable[Result], most: int) -> Iterator[PeerFailure]:
    """Yield the worst causes of failure of a peer: the worst outcome first, then the most cells.

    Args:
        results: the results of the peer.
        most: the number of causes to yield at most.
    """
    cells = {result.cell: result for result in results}
    for rank, cause in enumerate(failing_causes(cells.values())[:most], start=1):
        example = min((cells[cell] for cell in cause.all_cells), key=_example_order)
        yield PeerFailure(cause.normalizer, rank, cause, example, repro_command(example))


def repro_command(failing: Result) -> str:
    """Return the shell command that shows a failing cell of a peer in the peer's environment.

    The command is `harness repro` for a normalizer and `harness replay` for an agent.
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
    """Return a sort key: the worst outcome first, then scenarios, then short bodies."""
    size = result.source.size if result.source is not None else 0
    return result.outcome.badness, is_recording(result), size, result.cell
