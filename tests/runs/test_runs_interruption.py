"""Ctrl-C is delayed while processes start, then requests a stop; the second one stops at once."""

import signal
import threading
from collections.abc import Iterator

import pytest

from harness.runs.pool import block_interrupts, interruptible

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
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # other threads do not block it


@needs_masks
def test_blocked_sigint_arrives_at_the_end_of_the_block() -> None:
    with interruptible() as interruption:
        with block_interrupts():
            _press()
            assert not interruption.requested
        assert interruption.requested


def test_second_sigint_raises() -> None:
    with interruptible() as interruption:
        _press()
        assert interruption.requested
        with pytest.raises(KeyboardInterrupt):
            _press()
