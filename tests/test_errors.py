"""Errors come out of a process of their own as they went in."""

import pickle

import pytest

from harness.errors import HarnessError, StreamError, UnreadableError, UsageError


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no such name", where="-n", hint="use another"),
        UnreadableError("damaged"),
        StreamError("too long", offset=17),
    ],
)
def test_an_error_is_whole_after_pickling(error: HarnessError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - written by this test
    assert type(again) is type(error)
    assert (str(again), vars(again), again.args) == (str(error), vars(error), error.args)
