"""Logs in parts, measured in processes that may end: each turn counts once."""

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Collection, Container
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import cli
from harness.errors import UsageError
from harness.measuring import sources
from harness.measuring.engine import PartWork, measure_parts
from harness.measuring.measured_turn import measure_turn
from harness.measuring.parquet import database
from harness.measuring.rates import Measured, measured
from harness.measuring.sources import Unread, find_turns, parts_of, read_part
from harness.runs.engine import Engine, open_engine
from harness.wire.cassette_file import load_cassette
from harness.workers.batch import Batch, run_batch
from harness.workers.pool import OpenPool
from harness.workers.process import ProcessEndedError

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

ANSWER = (
    'data: {{"id":"{id}","choices":[{{"index":0,"delta":{{"content":"Hi"}},'
    '"finish_reason":"stop"}}]}}\n\n'
    "data: [DONE]\n\n"
)
BROKEN = (
    'data: {{"id":"{id}","choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"c",'
    '"function":{{"name":"f","arguments":"{{"}}}}]}},"finish_reason":"tool_calls"}}]}}\n\n'
    "data: [DONE]\n\n"
)
SECRET = "sk-proj-" + "aB3" * 16


def record(number: int, **more: object) -> dict[str, Any]:
    """Return one of ten models' turns; every fourth turn is broken."""
    form = ANSWER if number % 4 else BROKEN
    request = {"messages": [{"role": "user", "content": f"{number % 7} {SECRET}"}], "tools": []}
    return {
        "body": form.format(id=number),
        "dialect": "openai-chat",
        "provider": "openai",
        "model": f"m{number % 10}",
        "prompt": "p",
        "time": f"2026-01-{1 + number % 3:02}T00:00:00Z",
        "request": request,
        **more,
    }


def write_log(path: Path, count: int) -> Path:
    path.write_text("".join(json.dumps(record(each)) + "\n" for each in range(count)))
    return path


def read_all(*places: Path) -> list[tuple[str, int, str]]:
    parts = parts_of(map(str, places))
    found = [each for part in parts for each in read_part(part, {})]
    assert not any(isinstance(each, Unread) for each in found), found
    return [(each[0], each[1], each[2].model) for each in found]  # type: ignore[index]


@given(
    st.lists(st.text(max_size=30), max_size=20), st.integers(1, 200), st.sampled_from(["", "\n"])
)
def test_each_line_is_in_one_part(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int, end: str
) -> None:
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    lines = [
        json.dumps({"body": text, "dialect": "openai-chat", "model": f"m{n}"})
        for n, text in enumerate(texts)
    ]
    path.write_text("\n".join(lines) + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "PART_BYTES", size)
        found = read_all(path) if lines else []
    assert [model for _, _, model in found] == [f"m{n}" for n in range(len(texts))]
    for file, position, model in found:
        assert [each.model for each in find_turns(file, position, {})] == [model]


def test_each_container_gives_the_same_turns(tmp_path: Path) -> None:
    data = write_log(tmp_path / "a.jsonl", 9).read_bytes()
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(data))
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("in/a.jsonl", data)
    with tarfile.open(tmp_path / "d.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("../../a.jsonl")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    rows = database().cursor().read_json(str(tmp_path / "a.jsonl"))
    rows.write_parquet(str(tmp_path / "e.parquet"))
    names = ("a.jsonl", "b.jsonl.gz", "c.zip", "d.tar.gz", "e.parquet")
    read = {name: read_all(tmp_path / name) for name in names}
    models = [f"m{n}" for n in range(9)]
    assert {
        name: [model for _, _, model in found] for name, found in read.items()
    } == dict.fromkeys(names, models)
    for found in read.values():
        file, position, model = found[3]
        assert [each.model for each in find_turns(file, position, {})] == [model]
    assert len(read_all(tmp_path)) == 9 * len(names)


def test_a_recording_without_its_request_blames_no_model_for_an_unknown_tool(
    tmp_path: Path,
) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    path = tmp_path / "answer.sse"
    path.write_text(f"data: {json.dumps({'id': 'r', 'choices': [choice]})}\n\ndata: [DONE]\n\n")
    (turn,) = find_turns(str(path), 0, {})
    row = measure_turn(turn, "answer.sse", 0)
    assert (row.success, row.blame, row.calls) == (True, "", 1)
    assert "request" in row.lacks


def test_what_cannot_be_read_costs_itself(tmp_path: Path) -> None:
    good = json.dumps(record(1))
    (tmp_path / "a.jsonl").write_text(f'{good}\n{{\n[]\n\n{good[:-1]}, "status": "x"}}\n{good}\n')
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 cut")
    (tmp_path / "c.txt").write_text("words")
    (tmp_path / "d.parquet.tar").write_bytes(b"no archive")
    found = [each for part in parts_of([str(tmp_path)]) for each in read_part(part, {})]
    damaged = [each for each in found if isinstance(each, Unread) and each.damaged]
    assert [Path(each.file).name for each in damaged] == ["a.jsonl"] * 3 + [
        "b.zip",
        "d.parquet.tar",
    ]
    assert damaged[1].why == "expected an object, found list"
    assert sum(not isinstance(each, Unread) for each in found) == 2


class Here:
    """A pool that runs each batch at once in this process, and may lose a part after it was done.

    Args:
        lost: numbers of the batches, from 0, whose process ends.
    """

    def __init__(self, lost: Container[int] = ()) -> None:
        self.stuck = False
        self.submitted = 0
        self._lost = lost

    def submit(
        self, worker: Callable[[JobT], ResultT], jobs: tuple[JobT, ...]
    ) -> Future[Batch[ResultT]]:
        future: Future[Batch[ResultT]] = Future()
        future.set_result(run_batch(worker, jobs, lambda _: None))
        if self.submitted in self._lost:
            future = Future()
            future.set_exception(ProcessEndedError("it ended"))
        self.submitted += 1
        return future

    def output(self) -> str:
        return ""

    def stop(self, _running: Collection[Future[Batch[Any]]]) -> None:
        pass

    def close(self, *, by_force: bool) -> None:
        pass


def measure_with(folder: Path, log: Path, open_pool: OpenPool, normalizer: str = "") -> Measured:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "PART_BYTES", 4_000)
        work = PartWork(str(folder), normalizer=normalizer)
        counts = list(measure_parts(parts_of([str(log)]), work, 1, open_pool))
    found = measured(folder)
    assert sum(each.turns for each in counts) == found.turns + found.duplicates
    return found


def test_a_lost_process_loses_and_doubles_nothing(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", 60)
    whole = measure_with(tmp_path / "one", log, lambda _: Here())
    assert whole.turns == 60
    pool = Here(lost={2, 5, 7})
    assert measure_with(tmp_path / "two", log, lambda _: pool) == whole
    assert pool.submitted == len(list((tmp_path / "one").glob("*.parquet"))) + 3


def test_a_part_whose_process_always_ends_ends_the_command(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", 1)
    with pytest.raises(UsageError, match="ended 4 times"):
        measure_with(tmp_path / "rows", log, lambda _: Here(lost=range(9)))


ENDS_SOMETIMES = """
import os
from harness.normalizers.respond import respond

def normalize(interaction, reads):
    body = b"".join(reads)
    if b'"id":"7"' in body:
        os._exit(3)
    if b'"id":"9"' in body:
        raise ValueError("a bug")
    return respond(interaction, iter([body]))
"""


def test_dask_gives_the_same_numbers(
    tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_log(tmp_path / "a.jsonl", 20)
    (tmp_path / "ends_sometimes.py").write_text(ENDS_SOMETIMES)
    monkeypatch.chdir(tmp_path)
    name = "ends_sometimes:normalize"
    whole = measure_with(tmp_path / "here", log, lambda _: Here(), name)
    # The client is wrong in two turns, and ends its process in one of them.
    assert whole.outcomes == {"crash": 2, "parse_error": 5, "pass": 13}
    assert sum(each.n for each in whole.signatures if each.blame == "normalizer") == 2
    with open_engine(cluster, paths=[str(log)]) as engine:
        assert engine.threads == 2
        assert measure_with(tmp_path / "there", log, engine.open_pool, name) == whole


def test_a_normalizer_of_the_harness_is_judged_as_in_a_run(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", 40)
    good = measure_with(tmp_path / "good", log, lambda _: Here(), "reference")
    assert good.outcomes == {"parse_error": 10, "pass": 30}
    bad = measure_with(tmp_path / "bad", log, lambda _: Here(), "naive")
    assert sum(bad.outcomes.values()) == 40
    assert bad.outcomes.keys() - {"parse_error", "pass"}
    wrong = {each.signature.partition(": ")[0] for each in bad.signatures}
    assert wrong == bad.outcomes.keys() - {"parse_error", "pass"}


def test_a_dialect_without_support_is_skipped(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(json.dumps({**record(1), "dialect": "tgi"}))
    counts = list(
        measure_parts(
            parts_of([str(log)]), PartWork(str(tmp_path), {}, "naive"), 1, lambda _: Here()
        )
    )
    assert [(each.turns, each.skipped, each.damaged) for each in counts] == [(0, 1, 0)]
    assert counts[0].examples[0].why == "naive does not support tgi"


@pytest.mark.parametrize(
    ("on", "what"),
    [("dsk://x", "expected `local` or `dask://HOST:PORT`, found 'dsk://x'")],
)
def test_a_wrong_place_to_run_is_named(on: str, what: str) -> None:
    with pytest.raises(UsageError) as caught, open_engine(on):
        pass
    assert caught.value.what == what


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["measure", *map(str, arguments)], standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, UsageError), result.exception
    return result.return_value, result.stdout, result.stderr


@pytest.fixture
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.runs.engine.LOCAL_ENGINE", Engine(lambda _: Here()))


@pytest.mark.usefixtures("_in_this_process")
def test_the_command_prints_rates_and_keeps_samples_without_secrets(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", 40)
    with log.open("a") as file:
        file.write(json.dumps(record(3)) + "\n")
    output = tmp_path / "out"
    code, text, errors = run(log, "-o", output)
    assert code == 0
    assert text.startswith("40 turns: 75.0 % succeeded, 25.0 % have a parse error\n1 equal")
    assert "parse error · " in text
    assert errors == f"3 failed turns in {output / 'samples'}\n"
    samples = sorted(output.glob("samples/*.yaml"))
    assert len(samples) == 3
    assert all(SECRET not in each.read_text() for each in samples)
    assert load_cassette(samples[0]).interactions[0].body == BROKEN.format(id=0).encode()
    found = msgspec.json.decode((output / "measured.json").read_bytes(), type=Measured)
    days = [(line.names, line.turn_success.n) for line in found.by["day"]]
    assert sorted(days) == [(("2026-01-01",), 14), (("2026-01-02",), 13), (("2026-01-03",), 13)]
    code, again, _ = run(log, "-o", output, "--format", "json", "--no-samples")
    assert msgspec.json.decode(again, type=Measured) == found
    assert not (output / "samples").exists()


@pytest.mark.usefixtures("_in_this_process")
def test_the_command_says_what_it_could_not_read(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text("{\n")
    code, text, errors = run(log, "-o", tmp_path / "out")
    assert (code, text) == (2, "")
    assert errors.startswith(f"1 record, cannot be read:\n  {log}#0: no JSON: ")
    log.write_text(json.dumps({"type": "SPAN", "output": 1, "trace_id": "t"}))
    assert run(log, "-o", tmp_path / "out")[0] == 5
    mapping = tmp_path / "map.yaml"
    mapping.write_text("boddy: x")
    with pytest.raises(UsageError, match="unknown key `boddy`"):
        cli(["measure", str(log), "--map", str(mapping)], standalone_mode=False)
