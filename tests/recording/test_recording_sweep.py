"""No recorded stream changes its turn, or raises, whatever the cuts.

A few of the streams always; all of them under all chunkings only where asked for, in
processes, for some minutes. What passed is kept in a file (HARNESS_SWEEP names another one),
so that an interrupted sweep goes on where it stopped:

    HYPOTHESIS_PROFILE=deep pytest -n 0 tests/recording/test_recording_sweep.py
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path

import pytest

from harness.turns.deltas import Finish, FinishReason
from harness.wire.interaction import Interaction, Read, Request
from tests.recording import sweep
from tests.recording.corpus import Recorded, files, needs_corpus, recorded

_FEW = 20  # every so many files
_SAID_EVERY = 25


@needs_corpus
def test_a_few_recorded_streams_mean_the_same_under_the_hardest_cuts() -> None:
    streams = list(recorded(files()[::_FEW]))
    faults = [sweep.fault_of(s, sweep.few_chunkings(s.interaction.body)) for s in streams]
    assert streams
    assert [fault for fault in faults if fault] == []


@pytest.mark.skipif(
    os.environ.get("HYPOTHESIS_PROFILE") != "deep",
    reason="takes minutes on all cores; HYPOTHESIS_PROFILE=deep runs it",
)
@needs_corpus
def test_no_recorded_stream_changes_its_turn_whatever_the_cuts(
    pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = sweep.Progress(_progress_file(pytestconfig))
    streams = list(recorded(files()))
    left = [stream for stream in streams if not progress.has(stream)]
    faults: list[str] = []
    for number, (stream, fault) in enumerate(_swept(left), 1):
        if fault:
            faults.append(fault)
        else:
            progress.add(stream)
        if number % _SAID_EVERY == 0 or number == len(left):
            with capsys.disabled():
                print(f"\n{number} of {len(left)} streams swept, {len(faults)} faults", end="")  # noqa: T201 - it takes minutes
    assert faults == []
    assert len(streams) > len(files())  # many files hold several


def _progress_file(config: pytest.Config) -> Path:
    given = os.environ.get("HARNESS_SWEEP")
    cache = getattr(config, "cache", None)
    if given or cache is None:
        return Path(given or ".harness-sweep.jsonl")
    return Path(cache.mkdir("harness-sweep")) / "passed.jsonl"


def _swept(streams: list[Recorded]) -> Iterator[tuple[Recorded, str]]:
    """Yield each stream with its fault, in the order in which they are done."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        # The longest first, so that no process works on alone at the end.
        longest_first = sorted(streams, key=lambda stream: -len(stream.interaction.body))
        futures: dict[Future[str], Recorded] = {
            pool.submit(sweep.sweep, stream): stream for stream in longest_first
        }
        for future in as_completed(futures):
            yield futures[future], future.result()


# The sweep itself

_BODY = b'data:{"token":{"text":"a"},"generated_text":"a","details":null}\n\n'


def _stream(body: bytes = _BODY, dialect: str = "tgi") -> Recorded:
    interaction = Interaction(Request(), 200, (), body, (Read(len(body)),), dialect=dialect)
    return Recorded("made/up#0", interaction)


def test_a_stream_without_fault_passes() -> None:
    assert sweep.sweep(_stream()) == ""
    turn = sweep.turn_of(_stream().interaction, (3, 9))
    assert (turn.text, turn.finish) == ("a", Finish(FinishReason.STOP, ""))


def test_what_raises_is_a_fault() -> None:
    assert "UsageError" in sweep.sweep(_stream(dialect="no-such"))


def test_a_turn_that_depends_on_cuts_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "turn_of", lambda _, cuts: sum(cuts) % 7)
    assert "made/up#0 cut at (1, 2, 3, 4, 5, 6, 7, 8, 9)" in sweep.sweep(_stream())


def test_long_bodies_are_cut_at_seams_and_at_random() -> None:
    body = b"data: {}\n\n" * 2_000
    found = list(sweep.chunkings(body))
    assert found[0] == tuple(range(1, len(body)))
    assert len(found) == 2 + len(found[1]) + sweep.RANDOM_CUTS
    assert found == list(sweep.chunkings(body))


def test_what_passed_is_remembered_until_bytes_or_code_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "passed.jsonl"
    sweep.Progress(path).add(_stream())
    with path.open("a") as file:
        file.write('{"body": "cut sh')
    assert sweep.Progress(path).has(_stream())
    assert not sweep.Progress(path).has(_stream(_BODY + b"\n"))
    monkeypatch.setattr(sweep, "_code_digest", lambda dialect: f"other code for {dialect}")
    assert not sweep.Progress(path).has(_stream())


def test_each_dialect_has_its_own_digest_of_the_code() -> None:
    digest = sweep._code_digest
    assert digest("tgi") != digest("openai-completions")
    assert digest("tgi") == digest("tgi")
