"""Ctrl-C is delayed while processes start, then requests a stop; the second one stops at once."""

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from harness.verdicts.database import Questions
from harness.workers.interruption import (
    block_interrupts,
    defer_interrupts,
    interruptible,
    stop_requested,
    stoppable,
)
from tests.runs.runs_samples import a_run

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


def test_an_interrupt_is_handled_after_the_body_whichever_thread_receives_it() -> None:
    ends = threading.Event()
    other = threading.Thread(target=ends.wait)
    other.start()
    reached = []
    with pytest.raises(KeyboardInterrupt), defer_interrupts():  # noqa: PT012 - the end counts
        signal.pthread_kill(other.ident or 0, signal.SIGINT)
        time.sleep(0.05)
        reached.append("the end of the body")
    ends.set()
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_second_sigint_raises() -> None:
    with interruptible() as interruption:
        _press()
        assert interruption.requested
        with pytest.raises(KeyboardInterrupt):
            _press()


def test_a_search_in_this_process_is_asked_to_stop() -> None:
    with stoppable():
        assert not stop_requested()
        _press()
        assert stop_requested()
    assert not stop_requested()


def test_sigterm_is_a_request_if_a_handler_receives_it() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) == before
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with interruptible() as interruption:
            signal.raise_signal(signal.SIGTERM)
            assert interruption.requested
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_interrupt_during_a_question_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB raises a RuntimeError instead."""

    class Interrupted:
        def execute(self, *_arguments: object) -> None:
            raise RuntimeError("Query interrupted")

    with Questions(a_run([])) as questions, monkeypatch.context() as patched:
        patched.setattr(questions, "_database", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            questions.conformance_by_text_dialect()
