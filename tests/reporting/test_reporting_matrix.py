"""The matrices use the denominators of the rankings."""

from collections import Counter

import msgspec

from harness.reporting.cell_index import cell_index
from harness.reporting.charts.squares import Matrix, Square
from harness.reporting.pages.normalizers import dialect_matrix
from harness.reporting.pages.quirks import quirk_matrix
from harness.reporting.pages.rankings import (
    MAX_COLUMNS,
    MAX_ROWS,
    client_matrix,
    model_matrix,
)
from harness.reporting.report import open_report
from harness.results.run import Run
from harness.verdicts.rankings import rankings


def _models_of(run: Run) -> Matrix:
    with open_report(run) as report:
        return model_matrix(report)


def test_model_matrix_squares_sum_to_the_ranking(sample: Run) -> None:
    found = _models_of(sample)
    sums = {row: (sum(s.k for s in each), sum(s.n for s in each)) for row, each in found.rows}
    assert sums == {each.name: (each.k, each.n) for each in rankings(sample).models}


def test_model_matrix_counts_a_turn_once_for_several_scenarios_and_normalizers(sample: Run) -> None:
    again = tuple(
        msgspec.structs.replace(each, cell=f"{each.cell}/again", scenario="labelled/again")
        for each in sample.results
    )
    other = tuple(
        msgspec.structs.replace(each, cell=f"{each.cell}/other", normalizer="other")
        for each in sample.results
    )
    more = msgspec.structs.replace(sample, results=(*sample.results, *again, *other))
    assert _models_of(more) == _models_of(sample)


def test_model_matrix_shows_the_names_with_most_turns(sample: Run) -> None:
    first = next(each for each in sample.results if each.origin != "emulated")
    rare = tuple(
        msgspec.structs.replace(first, cassette=f"c{n}", model=f"model {n:03}", prompt=f"p {n:03}")
        for n in range(60)
    )
    often = msgspec.structs.replace(rare[-1], cassette="again")
    found = _models_of(msgspec.structs.replace(sample, results=(*rare, often)))
    assert len(found.rows) <= MAX_ROWS
    assert len(found.columns) == MAX_COLUMNS
    assert (len(found.rows) + found.more_rows, found.more_columns) == (60, 60 - MAX_COLUMNS)
    assert {"model 000", "model 059"} <= {row for row, _ in found.rows}


def test_matrix_begins_with_what_has_data(sample: Run) -> None:
    first = next(each for each in sample.results if each.origin != "emulated")
    pairs = (("a", "z"), ("b", "y"), ("b", "y"), ("b", "x"), ("c", "z"))
    turns = tuple(
        msgspec.structs.replace(first, cassette=f"c{n}", model=model, prompt=prompt)
        for n, (model, prompt) in enumerate(pairs)
    )
    found = _models_of(msgspec.structs.replace(sample, results=turns))
    assert [row for row, _ in found.rows] == ["b", "a", "c"]
    assert found.columns == ("y", "x", "z")
    assert found.rows[0][1][0].n == 2


def test_quirk_matrix_links_each_square_to_its_judged_cells(sample: Run) -> None:
    with open_report(sample) as report:
        found, index = quirk_matrix(report), cell_index(report)
    verdicts = Counter(square.verdict for _, squares in found.rows for square in squares)
    assert verdicts == {"all": 14, "none": 7}
    squares = [square for _, row in found.rows for square in row]
    assert [index.count(each.filters) for each in squares] == [each.n for each in squares]


def test_square_verdicts_have_different_symbols() -> None:
    assert [Square(k, n).verdict for k, n in ((2, 2), (1, 2), (0, 2), (0, 0))] == [
        "all",
        "some",
        "none",
        "absent",
    ]
    assert len({Square(k, n).symbol for k, n in ((2, 2), (1, 2), (0, 2), (0, 0))}) == 4


def test_square_level_is_a_fifth_of_the_rate() -> None:
    assert [Square(k, 10).level for k in range(11)] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4]


def test_client_matrix_has_a_column_for_each_normalizer_that_read_measured_turns(
    sample: Run,
) -> None:
    measured = tuple(each for each in sample.results if each.origin != "emulated")
    other = tuple(
        msgspec.structs.replace(each, cell=f"{each.cell}/naive", normalizer="naive")
        for each in measured
        if each.model == measured[0].model
    )
    with open_report(msgspec.structs.replace(sample, results=(*sample.results, *other))) as report:
        found = client_matrix(report)
    rows = {row: dict(zip(found.columns, squares, strict=True)) for row, squares in found.rows}
    assert set(rows) == {row for row, _ in _models_of(sample).rows}
    assert {row for row, squares in rows.items() if squares["naive"].n} == {measured[0].model}


def test_dialect_matrix_counts_supported_cells(sample: Run) -> None:
    (row,) = dialect_matrix(sample.results).rows
    conform = {name: (s.k, s.n) for name, s in zip(("d", "n", "r"), row[1], strict=True)}
    assert conform == {"d": (5, 5), "n": (0, 5), "r": (74, 74)}
