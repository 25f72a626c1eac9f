"""No exchange that ended is lost if the recorder is killed, and each is in the cassette once."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.errors import BlockedRequestError, RecordingError, UsageError
from harness.files.write import partial_path
from harness.recording.recorder import Recorder
from harness.recording.recorder.options import RecordingLabels
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Request
from tests.files.test_files_write import full_at

KEY = "a1b2c3d4e5f6-credential"


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def exchange(recorder: Recorder, name: str, body: bytes = b"data: {}\n\n", key: str = KEY) -> None:
    headers = (("authorization", f"Bearer {key}"),)
    response = recorder.record(Request("POST", f"http://localhost/{name}", headers, b"{}"))
    response.head(200, (("content-type", "text/event-stream"),))
    response.add(body)
    response.end("complete")


def killed(path: Path, folder: Path) -> Path:
    """Return the cassette in a copy of its folder, as a kill would leave it now."""
    shutil.copytree(path.parent, folder)
    return folder / path.name


def names(path: Path) -> list[str]:
    return [each.request.uri.rpartition("/")[2] for each in load_cassette(path).interactions]


@pytest.mark.parametrize("mode", ["once", "new_episodes", "all"])
def test_each_moment_leaves_what_ended_once(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "a" / "c.yaml"
    labels = RecordingLabels(model="m1")
    if mode != "once":
        with Recorder(path, mode=mode, labels=labels) as recorder:
            exchange(recorder, "old")
    old = ["old"] if path.exists() else []
    moments: list[tuple[Path, list[str]]] = []

    def note(*ended: str) -> None:
        moments.append((killed(path, tmp_path / f"{len(moments)}"), [*old, *ended]))

    recorder = Recorder(path, mode=mode, labels=labels)
    recorder.open()
    note()
    exchange(recorder, "a")
    note("a")
    recorder.checkpoint()
    assert names(path) == [*old, "a"]
    note("a")
    late = recorder.record(Request("POST", "http://localhost/late", (), b"{}"))
    exchange(recorder, "b")
    late.head(200, ())
    late.add(b"data: late\n\n")
    note("a", "b")
    late.end("complete")
    recorder.checkpoint()
    note("a", "late", "b")
    recorder.save()
    note("a", "late", "b")
    for copy, ended in moments:
        with Recorder(copy, mode=mode, labels=labels) as again:
            pass
        assert not partial_path(copy).exists()
        assert again.recovered <= len(ended)
        assert (names(copy) if copy.exists() else []) == ended
        assert not copy.exists() or load_cassette(copy).model == "m1"


@example(cut=1)
@given(cut=st.integers(0, 3_000))
def test_a_cut_line_costs_its_exchange_only(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    recorder = Recorder(folder / "a" / "c.yaml", mode="all", allow_in_ci=True)
    for name in "abcd":
        exchange(recorder, name)
    path = killed(recorder.path, folder / "b")
    recorder.save()
    data = partial_path(path).read_bytes()
    end = max(0, len(data) - cut)
    partial_path(path).write_bytes(data[:end])
    Recorder(path, mode="all", allow_in_ci=True)
    # A line that lacks only its line end has the whole exchange.
    complete = data[: end + 1].count(b"\n") - 1
    assert (names(path) if path.exists() else []) == list("abcd")[: max(0, complete)]


def test_checkpoints_of_several_threads_are_written_one_after_the_other(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", mode="all")
    exchange(recorder, "large", b"data: {}\n\n" * 40_000)  # which takes a moment to write

    def record(client: int) -> None:
        for n in range(5):
            exchange(recorder, f"{client}.{n}")
            recorder.checkpoint()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(record, range(4)))
    assert len(names(recorder.path)) == 21
    recorder.save()


def test_a_killed_recording_goes_on_in_mode_once(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a" / "c.yaml", mode="once")
    exchange(recorder, "a")
    path = killed(recorder.path, tmp_path / "b")
    recorder.save()
    first, second = (Request("POST", f"http://localhost/{name}", (), b"{}") for name in "ab")
    with Recorder(path, mode="once") as again:
        assert again.recovered == 1
        assert again.play(first) is not None
        assert again.play(second) is None
        exchange(again, "b")
    assert names(path) == ["a", "b"]
    with Recorder(path, mode="once") as done, pytest.raises(BlockedRequestError):
        done.play(Request("POST", "http://localhost/c", (), b"{}"))


def test_the_journal_has_no_secret_also_of_a_later_request(tmp_path: Path) -> None:
    path, later = tmp_path / "c.yaml", "zz99yy88xx77-from-a-login"
    recorder = Recorder(path, mode="all")
    exchange(recorder, "login", f'data: {{"said": "{KEY} {later}"}}\n\n'.encode())
    assert KEY not in partial_path(path).read_text()
    exchange(recorder, "use", key=later)
    recorder.checkpoint()
    assert later not in partial_path(path).read_text()
    recorder.save()
    assert later not in path.read_text()
    assert names(path) == ["login", "use"]


def test_an_exchange_that_cannot_be_written_does_not_cost_the_others(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", mode="all")
    split = b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n'
    told = b'{"logprobs": {"content": []}}\n' + split % b"sk-abcdefgh" + split % b"ijklmnopq"
    exchange(recorder, "a")
    exchange(recorder, "refused", told)
    exchange(recorder, "b")
    with pytest.raises(RecordingError, match="it is split over events"):
        recorder.save()
    assert names(recorder.path) == ["a", "b"]
    (reason,) = recorder.left_out()
    assert "interactions[1]" in reason
    assert not partial_path(recorder.path).exists()


def test_an_unusable_folder_is_noticed_before_a_request_is_sent(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    recorder = Recorder(tmp_path / "file" / "c.yaml", mode="all")
    client = httpx.Client(transport=recorder.transport(httpx, httpx.MockTransport(answer)))
    with client, pytest.raises(UsageError, match="cannot write the recording"):
        client.post("http://localhost/a")
    assert not sent


def test_a_full_disk_costs_the_client_nothing_and_is_reported(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", mode="all")
    exchange(recorder, "a")
    with full_at(1_000):
        exchange(recorder, "b", b"data: " + b"x" * 2_000 + b"\n\n")
        with pytest.raises(OSError, match="File too large"):
            recorder.checkpoint()
        again = killed(recorder.path, tmp_path / "again")
        with pytest.raises(RecordingError, match="cannot write the cassette: File too large"):
            recorder.save()
    assert (len(recorder.recorded), recorder.left_out()) == (1, {"not written": 1})
    Recorder(again, mode="all")
    assert names(again) == ["a"]
    recorder.save()
    assert names(recorder.path) == ["a", "b"]


def test_a_cassette_has_one_recorder(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    with Recorder(path, mode="all") as recorder:
        exchange(recorder, "a")
        with pytest.raises(UsageError, match="another recorder writes this cassette"):
            Recorder(path, mode="all")
        Recorder(path)
    assert names(path) == ["a"]


def test_filters_see_each_exchange_once(tmp_path: Path) -> None:
    seen: list[bytes] = []

    def filtered(response: dict[str, Any]) -> dict[str, Any]:
        seen.append(response["body"]["string"])
        return response

    filters = {"before_record_response": filtered}
    with Recorder(tmp_path / "c.yaml", mode="all", filters=filters) as recorder:
        exchange(recorder, "a")
        recorder.checkpoint()
        exchange(recorder, "b", key="another-key-1234")
        recorder.checkpoint()
    assert seen == [b"data: {}\n\n"] * 2
