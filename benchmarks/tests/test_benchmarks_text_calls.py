"""The benchmark of text calls reads what it means to, and prints a row for each text."""

import pytest

from benchmarks import text_calls as benchmark

SMALL = (4_000, 8_000)


def test_the_longest_text_holds_a_thousand_calls() -> None:
    text = benchmark.with_calls(benchmark.SIZES[-1])
    assert len(text) == 1_000_000
    assert text.count("<tool_call>") == benchmark.CALLS
    turn = benchmark.extract(benchmark.pieces_of(text, len(text)))
    assert len(turn.tool_calls) == benchmark.CALLS
    assert turn.parse_errors == ()
    # The line ends around the last call belong to it.
    assert turn.text.count("\n") == 2 * (benchmark.CALLS - 1)


def test_pieces_say_the_text() -> None:
    *said, _ = benchmark.pieces_of("a" * 50)
    assert [len(getattr(delta, "text", "")) for delta in said] == [20, 20, 10]


def test_a_text_is_measured_whole_and_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "SIZES", SMALL)
    monkeypatch.setattr(benchmark, "CALLS", 8)
    part = benchmark.growth(benchmark.TEXTS["1,000 calls"], repeats=1)
    for kind in ("whole", "pieces", "as read"):
        assert part[kind].keys() == {"microseconds", "to_floor", "growth"}
    assert len(part["seconds"]) == 5 * len(SMALL)


def test_only_the_text_with_calls_has_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "SIZES", SMALL)
    monkeypatch.setattr(benchmark, "CALLS", 8)
    calls = {
        name: len(benchmark.extract(benchmark.pieces_of(make(SMALL[-1]))).tool_calls)
        for name, make in benchmark.TEXTS.items()
    }
    assert {name for name, count in calls.items() if count} == {"1,000 calls"}


def test_the_table_has_a_row_for_each_text_and_each_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(benchmark, "SIZES", SMALL)
    monkeypatch.setattr(benchmark, "LONG_DELTAS", 90)
    monkeypatch.setattr(benchmark, "SHORT_STREAMS", 2)
    lines = list(benchmark.as_text(benchmark.measure(["<"], repeats=1)))
    assert any(line.startswith("< ") for line in lines)
    assert [line.split()[0] for line in lines[-3:]] == ["long", "short", "text"]
