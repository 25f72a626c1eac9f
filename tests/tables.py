"""Tables of examples: all rows of a table are one test, and each row that fails is a subtest."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from reprlib import repr as shortened
from typing import Any, TypeAlias

import pytest

Test: TypeAlias = Callable[..., None]
_TABLE = "harness_table"  # of a function: the test of one row, and the rows


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Return a decorator that calls a test with each row, as `pytest.mark.parametrize` does.

    pytest collects, sets up and reports one test for the whole table. With a test for each row,
    this takes longer than the rows. Several tables give all combinations of their rows. The test
    has no fixtures, because its rows would share them.
    """
    keys = [names] if isinstance(names, str) else list(names)
    table = [dict(zip(keys, row if len(keys) > 1 else (row,), strict=True)) for row in rows]
    if not table:
        raise ValueError(f"no row for {', '.join(keys)}: the test would test nothing")

    def decorate(test: Test) -> Test:
        one, others = vars(test).get(_TABLE, (test, [{}]))
        return _test_of_rows(one, [other | row for other in others for row in table])

    return decorate


def _test_of_rows(test: Test, rows: list[dict[str, Any]]) -> Test:
    @wraps(test)
    def test_rows(subtests: pytest.Subtests) -> None:
        for row in rows:
            try:
                test(**row)
            # A subtest takes as long as a small test, so only what has something to report is one.
            except (Exception, pytest.fail.Exception, pytest.skip.Exception):
                with subtests.test(", ".join(f"{name}={shortened(row[name])}" for name in row)):
                    raise

    vars(test_rows)[_TABLE] = (test, rows)
    vars(test_rows)["__signature__"] = inspect.Signature(
        [inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    )
    return test_rows
