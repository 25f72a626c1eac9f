"""The benchmark of dialects reads what it means to, in as many events as it says."""

import importlib.util

import pytest

from benchmarks import dialects as benchmark
from benchmarks.replay import long_deltas, reference_whole, short_deltas
from harness.dialects.table import DIALECTS
from harness.normalizers.reference import normalizer as reference
from harness.turns.deltas import FinishReason
from harness.turns.fold import fold

TEXT_ONLY = frozenset({"bedrock-llama", "openai-completions", "tgi"})
each_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))
needs_orjson = pytest.mark.skipif(
    importlib.util.find_spec("orjson") is None, reason="the floor decodes with orjson"
)


@each_dialect
def test_streams_have_an_event_for_each_delta_and_end_well(dialect: str) -> None:
    (stream,) = benchmark.streams(DIALECTS[dialect], [long_deltas(200)])
    assert 200 <= len(stream.reads) <= 220
    turn = fold(reference.normalize(stream, iter([stream.body])))
    assert turn.failure is None
    assert turn.finish is not None
    wanted = FinishReason.STOP if dialect in TEXT_ONLY else FinishReason.TOOL_CALLS
    assert turn.finish.reason is wanted
    assert "snow" in turn.text or "snow" in turn.tool_calls[0].arguments


@each_dialect
def test_short_streams_hold_a_call_each_where_the_api_has_calls(dialect: str) -> None:
    made = benchmark.streams(DIALECTS[dialect], (short_deltas(number) for number in range(9)))
    assert len({stream.body for stream in made}) == 9
    assert len(reference_whole(made)) == (0 if dialect in TEXT_ONLY else 9)


@needs_orjson
@each_dialect
def test_the_floor_decodes_each_payload(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    orjson = importlib.import_module("orjson")
    decoded: list[bytes] = []
    loads = orjson.loads

    def counted(data: bytes) -> object:
        decoded.append(data)
        return loads(data)

    monkeypatch.setattr(orjson, "loads", counted)
    (stream,) = benchmark.streams(DIALECTS[dialect], [long_deltas(50)])
    benchmark.make_floor(stream)(stream.body)
    assert len(stream.reads) - 1 <= len(decoded) <= 2 * len(stream.reads)


@needs_orjson
def test_the_table_has_a_row_for_each_dialect_and_marks_what_is_too_slow() -> None:
    made = benchmark.streams(DIALECTS["tgi"], [long_deltas(30)])
    part = benchmark.compare(made, repeats=1)
    slow = {**part, "reference_to_floor": 4.5}
    quick = {**part, "reference_to_floor": 3.5}
    measured = {
        "python": "3",
        "cores": 1,
        "repeats": 1,
        "goal": 4.0,
        "dialects": {"tgi": {"long": slow, "short": quick}},
    }
    row = list(benchmark.as_text(measured))[-1]
    assert row.startswith("tgi ")
    assert "4.50!" in row
    assert "3.50 " in row
