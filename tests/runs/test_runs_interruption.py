"""Ctrl-C: held while processes start, heard where a search can end well."""

import os
import signal
from collections.abc import Iterator

import pytest

from harness.runs.pool import block_sigint, interruptible, unblock_sigint

needs_masks = pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"), reason="this system has no signal masks"
)


@pytest.fixture(autouse=True)
def _heard_at_all() -> Iterator[None]:
    """SIGINT is ignored where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@needs_masks
def test_what_is_pressed_while_held_comes_when_it_is_heard() -> None:
    seen = []
    with interruptible() as interruption, block_sigint():
        _press()
        seen.append(interruption.requested)
        with unblock_sigint():
            seen.append(interruption.requested)
        with pytest.raises(KeyboardInterrupt), unblock_sigint():  # the second stops at once
            _press()
    assert seen == [False, True]


@needs_masks
def test_what_is_held_to_the_end_comes_then() -> None:
    with interruptible() as interruption:
        with block_sigint():
            _press()
            assert not interruption.requested
        assert interruption.requested
