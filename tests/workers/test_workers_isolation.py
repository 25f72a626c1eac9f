"""The retry policy for third-party code: which results of a first try are in doubt."""

import pytest

from harness.workers.batch import Exited
from harness.workers.isolation import Isolation
from harness.workers.pool import LoneWorker
from harness.workers.process import ENDED, FAILED

HANG, FINE = "hang", "fine"


def isolation(monkeypatch: pytest.MonkeyPatch, tries: list[str | Exited]) -> Isolation:
    """Return a policy whose process gives the results of `tries`, one for each call."""
    monkeypatch.setattr(LoneWorker, "call", lambda *_: (tries.pop(0), ""))
    return Isolation(lambda result: result == HANG)


@pytest.mark.parametrize(
    ("tries", "expected"),
    [
        ([FINE], FINE),
        ([HANG, FINE], FINE),
        ([HANG, HANG], HANG),
        ([HANG, Exited(ENDED)], HANG),
        ([Exited("it called sys.exit")], Exited("it called sys.exit")),
        ([Exited(ENDED), FINE], FINE),
        ([Exited(ENDED), HANG, FINE], FINE),
        ([Exited(ENDED), Exited(FAILED)], Exited(f"twice in this cell {FAILED}")),
    ],
)
def test_a_job_in_doubt_gets_another_try(
    monkeypatch: pytest.MonkeyPatch, tries: list[str | Exited], expected: str | Exited
) -> None:
    left = list(tries)
    found, _ = isolation(monkeypatch, left).run(str, "job")
    assert (found, left) == (expected, [])


def test_a_client_that_hung_twice_in_three_jobs_gets_no_second_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left: list[str | Exited] = [HANG] * 7
    client = isolation(monkeypatch, left)
    assert [client.run(str, "job")[0] for _ in range(4)] == [HANG] * 4
    assert left == []
