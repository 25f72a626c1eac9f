"""What a parent accepts from a worker process: data of the harness, and nothing that it calls."""

import os
import pickle
from typing import Any

import pytest

from harness.errors import UnreadableError
from harness.runs import declared
from harness.workers.batch import RESULTS, Batch, Exited, decode_batch, run_batch
from tests.runs.runs_samples import a_case, a_result


def message_of(value: object) -> bytes:
    """Return a message of the worker whose batch has the number 7."""
    return RESULTS + (7).to_bytes(8, "little") + pickle.dumps(value)


class Call:
    """Calls a function when it is unpickled."""

    def __init__(self, function: Any, *arguments: Any) -> None:  # noqa: ANN401 - of any kind
        self.call = function, arguments

    def __reduce__(self) -> Any:  # noqa: ANN401 - as in the base class
        return self.call


class Text(str):
    """Is not of the harness."""

    __slots__ = ()


def test_decode_batch_returns_what_a_worker_found() -> None:
    client = declared._normalizer_without_code("reference")
    batch = Batch((a_result("a", "b"), a_case("a/b"), client, Exited("x"), {frozenset({1})}), ())
    assert decode_batch(message_of(batch)) == (7, batch)


@pytest.mark.parametrize(
    "value",
    [
        Call(os.getpid),
        Call(eval, "1"),
        Call(getattr, "text", "upper"),
        Call(run_batch, print, (), print),
        Call(pickle.loads, pickle.dumps(1)),
        Text("x"),
        os._exit,
    ],
)
def test_decode_batch_refuses_what_is_not_data(value: object) -> None:
    with pytest.raises(pickle.UnpicklingError, match="is not data of the harness"):
        decode_batch(message_of(Batch((value,), ())))


def test_decode_batch_refuses_a_name_within_a_module_of_the_harness() -> None:
    named = b"\x80\x04\x8c\x15harness.workers.batch\x8c\x08os._exit\x93."
    with pytest.raises(pickle.UnpicklingError, match="is not data of the harness"):
        decode_batch(RESULTS + bytes(8) + named)


@pytest.mark.parametrize("message", [b"", b"HOSTILE", RESULTS, message_of(5)])
def test_decode_batch_refuses_what_is_not_a_batch(message: bytes) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - of any kind
        decode_batch(message)


def test_a_batch_ends_at_a_fault() -> None:
    def work(job: int) -> int:
        if job == 1:
            raise UnreadableError("damaged", where="c.yaml")
        return job

    batch = run_batch(work, (0, 1, 2), lambda _seconds: None)
    assert batch.results == (0,)
    assert batch.fault is not None
    assert str(batch.fault.rebuild()) == "c.yaml: damaged"
