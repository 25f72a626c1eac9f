"""The measure of caught turns: mutations change what they say, and survivors have reasons."""

import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from benchmarks import teeth as benchmark
from benchmarks.turn_mutations import (
    MUTATIONS,
    Call,
    Part,
    Response,
    deltas_of,
    parts_of,
)
from harness import shipped
from harness.normalizers.reference import normalizer as reference
from harness.turns.deltas import (
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.cassette_file import load_cassette

ONE = Call("a", "get_weather", '{"city": "Oslo", "days": [7, true]}', None, "function")
OTHER = Call("b", "get_time", "{}", None, "function")
REJECTED = Call("c", "get_time", '{"zone', ParseError("tool_use", "truncated"), "function")
END = Finish(FinishReason.TOOL_CALLS, "tool_calls")
CERTAIN = (
    "mistral/magistral-medium-latest/thinking-and-call",
    "ollama/qwen3/thinking-then-call",
)
AMBIGUOUS = "compatible/any/id-changes"
DRAFT = "compatible/kimi-k2-instruct/reasoning-holds-draft"
SENT = '"id": "a" "id": "b"'


def mutated(name: str, *parts: Part, sent: str = SENT) -> Turn | None:
    response = Response((*parts, END), ("get_weather",), sent)
    found = MUTATIONS[name](response, Random(1))  # noqa: S311 - a draw that can be repeated
    return None if found is None else fold(deltas_of(found))


def ids(turn: Turn | None) -> list[str]:
    assert turn is not None
    return [call.id for call in turn.tool_calls]


def streams(*names: str) -> Iterable[benchmark.Stream]:
    root = shipped.bundled_folder("cassettes")
    for name in names:
        yield from benchmark.streams_of(load_cassette(root / f"{name}.yaml", root), name)


def test_parts_give_the_same_turn() -> None:
    for stream in streams(*CERTAIN):
        interaction = stream.interaction
        deltas = list(reference.normalize(interaction, iter([interaction.body])))
        assert fold(deltas_of(parts_of(deltas))) == fold(deltas)


def test_calls_are_dropped_added_repeated_and_reordered() -> None:
    assert len(ids(mutated("call-dropped", ONE, OTHER))) == 1
    assert ids(mutated("call-added", ONE)) == ["a", "call_added"]
    assert ids(mutated("call-repeated", ONE)) == ["a", "a_again"]
    assert ids(mutated("calls-reordered", ONE, OTHER)) == ["b", "a"]
    assert mutated("call-dropped", REJECTED) is None
    assert mutated("calls-reordered", ONE, replace(ONE, id="b")) is None


def test_only_ids_of_the_provider_are_swapped() -> None:
    turn = mutated("id-swapped", ONE, OTHER)
    assert turn is not None
    assert [(call.id, call.name) for call in turn.tool_calls] == [
        ("b", "get_weather"),
        ("a", "get_time"),
    ]
    assert ids(mutated("id-swapped", ONE)) == ["call_swapped"]
    assert mutated("id-swapped", ONE, sent="") is None


def test_a_name_and_a_namespace_are_changed() -> None:
    named = mutated("name-changed", replace(ONE, name="get_time"), REJECTED)
    assert named is not None
    assert [call.name for call in named.tool_calls] == ["get_weather"]
    shorter = mutated("name-changed", replace(ONE, name="get_weather"))
    assert shorter is not None
    assert [call.name for call in shorter.tool_calls] == ["get_weathe"]
    assert mutated("name-changed", REJECTED) is None
    assert mutated("namespace-dropped", ONE) is None
    without = mutated("namespace-dropped", replace(ONE, namespace="travel"))
    assert without == fold(deltas_of((ONE, END)))


def test_numbers_of_tokens_are_dropped_unless_they_are_0() -> None:
    assert mutated("usage-dropped", ONE, UsageDelta(Usage(3, 0))) == fold(deltas_of((ONE, END)))
    assert mutated("usage-dropped", ONE, UsageDelta(Usage(0, 0))) is None
    assert mutated("usage-dropped", ONE) is None


@pytest.mark.parametrize("draw", range(9))
def test_one_leaf_of_the_arguments_is_changed(draw: int) -> None:
    response = Response((OTHER, ONE, END))
    found = MUTATIONS["argument-changed"](response, Random(draw))  # noqa: S311 - as above
    assert found is not None
    call = found[1]
    assert isinstance(call, Call)
    assert call.arguments in {
        '{"city": "Oslox", "days": [7, true]}',
        '{"city": "Oslo", "days": [8, true]}',
        '{"city": "Oslo", "days": [7, false]}',
    }
    assert mutated("argument-changed", OTHER) is None


def test_a_rejected_call_is_executed() -> None:
    assert ids(mutated("rejected-executed", ONE, REJECTED)) == ["a", "c"]
    assert mutated("rejected-executed", ONE) is None
    executed = mutated("rejected-executed", replace(REJECTED, kind="action", arguments="{}"))
    assert executed is not None
    assert [call.kind for call in executed.tool_calls] == ["function"]


def test_text_reasoning_and_finish_are_changed() -> None:
    text, blank, thought = TextDelta("Snow."), TextDelta("\n"), ReasoningDelta("Hm.")
    dropped, repeated = mutated("text-dropped", text, blank), mutated("text-repeated", text, blank)
    assert dropped is not None
    assert dropped.text == "\n"
    assert repeated is not None
    assert repeated.text == "Snow.Snow.\n"
    assert mutated("text-dropped", blank) is None
    assert mutated("reasoning-dropped", thought, ONE) == fold(deltas_of((ONE, END)))
    finish = mutated("finish-changed", ONE)
    assert finish is not None
    assert finish.finish is not None
    assert finish.finish.reason is not END.reason


def test_a_failed_turn_ends_as_if_it_were_complete() -> None:
    turn = mutated("finish-changed", TextDelta("Snow."))
    assert turn is not None
    assert turn.failure is None


def test_certain_turns_catch_every_mutant_and_the_same_seed_repeats() -> None:
    judged = [benchmark.judge_stream(stream, 3) for stream in streams(*CERTAIN)]
    assert judged == [benchmark.judge_stream(stream, 3) for stream in streams(*CERTAIN)]
    measured = benchmark.measure(judged, 3)
    assert measured["caught"] == measured["mutants"] > 0
    assert measured["by_mutation"]["call-dropped"]["caught"] > 0
    assert measured["broken"] == {}
    assert measured["judged"]["calls and text"] == {"turns": len(judged), "share": 1.0}


def test_survivors_have_the_reasons_of_the_oracle() -> None:
    (stream,) = streams(AMBIGUOUS)
    measured = benchmark.measure([benchmark.judge_stream(stream, 0)], 0)
    survivors = {it["mutation"]: it["reason"] for it in measured["survivors"]}
    assert survivors["call-dropped"] == "DELTA-ID-CHANGES"
    (row,) = measured["unjudged"]["calls"]
    assert (row["reason"], row["turns"]) == ("DELTA-ID-CHANGES", 1)
    assert measured["judged"]["calls"]["turns"] == 0
    lines = list(benchmark.as_text(measured))
    assert any(line.startswith("call-dropped ") and "0.00%" in line for line in lines)
    assert any("DELTA-ID-CHANGES" in line for line in lines)


def test_markup_is_a_reason_with_its_place() -> None:
    (stream,) = streams(DRAFT)
    judged = benchmark.judge_stream(stream, 0)
    assert judged.unjudged["calls"] == "markup in the reasoning"


def test_drawn_streams_keep_their_order() -> None:
    found = list(streams(*CERTAIN, AMBIGUOUS, DRAFT))
    assert benchmark.drawn(found, None, 0) == found
    two = benchmark.drawn(found, 2, 5)
    assert two == benchmark.drawn(found, 2, 5)
    assert [each for each in found if each in two] == two
    assert len(two) == 2


def test_a_missing_corpus_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(benchmark, "CORPUS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["teeth", "--turns"])
    with pytest.raises(SystemExit, match="HARNESS_CORPUS"):
        benchmark.main()
