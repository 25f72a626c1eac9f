"""Compute the peers page: versions and dates, conformance by dialect and group, and cost.

Its tables are the same as in the matrix that `harness peers matrix` writes.
"""

from harness.reporting.charts.squares import Matrix, Square
from harness.reporting.report import Report
from harness.verdicts.matrix import PeerTables, RateTable, peer_tables


def peers_page(report: Report) -> PeerTables:
    """Return the tables of the peers that the header line of the run file lists."""
    return peer_tables(report.run, report.context.quirks)


def group_squares(table: RateTable) -> Matrix:
    """Return a table of peers and groups of scenarios: how many of the judged scenarios conform."""
    rows = (
        (row.name, tuple(Square(it.conforming, it.judged, it.worst) for it in row.groups))
        for row in table.rows
    )
    return Matrix(table.groups or (), tuple(rows))
