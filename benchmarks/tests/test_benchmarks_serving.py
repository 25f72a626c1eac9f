"""The benchmark of `harness serve` detects wrong bytes and dropped clients, and finds none."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks import serving as benchmark
from benchmarks import serving_latency
from harness.playback.selection import Recording, SelectionServer
from harness.recording.proxy import RecordingProxy
from harness.recording.recorder import Recorder
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction

STREAMS = 40
EVENTS = 60


def test_no_stream_is_lost_or_mixed_and_each_client_beyond_the_limit_is_told() -> None:
    measured = benchmark.measure(STREAMS, EVENTS, delay=2, over=20, stalled=4)
    assert (measured["complete"], measured["wrong"]) == (STREAMS, 0)
    assert (measured["refused"], measured["dropped"]) == (20, 0)


def test_each_stream_has_its_own_events(tmp_path: Path) -> None:
    answers = list(benchmark.write_cassettes(tmp_path, 3, EVENTS))
    assert [len(answer.reads) for answer in answers] == [EVENTS] * 3
    assert len({answer.body for answer in answers}) == 3


def _recordings(answers: list[Interaction]) -> list[Recording]:
    cassettes = (Cassette(f"s{n}", (each,), Origin("emulated")) for n, each in enumerate(answers))
    return [Recording(f"cassette:{each.id}", each) for each in cassettes]


@pytest.mark.parametrize("fault", ["mixed", "cut", "chunked otherwise"])
def test_a_wrong_stream_is_found(fault: str) -> None:
    answers = [benchmark.stream_answer(stream, EVENTS) for stream in range(4)]
    served = list(answers)
    if fault == "mixed":
        served[2] = answers[1]
    elif fault == "cut":
        served[2] = replace(answers[2], ended="truncated")
    else:
        served[2] = replace(answers[2], reads=answers[2].reads[::-1])
    with SelectionServer(_recordings(served), most_connections=9) as server:
        port = int(server.base_url.rpartition(":")[2])
        found = asyncio.run(benchmark.read_streams(port, answers))
        assert (found.complete, found.wrong) == (3, 1)


def test_a_client_that_is_not_refused_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "_REFUSAL_SECONDS", 0.2)
    answers = [benchmark.stream_answer(0, EVENTS)]
    with SelectionServer(_recordings(answers), most_connections=9) as server:
        port = int(server.base_url.rpartition(":")[2])
        found = asyncio.run(benchmark.read_streams(port, answers, over=2))
        assert (found.refused, found.dropped) == (0, 2)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_the_latency_is_measured_of_streams_that_arrive_and_are_recorded_exactly(
    tmp_path: Path, *, is_wrong: bool
) -> None:
    answers = [benchmark.stream_answer(stream, EVENTS) for stream in range(4)]
    served = [*answers[:3], answers[0]] if is_wrong else answers
    path = tmp_path / "proxy.yaml"
    with (
        SelectionServer(_recordings(served)) as server,
        Recorder(path, mode="all", allow_in_ci=True) as recorder,
        RecordingProxy(recorder, server.base_url) as proxy,
    ):
        port = int(proxy.base_url.rpartition(":")[2])
        found = asyncio.run(serving_latency.read_paced(port, answers, 0.001))
    right = 3 if is_wrong else 4
    assert (found.complete, found.wrong) == (right, 4 - right)
    assert serving_latency.count_recorded(path, answers) == right
    assert 0 < found.event_ms < found.event_p99_ms
