"""The peers page: versions and dates of a merged run, conformance by dialect and group, cost.

The numbers, their order and the commands are those of the matrix that `harness peers matrix`
writes: both come from `harness.runs.matrix`.
"""

from collections.abc import Container, Iterator, Mapping

import msgspec

from harness.cost.table import cost_cells, cost_order
from harness.dialects.table import DIALECTS
from harness.judging.results import Result
from harness.project import ClientKind
from harness.reporting.charts.squares import Matrix, Square
from harness.reporting.report import Report, replays_link
from harness.reporting.words import worst_first
from harness.runs.matrix import (
    GROUPS,
    WORST,
    Parts,
    Rates,
    WorstFailure,
    by_dialect,
    by_group,
    judged_groups,
    ranked,
    rates,
    repro_command,
    tally,
    unsupported,
    worst_failures,
)
from harness.runs.peer_facts import PeerFacts, PeerSettings, dates_of, settings_of


class PeerRow(msgspec.Struct, frozen=True):
    """A judged peer with the counts of all its cells."""

    facts: PeerFacts
    kind: ClientKind
    rates: Rates
    unsupported: int


class RateRow(msgspec.Struct, frozen=True):
    """The counts of a peer in one dialect or group; `link` leads to the cells, "" for nowhere."""

    name: str
    rates: Rates
    link: str = ""


class RateTable(msgspec.Struct, frozen=True):
    """The peers in one dialect or group, the best lower bound first.

    Fields:
        groups: scenarios of a dialect by peer and group of quirks; None for a group.
    """

    id: str
    title: str
    rows: tuple[RateRow, ...]
    groups: Matrix | None = None


class CostRow(msgspec.Struct, frozen=True):
    """The cells of `harness.cost.table.COST_HEAD`, and why something was not measured or ""."""

    name: str
    cells: tuple[str, ...]
    not_measured: str


class PeerFailure(msgspec.Struct, frozen=True):
    """One of the worst failures of a peer; `rank` is 1 for the worst."""

    name: str
    rank: int
    failure: WorstFailure
    command: str


class PeersView(msgspec.Struct, frozen=True):
    """What the page shows of the peers in the header; nothing if there are none.

    Fields:
        total: peers with results, judged or not.
        failing: names of the peers in `failures`.
        seconds: of all runs, without cost.
    """

    total: int = 0
    rows: tuple[PeerRow, ...] = ()
    not_judged: tuple[PeerFacts, ...] = ()
    settings: tuple[PeerSettings, ...] = ()
    dates: str = ""
    seconds: float = 0.0
    costs: tuple[CostRow, ...] = ()
    dialects: tuple[RateTable, ...] = ()
    groups: tuple[RateTable, ...] = ()
    failures: tuple[PeerFailure, ...] = ()
    failing: frozenset[str] = frozenset()


def peers_page(report: Report) -> PeersView:
    """Return the numbers of the peers in the header of the run."""
    facts = report.run.header.peers
    if not facts:
        return PeersView()
    judged = tuple(each for each in facts if not each.not_judged)
    cells = _cells(report, judged)
    agents = {each.name for each in report.run.header.agents}
    turns = {name: own for name, own in cells.items() if name not in agents}
    conversations = {name: own for name, own in cells.items() if name in agents}
    failures = tuple(each for peer in judged for each in _failures(cells[peer.name], turns))
    return PeersView(
        total=len(facts),
        rows=tuple(_row(report, peer, cells[peer.name]) for peer in judged),
        not_judged=tuple(each for each in facts if each.not_judged),
        settings=settings_of(facts),
        dates=dates_of(facts),
        seconds=sum(each.seconds for each in facts),
        costs=tuple(_cost_rows(report, judged)),
        dialects=(*_dialect_tables(report, turns), *_agent_tables(report, conversations)),
        groups=tuple(_group_tables(report, turns)),
        failures=failures,
        failing=frozenset(each.name for each in failures),
    )


def _cells(report: Report, peers: tuple[PeerFacts, ...]) -> dict[str, tuple[Result, ...]]:
    found: dict[str, list[Result]] = {each.name: [] for each in peers}
    for result in report.run.results:
        if result.normalizer in found:
            found[result.normalizer].append(result)
    return {name: tuple(results) for name, results in found.items()}


def _row(report: Report, peer: PeerFacts, cells: tuple[Result, ...]) -> PeerRow:
    header = report.run.header
    own = {each.name: each.dialects for each in header.normalizers}
    own |= {each.name: each.dialects for each in header.agents}
    dialects = set(own.get(peer.name, ()))
    return PeerRow(peer, header.kind_of(peer.name), rates(cells), unsupported(cells, dialects))


def _cost_rows(report: Report, peers: tuple[PeerFacts, ...]) -> Iterator[CostRow]:
    found = [(each.name, each.cost) for each in peers if each.cost is not None]
    for name, cost in sorted(found, key=lambda each: cost_order(*each)):
        cells = cost_cells(cost, report.run.header.kind_of(name))
        yield CostRow(name, cells, cost.not_measured)


def _dialect_tables(report: Report, cells: Mapping[str, tuple[Result, ...]]) -> Iterator[RateTable]:
    parts = {name: by_dialect(results) for name, results in cells.items()}
    for dialect, row in DIALECTS.items():
        found = ranked(parts, dialect)
        if found:
            rows = tuple(
                RateRow(name, rates(own), replays_link(dialect=dialect, normalizer=name))
                for name, own in found.items()
            )
            groups = _squares(judged_groups(found, report.context.quirks))
            yield RateTable(f"dialect-{dialect}", f"{row.title} ({dialect})", rows, groups)


def _agent_tables(report: Report, cells: Mapping[str, tuple[Result, ...]]) -> Iterator[RateTable]:
    """Yield the table of agents, which are judged on other cells than normalizers."""
    found = ranked({name: {"": results} for name, results in cells.items()}, "")
    if found:
        rows = tuple(
            RateRow(name, rates(own), replays_link(normalizer=name)) for name, own in found.items()
        )
        groups = _squares(judged_groups(found, report.context.quirks))
        yield RateTable("agents", "Agents over conversations", rows, groups)


def _group_tables(report: Report, cells: Mapping[str, tuple[Result, ...]]) -> Iterator[RateTable]:
    quirks = report.context.quirks
    parts: Parts = {name: by_group(results, quirks) for name, results in cells.items()}
    for group, title in GROUPS.items():
        found = ranked(parts, group)
        if found:
            rows = tuple(RateRow(name, rates(own)) for name, own in found.items())
            yield RateTable(f"group-{group or 'none'}", title, rows)


def _squares(parts: Parts) -> Matrix:
    """Return peers by groups: scenarios that conform, of those that were judged."""
    columns = tuple(GROUPS[group] for group in next(iter(parts.values())))
    return Matrix(
        columns,
        tuple((name, tuple(map(_square, row.values()))) for name, row in parts.items()),
    )


def _square(cells: tuple[Result, ...]) -> Square:
    found = tally(cells)
    worst = min((each for each in cells if each.outcome.fails), key=worst_first, default=None)
    return Square(found.conforming, found.judged, worst.cell if worst else "")


def _failures(cells: tuple[Result, ...], turns: Container[str]) -> Iterator[PeerFailure]:
    """Yield the failures of one peer; each of those in `turns` has scripts of `harness repro`."""
    for rank, failure in enumerate(worst_failures(cells, WORST), start=1):
        example = failure.example
        yield PeerFailure(
            name=example.normalizer,
            rank=rank,
            failure=failure,
            command=repro_command(example, turns),
        )
