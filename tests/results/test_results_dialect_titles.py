"""Reports title the dialects without importing them."""

from harness.dialects.table import DIALECTS
from harness.results.dialect_titles import DIALECT_TITLES


def test_each_dialect_has_a_title_of_its_own_in_the_order_of_the_table() -> None:
    assert list(DIALECT_TITLES) == list(DIALECTS)
    assert len(set(DIALECT_TITLES.values())) == len(DIALECTS)
