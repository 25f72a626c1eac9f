"""The peers page: versions and dates of a merged run, conformance by dialect and group, cost.

Its tables are those of the matrix that `harness peers matrix` writes.
"""

from harness.reporting.charts.squares import Matrix, Square
from harness.reporting.report import Report
from harness.verdicts.matrix import PeerTables, RateTable, peer_tables


def peers_page(report: Report) -> PeerTables:
    """Return the tables of the peers in the header of the run."""
    return peer_tables(report.run, report.context.quirks)


def group_squares(table: RateTable) -> Matrix:
    """Return peers by groups: scenarios that conform, of those that were judged."""
    rows = (
        (row.name, tuple(Square(it.conforming, it.judged, it.worst) for it in row.groups))
        for row in table.rows
    )
    return Matrix(table.groups or (), tuple(rows))
