"""Whatever a normalizer does, a replay ends and records it."""

import contextlib
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.judging.replaying import (
    CUTS,
    Cuts,
    DeadlineExceeded,
    ReplayLimits,
    deadline,
    iter_chunkings,
    replay,
    run_guarded,
)
from harness.results.replay import Replay
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, each_byte, seams, split
from harness.wire.interaction import Interaction, Read, Request
from tests.judging.judging_samples import HELLO, Pieces, a_normalizer, an_interaction, hello

QUICK = ReplayLimits(seconds=0.15, seconds_per_megabyte=0, deltas=50, deltas_per_byte=0)
Reads = Iterable[bytes]


def replayed(
    normalize: Pieces, *, cuts: tuple[int, ...] = UNSPLIT, limits: ReplayLimits = QUICK
) -> Replay:
    return replay(a_normalizer(normalize), an_interaction(), cuts, limits)


def _saying(*deltas: Any) -> Pieces:  # noqa: ANN401 - what is no delta, too
    return lambda _reads: iter(deltas)


# What comes back


def test_replay_of_a_conforming_normalizer() -> None:
    assert replayed(hello) == Replay(
        UNSPLIT,
        replayed(hello).emissions,
        Turn(text="Hello", finish=Finish(FinishReason.STOP, "stop")),
    )


def test_deltas_before_an_exception_are_kept() -> None:
    def crashing(_reads: Reads) -> Iterator[Delta]:
        yield TextDelta("Hel")
        raise KeyError("index")

    seen = replayed(crashing)
    assert (seen.error, seen.hung, seen.turn) == ("KeyError: 'index'", False, Turn(text="Hel"))


def test_an_exception_before_the_first_delta() -> None:
    def failing(_reads: Reads) -> NoReturn:
        raise ValueError("no")

    assert replayed(failing).error == "ValueError: no"


@pytest.mark.parametrize(
    "problem", [SystemExit(3), GeneratorExit(), MemoryError(), RecursionError("deep")]
)
def test_generator_exit_is_a_crash(problem: BaseException) -> None:
    def leaving(_reads: Reads) -> NoReturn:
        raise problem

    seen = replayed(leaving)
    assert seen.error.startswith(f"{type(problem).__name__}: ")
    assert not seen.hung


def test_sys_exit_does_not_end_the_harness() -> None:
    assert replayed(lambda _reads: sys.exit("bye")).error == "SystemExit: bye"


def test_ctrl_c_passes_through() -> None:
    def interrupted(_reads: Reads) -> NoReturn:
        raise KeyboardInterrupt

    # A job of a shell in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            replayed(interrupted)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_exception_whose_str_fails_has_its_type() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError("mute")

    def failing(_reads: Reads) -> NoReturn:
        raise MuteError

    assert replayed(failing).error == "MuteError"


def test_a_long_exception_is_cut() -> None:
    def failing(_reads: Reads) -> NoReturn:
        raise ValueError("x" * 100_000)

    assert len(replayed(failing).error) == 500


# What is no delta


_NOTHING: Any = None
_WORD: Any = "stop"


class _Word(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (None, "NoneType"),
        ("text", "str"),
        ({"type": "text", "text": "x"}, "dict"),
        (object(), "object"),
        (ToolCallStart, "StructMeta"),
        (TextDelta(_NOTHING), "TextDelta(text: NoneType)"),
        (TextDelta(_Word("x")), "TextDelta(text: _Word)"),
        (ReasoningDelta(_NOTHING), "ReasoningDelta"),
        (
            ToolCallStart(0, _NOTHING, "name"),
            "ToolCallStart(index: int, id: NoneType, name: str, kind: str, namespace: str)",
        ),
        (ToolCallStart(_NOTHING, "id", "name"), "index: NoneType"),
        (ToolCallStart(True, "id", "name"), "index: bool"),  # noqa: FBT003 - what is wrong here
        (ArgumentsDelta(0, _NOTHING), "fragment: NoneType"),
        (ToolCallEnd(_WORD), "ToolCallEnd(index: str, sent: str)"),
        (ToolCallRejected(0, _WORD), "error: str"),
        (ToolCallRejected(0, ParseError(_WORD, "x")), "ToolCallRejected"),
        (ToolCallRejected(0, ParseError("tool_use", _NOTHING)), "ToolCallRejected"),
        (UsageDelta(_NOTHING), "usage: NoneType"),
        (UsageDelta(Usage(_WORD)), "UsageDelta(usage: Usage)"),
        (Finish(_WORD), "Finish(reason: str, raw: str)"),
        (Finish(FinishReason.STOP, _NOTHING), "raw: NoneType"),
        (StreamFailure(_NOTHING), "code: NoneType"),
    ],
)
def test_a_yielded_object_that_is_not_a_delta_is_a_crash(wrong: object, told: str) -> None:
    seen = replayed(_saying(TextDelta("Hel"), wrong))
    assert seen.error.startswith("DeltaError: ")
    assert told in seen.error
    assert seen.turn == Turn(text="Hel")
    assert len(seen.emissions) == 1


@pytest.mark.parametrize("after", ["raise", "loop"])
def test_what_a_client_does_after_an_object_that_is_not_a_delta_does_not_count(after: str) -> None:
    wrong: Any = "text"

    def speak(reads: Reads) -> Iterator[Delta]:
        yield TextDelta("Hel")
        yield wrong
        yield TextDelta("lo")
        if after == "raise":
            raise RuntimeError("late")
        yield from _loop(reads)

    seen = replayed(speak)
    assert seen.error.startswith("DeltaError: ")
    assert seen.raised == "DeltaError in harness.turns.fold:Folder.add"
    assert (seen.hung, seen.turn, len(seen.emissions)) == (False, Turn(text="Hel"), 1)


def test_returning_no_iterator_is_a_crash() -> None:
    nothing: Any = lambda _reads: None  # noqa: E731 - a function that a checker refuses
    assert "NoneType" in replayed(nothing).error


# What does not come back


def _loop(_reads: Reads) -> Iterator[Delta]:
    yield TextDelta("so far")
    while True:
        pass


def _swallowing_loop(_reads: Reads) -> Iterator[Delta]:
    yield TextDelta("so far")
    while True:
        try:
            sum(range(1000))
        except BaseException:  # noqa: BLE001, S112 - it swallows the deadline
            continue


def _sleeping(_reads: Reads) -> Iterator[Delta]:
    yield TextDelta("so far")
    time.sleep(60)


def _flood(_reads: Reads) -> Iterator[Delta]:
    yield TextDelta("so far")
    yield from itertools.repeat(UsageDelta(Usage()))


@pytest.mark.parametrize("hanging", [_loop, _swallowing_loop, _sleeping, _flood])
def test_a_hang_ends_and_keeps_the_deltas(hanging: Pieces) -> None:
    started = time.monotonic()
    seen = replayed(hanging)
    assert (seen.hung, seen.error, seen.turn.text) == (True, "", "so far")
    assert time.monotonic() - started < 30


def test_too_many_deltas_stop_at_the_limit() -> None:
    assert len(replayed(_flood).emissions) == QUICK.deltas + 1


def test_a_longer_body_has_higher_limits() -> None:
    limits = ReplayLimits(seconds=1, seconds_per_megabyte=2, deltas=3, deltas_per_byte=1)
    assert limits.time_for(b"x" * 500_000) == 2
    many = _saying(*[TextDelta("")] * (len(HELLO) + 3))
    assert not replayed(many, limits=limits).hung
    more = _saying(*[TextDelta("")] * (len(HELLO) + 4))
    assert replayed(more, limits=limits).hung


def test_one_swallowed_deadline_is_followed_by_another() -> None:
    def stubborn(_reads: Reads) -> Iterator[Delta]:
        with contextlib.suppress(BaseException):
            time.sleep(60)
        time.sleep(60)
        yield TextDelta("never")

    assert replayed(stubborn).hung


# The timer itself


def test_the_deadline_leaves_no_timer_and_no_handler() -> None:
    before = signal.getsignal(signal.SIGALRM)
    replayed(_sleeping)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_timer_of_the_caller_continues() -> None:
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: rang.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        replayed(_sleeping)
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        assert 0 < left < 0.2 or rang
        time.sleep(0.3)
        assert rang == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_deadline_interrupts_code_of_the_harness() -> None:
    with pytest.raises(DeadlineExceeded), deadline(0.05):
        time.sleep(60)


@pytest.mark.parametrize(("wanted", "is_over"), [(0.0, True), (1000.0, False)])
def test_a_machine_with_too_much_to_do_gets_more_time(
    monkeypatch: pytest.MonkeyPatch, wanted: float, *, is_over: bool
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (wanted, 0.0, 0.0))
    seen = run_guarded(lambda: time.sleep(0.1), 0.02)
    assert seen[2] == is_over


def test_more_time_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    assert run_guarded(lambda: time.sleep(60), 0.02)[2]


def test_off_the_main_thread_the_limit_on_deltas_holds() -> None:
    seen: list[Replay] = []
    thread = threading.Thread(target=lambda: seen.append(replayed(_flood)))
    thread.start()
    thread.join(10)
    assert seen[0].hung


# Laziness and state


def _eager(reads: Reads) -> Iterator[Delta]:
    for read in list(reads):
        yield TextDelta(str(len(read)))


def _lazy(reads: Reads) -> Iterator[Delta]:
    for read in reads:
        yield TextDelta(str(len(read)))


def test_bytes_read_shows_lazy_and_eager_reading() -> None:
    size = len(HELLO)
    lazy, eager = replayed(_lazy, cuts=(3, 10)), replayed(_eager, cuts=(3, 10))
    assert [emission.bytes_read for emission in lazy.emissions] == [3, 10, size]
    assert [emission.bytes_read for emission in eager.emissions] == [size] * 3
    assert lazy.turn == eager.turn


def test_a_delta_before_any_read_has_read_nothing() -> None:
    assert replayed(_saying(TextDelta("x"))).emissions[0].bytes_read == 0


@given(st.sets(st.integers(1, len(HELLO) - 1)).map(lambda cuts: tuple(sorted(cuts))))
def test_the_reads_are_the_body_split_at_the_cuts(cuts: tuple[int, ...]) -> None:
    got: list[bytes] = []

    def keeping(reads: Reads) -> Iterator[Delta]:
        got.extend(reads)
        yield TextDelta("")

    replayed(keeping, cuts=cuts)
    assert b"".join(got) == HELLO
    assert tuple(itertools.accumulate(map(len, got)))[:-1] == cuts


def _twice(normalize: Callable[[], Pieces]) -> tuple[Turn, Turn]:
    kept = normalize()
    return replayed(kept).turn, replayed(kept).turn


def test_each_replay_gets_its_own_reads_and_state_is_visible() -> None:
    def counting() -> Pieces:
        numbers = itertools.count()
        return lambda _reads: iter([TextDelta(str(next(numbers)))])

    assert _twice(counting) == (Turn(text="0"), Turn(text="1"))
    assert len(set(_twice(lambda: _lazy))) == 1


BODIES = st.binary(max_size=60) | st.text("data: é\r\n\\u{}", max_size=40).map(str.encode)


def cut(body: bytes) -> Interaction:
    half = len(body) // 2
    sizes = (size for size in (half, len(body) - half) if size)
    return Interaction(Request(), 200, (), body, tuple(Read(size) for size in sizes))


@given(BODIES, st.sampled_from(CUTS))
def test_chunkings_are_valid_and_distinct(body: bytes, cuts: Cuts) -> None:
    found = list(iter_chunkings(cut(body), cuts))
    assert len(set(found)) == len(found)
    assert found[0] == ()
    for chunking in found:
        assert list(chunking) == sorted(set(chunking))
        assert all(0 < at < len(body) for at in chunking)
        assert b"".join(split(body, chunking)) == body


@given(BODIES, st.sampled_from(CUTS[1:]))
def test_chunkings_contain_recorded_cuts_and_each_byte(body: bytes, cuts: Cuts) -> None:
    found = set(iter_chunkings(cut(body), cuts))
    assert {cut(body).recorded_cuts(), each_byte(body)} <= found


@given(BODIES)
@example(b"\r\0\x80\x80\x80\x80")  # with groups of more than one seam
def test_each_cuts_mode_contains_the_one_before(body: bytes) -> None:
    whole, quick, standard, every = (set(iter_chunkings(cut(body), cuts)) for cuts in CUTS)
    assert {()} == whole <= quick <= standard <= every
    assert seams(body) in standard
    assert {(at,) for at in range(1, len(body))} <= every


def test_an_empty_body_has_one_chunking() -> None:
    assert [list(iter_chunkings(cut(b""), cuts)) for cuts in CUTS] == [[()]] * len(CUTS)


@pytest.mark.parametrize(
    ("cuts", "most"), [("quick", 3), ("standard", 100), ("every", len(HELLO * 200))]
)
def test_large_bodies_have_a_bounded_number_of_chunkings(cuts: Cuts, most: int) -> None:
    interaction = an_interaction(HELLO * 200)
    assert len(interaction.body) > 16 * 1024
    assert len(list(iter_chunkings(interaction, cuts))) <= most


def test_every_cuts_large_bodies_at_their_seams_only() -> None:
    interaction = an_interaction(HELLO * 200)
    singles = {cuts[0] for cuts in iter_chunkings(interaction, "every") if len(cuts) == 1}
    assert singles == set(seams(interaction.body))
