"""Flips: which cells changed between runs, and which of them are flaky."""

import pytest

from harness.results.outcome import Outcome
from harness.verdicts.flips import flipped_cells
from tests.runs.runs_samples import a_result, a_run

_OUTCOMES = {"p": Outcome.PASS, "f": Outcome.CRASH, "?": Outcome.UNJUDGED, "e": Outcome.PARSE_ERROR}


def _runs(letters: str, commits: str) -> list[tuple[object, str]]:
    return [
        (a_run([a_result("a", outcome=_OUTCOMES[it])] if it != "-" else []), commit.strip("."))
        for it, commit in zip(letters, commits, strict=True)
    ]


@pytest.mark.parametrize(
    ("letters", "commits", "flips", "flaky"),
    [
        ("pf", "12", 1, False),
        ("pf", "11", 1, True),
        ("pf", "..", 1, False),
        ("pfp", "123", 2, True),
        ("p?f", "112", 1, False),
        ("p-f", "111", 1, True),
        ("ppff", "1122", 1, False),
    ],
)
def test_cell_is_flaky_if_it_flips_back_or_within_a_commit(
    letters: str, commits: str, flips: int, *, flaky: bool
) -> None:
    (found,) = flipped_cells(_runs(letters, commits))  # type: ignore[arg-type]  # runs and commits
    assert (found.cell, found.flips, found.is_flaky) == ("a/reference", flips, flaky)
    assert found.outcomes == tuple(_OUTCOMES.get(letter) for letter in letters)


@pytest.mark.parametrize(
    ("letters", "commits"), [("p", "1"), ("pe", "11"), ("p?", "11"), ("fp-", "123")]
)
def test_cell_that_did_not_flip_or_is_gone_is_left_out(letters: str, commits: str) -> None:
    assert flipped_cells(_runs(letters, commits)) == ()  # type: ignore[arg-type]  # as above
