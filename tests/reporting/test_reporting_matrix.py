"""The matrices use the denominators of the rankings."""

from collections import Counter

import msgspec

from harness.reporting.charts.squares import Square
from harness.reporting.pages.matrix import (
    MOST_COLUMNS,
    MOST_ROWS,
    client_matrix,
    dialect_matrix,
    measured,
    model_matrix,
    quirk_matrix,
)
from harness.runs.questions import Questions
from harness.runs.rankings import rankings
from harness.runs.run import Run


def test_the_squares_of_a_model_add_up_to_its_rank(sample: Run) -> None:
    found = model_matrix(sample)
    sums = {row: (sum(s.k for s in each), sum(s.n for s in each)) for row, each in found.rows}
    assert sums == {each.name: (each.k, each.n) for each in rankings(sample).models}


def test_a_turn_that_several_scenarios_and_normalizers_read_counts_once(sample: Run) -> None:
    again = tuple(
        msgspec.structs.replace(each, cell=f"{each.cell}/again", scenario="labelled/again")
        for each in sample.results
    )
    other = tuple(
        msgspec.structs.replace(each, cell=f"{each.cell}/other", normalizer="other")
        for each in sample.results
    )
    more = msgspec.structs.replace(sample, results=(*sample.results, *again, *other))
    assert model_matrix(more) == model_matrix(sample)


def test_of_many_models_and_prompts_those_with_most_turns_are_shown(sample: Run) -> None:
    first = next(each for each in sample.results if each.origin != "emulated")
    rare = tuple(
        msgspec.structs.replace(first, cassette=f"c{n}", model=f"model {n:03}", prompt=f"p {n:03}")
        for n in range(60)
    )
    often = msgspec.structs.replace(rare[-1], cassette="again")
    found = model_matrix(msgspec.structs.replace(sample, results=(*rare, often)))
    assert len(found.rows) <= MOST_ROWS
    assert len(found.columns) == MOST_COLUMNS
    assert (len(found.rows) + found.more_rows, found.more_columns) == (60, 60 - MOST_COLUMNS)
    assert {"model 000", "model 059"} <= {row for row, _ in found.rows}


def test_a_failing_square_leads_to_a_failing_case(sample: Run) -> None:
    with Questions(sample) as questions:
        found = quirk_matrix(questions.losses_by_quirk(), sample.results)
    verdicts = Counter(square.verdict for _, squares in found.rows for square in squares)
    assert verdicts == {"all": 14, "none": 7}
    worst = {square.worst for _, squares in found.rows for square in squares if square.worst}
    assert worst == set(sample.cases)


def test_a_square_says_what_it_means_without_colour() -> None:
    assert [Square(k, n).verdict for k, n in ((2, 2), (1, 2), (0, 2), (0, 0))] == [
        "all",
        "some",
        "none",
        "absent",
    ]
    assert len({Square(k, n).symbol for k, n in ((2, 2), (1, 2), (0, 2), (0, 0))}) == 4


def test_levels_are_fifths_of_the_rate() -> None:
    assert [Square(k, 10).level for k in range(11)] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4]


def test_each_normalizer_is_asked_about_its_own_reading(sample: Run) -> None:
    names = dict(client_matrix(sample).rows)
    assert set(names) == {row for row, _ in model_matrix(sample).rows}
    assert not list(measured(sample, "naive"))


def test_dialects_count_the_cells_that_are_supported(sample: Run) -> None:
    (row,) = dialect_matrix(sample.results).rows
    conform = {name: (s.k, s.n) for name, s in zip(("d", "n", "r"), row[1], strict=True)}
    assert conform == {"d": (5, 5), "n": (0, 5), "r": (74, 74)}
