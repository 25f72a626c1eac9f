"""What a client streams through the transport or the proxy is kept as the server sent it."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import httpx
import httpx2
import msgspec
import pytest
import vcr  # type: ignore[import-untyped]  # vcrpy ships no types
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BlockedRequestError, RecordingError, UsageError
from harness.playback.playback import Playback
from harness.playback.server import PlaybackServer
from harness.recording.proxy import RecordingProxy
from harness.recording.recorder import Recorder
from harness.recording.recorder.options import RecordingLabels
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.secrets.scrubber import Scrubber
from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.interaction import Read, Request
from tests.recording.paced_server import EVENTS, End, Framing, PacedServer, event

PATH = "/v1/chat/completions"
ASKED = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
KEY = "a1b2c3d4e5f6-credential"

# Streams through a client: calls the second argument with each piece as it has it.
Way: TypeAlias = Callable[[Recorder, str, Callable[[bytes], None]], None]


def _sync(library: ModuleType) -> Way:
    def ask(recorder: Recorder, url: str, seen: Callable[[bytes], None]) -> None:
        with library.Client(transport=recorder.transport(library)) as client:
            _read(client, url + PATH, seen)

    return ask


def _async(library: ModuleType) -> Way:
    def ask(recorder: Recorder, url: str, seen: Callable[[bytes], None]) -> None:
        async def read() -> None:
            client = library.AsyncClient(transport=recorder.transport(library))
            headers = {"authorization": f"Bearer {KEY}"}
            async with (
                client,
                client.stream("POST", url + PATH, json=ASKED, headers=headers) as response,
            ):
                async for piece in response.aiter_raw():
                    seen(piece)

        asyncio.run(read())

    return ask


def _proxy(recorder: Recorder, url: str, seen: Callable[[bytes], None]) -> None:
    with RecordingProxy(recorder, url) as proxy, httpx.Client() as client:
        _read(client, proxy.base_url + PATH, seen)


def _read(client: Any, url: str, seen: Callable[[bytes], None]) -> None:  # noqa: ANN401 - a client of one of two libraries
    headers = {"authorization": f"Bearer {KEY}"}
    with client.stream("POST", url, json=ASKED, headers=headers) as response:
        for piece in response.iter_raw():
            seen(piece)


WAYS: dict[str, Way] = {
    "httpx": _sync(httpx),
    "httpx-async": _async(httpx),
    "httpx2": _sync(httpx2),
    "httpx2-async": _async(httpx2),
    "proxy": _proxy,
}
EACH_WAY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
BROKEN = (httpx.TransportError, httpx2.TransportError)


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def record(way: Way, server: PacedServer, path: Path, **options: Any) -> list[bytes]:  # noqa: ANN401 - options of a recorder
    """Record one exchange with `server`; return the pieces that the client saw."""
    pieces: list[bytes] = []

    def seen(piece: bytes) -> None:
        pieces.append(piece)
        server.seen()

    with server.running(), Recorder(path, mode="all", **options) as recorder:
        way(recorder, server.url, seen)
    return pieces


@EACH_WAY
@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
def test_bytes_and_reads_are_those_that_the_server_sent(
    way: Way, framing: Framing, tmp_path: Path
) -> None:
    server = PacedServer(EVENTS, framing=framing)
    pieces = record(way, server, tmp_path / "a.yaml")
    kept = load_cassette(tmp_path / "a.yaml").interactions[0]
    sent = [piece for _, piece in server.sends]
    assert pieces == sent == list(EVENTS)
    assert not server.impatient, "the client had no event before the server sent the next"
    assert kept.body == b"".join(sent)
    assert [read.size for read in kept.reads] == list(map(len, sent))
    assert kept.reads_kept
    assert kept.ended == "complete"


@EACH_WAY
@pytest.mark.parametrize(
    ("end", "framing"), [("reset", "chunked"), ("truncated", "chunked"), ("truncated", "length")]
)
def test_a_broken_body_is_kept_as_such_and_replayed_as_such(
    way: Way, end: End, framing: Framing, tmp_path: Path
) -> None:
    path = tmp_path / "a.yaml"
    with pytest.raises(BROKEN):
        record(way, PacedServer(EVENTS[:2], end=end, framing=framing), path)
    cassette = load_cassette(path)
    assert cassette.interactions[0].ended == end
    assert cassette.interactions[0].body == b"".join(EVENTS[:2])
    for library in (httpx, httpx2):
        seen: list[bytes] = []
        with (
            library.Client(transport=Playback(cassette).transport(library)) as client,
            pytest.raises(library.TransportError),
        ):
            _read(client, "http://localhost" + PATH, seen.append)
        assert seen == list(EVENTS[:2])
    expected = httpx.ReadError if end == "reset" else httpx.RemoteProtocolError
    with (
        PlaybackServer(Playback(cassette)) as server,
        httpx.Client() as client,
        pytest.raises(expected),
    ):
        _read(client, server.base_url + PATH, seen.append)


@EACH_WAY
def test_a_client_that_leaves_is_an_abort(way: Way, tmp_path: Path) -> None:
    class LeftError(Exception):
        pass

    server = PacedServer(EVENTS, gated=False)

    def leave(_piece: bytes) -> None:
        raise LeftError

    with (
        server.running(),
        Recorder(tmp_path / "a.yaml", mode="all") as recorder,
        pytest.raises(LeftError),
    ):
        way(recorder, server.url, leave)
    kept = load_cassette(tmp_path / "a.yaml").interactions[0]
    assert b"".join(EVENTS).startswith(kept.body)
    assert kept.ended == "aborted" or way is _proxy  # the proxy may have had it all by then


@EACH_WAY
def test_the_client_gets_the_content_encoding_and_the_cassette_the_text(
    way: Way, tmp_path: Path
) -> None:
    packed = gzip.compress(b"".join(EVENTS), mtime=0)
    cuts = [packed[:5], packed[5:60], packed[60:]]
    server = PacedServer(cuts, headers=["content-encoding: gzip"])
    assert b"".join(record(way, server, tmp_path / "a.yaml")) == packed
    kept = load_cassette(tmp_path / "a.yaml").interactions[0]
    assert (kept.body, kept.encoding) == (b"".join(EVENTS), "gzip")
    assert not kept.header("content-encoding")
    assert 1 <= len(kept.reads) <= len(cuts)


@EACH_WAY
def test_credentials_go_to_the_server_and_not_to_the_file(way: Way, tmp_path: Path) -> None:
    server = PacedServer([event(f"Wrong key {KEY[:9]}"), event(f"{KEY[9:]}.")])
    pieces = record(way, server, tmp_path / "a.yaml")
    assert KEY.encode() in server.requests[0][0]
    text = (tmp_path / "a.yaml").read_text("utf-8")
    kept = load_cassette(tmp_path / "a.yaml").interactions[0]
    assert KEY not in text
    assert KEY[:9] not in text
    assert [read.size for read in kept.reads] == list(map(len, pieces))


def test_transport_and_proxy_keep_the_same(tmp_path: Path) -> None:
    for name, way in WAYS.items():
        record(way, PacedServer(EVENTS), tmp_path / f"{name}.yaml")
    kept = [load_cassette(tmp_path / f"{name}.yaml").interactions[0] for name in WAYS]
    assert len({(each.body, tuple(read.size for read in each.reads)) for each in kept}) == 1
    assert len({(each.request.method, each.request.body, each.status) for each in kept}) == 1


@EACH_WAY
def test_vcrpy_replays_what_was_recorded(way: Way, tmp_path: Path) -> None:
    server = PacedServer(EVENTS)
    record(way, server, tmp_path / "a.yaml")
    with vcr.use_cassette(str(tmp_path / "a.yaml"), record_mode="none"):
        response = httpx.post(server.url + PATH, json=ASKED)
    assert response.content == b"".join(EVENTS)
    assert response.headers["content-type"] == "text/event-stream"


@EACH_WAY
def test_what_was_recorded_is_played_and_nothing_else(way: Way, tmp_path: Path) -> None:
    server = PacedServer(EVENTS)
    path = tmp_path / "a.yaml"
    pieces = record(way, server, path)
    before = path.read_bytes()
    seen: list[bytes] = []
    with Recorder(path) as recorder:
        way(recorder, server.url, seen.append)
        with pytest.raises(BlockedRequestError, match="sends no requests"):
            recorder.play(Request("POST", server.url + PATH, (), b"{}"))
    assert seen == pieces
    assert path.read_bytes() == before


def _names(mode: str, path: Path) -> Iterator[str]:
    """Yield what a recorder does with three requests, of which the first is recorded."""
    with Recorder(path, mode=mode, match_on=("method", "path")) as recorder:
        for name in ("old", "new", "new"):
            request = Request("POST", f"http://localhost/{name}", (), b"{}")
            try:
                answer = recorder.play(request)
            except BlockedRequestError:
                yield "blocked"
                continue
            if answer is None:
                tape = recorder.record(request)
                tape.head(200, ())
                tape.add(b"data: new\n\n")
                tape.end("complete")
            yield "played" if answer else "recorded"


def _old(path: Path) -> Path:
    with Recorder(path, mode="once") as recorder:
        for name in ("old", "other"):
            tape = recorder.record(Request("POST", f"http://localhost/{name}", (), b"{}"))
            tape.head(200, ())
            tape.add(b"data: old\n\n")
            tape.end("complete")
    return path


@pytest.mark.parametrize(
    ("mode", "does", "kept"),
    [
        ("none", ["played", "blocked", "blocked"], ["old", "other"]),
        ("once", ["played", "blocked", "blocked"], ["old", "other"]),
        ("new_episodes", ["played", "recorded", "recorded"], ["old", "other", "new", "new"]),
        ("any", ["played", "recorded", "recorded"], ["old", "other", "new", "new"]),
        ("all", ["recorded", "recorded", "recorded"], ["other", "old", "new", "new"]),
    ],
)
def test_the_record_modes_do_as_vcrpys(
    mode: str, does: list[str], kept: list[str], tmp_path: Path
) -> None:
    path = _old(tmp_path / "a.yaml")
    assert list(_names(mode, path)) == does
    uris = [each.request.uri for each in load_cassette(path).interactions]
    assert [uri.rpartition("/")[2] for uri in uris] == kept


def test_a_request_that_was_played_out_is_recorded_beside_the_old_one(tmp_path: Path) -> None:
    path = _old(tmp_path / "a.yaml")
    request = Request("POST", "http://localhost/old", (), b"{}")
    with Recorder(path, mode="new_episodes") as recorder:
        assert recorder.play(request) is not None
        assert recorder.play(request) is None
        tape = recorder.record(request)
        tape.head(200, ())
        tape.add(b"data: new\n\n")
    bodies = [each.body for each in load_cassette(path).interactions]
    assert bodies == [b"data: old\n\n", b"data: old\n\n", b"data: new\n\n"]


@pytest.mark.parametrize("mode", ["new_episodes", "any", "all"])
def test_what_a_cassette_says_of_itself_stays_where_interactions_of_it_do(
    mode: str, tmp_path: Path
) -> None:
    path = _old(tmp_path / "a.yaml")
    tools = ({"name": "f", "description": "", "parameters": {}},)
    labels = {"provider": "p", "model": "m", "prompt": "ours/v7"}
    said = msgspec.structs.replace(load_cassette(path), **labels).with_each(tools=tools, due="call")
    save_cassette(said.with_each(dialect="ollama"), path)
    list(_names(mode, path))
    found = load_cassette(path)
    assert {name: getattr(found, name) for name in labels} == labels
    assert (found.tools, found.due, found.dialect) == (tools, "call", "ollama")
    with Recorder(
        path, mode="new_episodes", labels=RecordingLabels(model="m2", due="answer")
    ) as recorder:
        recorder.record(Request("POST", "http://localhost/b")).head(200, ())
    assert (load_cassette(path).model, load_cassette(path).provider, load_cassette(path).due) == (
        "m2",
        "p",
        "answer",
    )


def test_an_empty_cassette_blocks_by_default_and_records_once(tmp_path: Path) -> None:
    assert list(_names("none", tmp_path / "a.yaml")) == ["blocked"] * 3
    assert not (tmp_path / "a.yaml").exists()
    assert list(_names("once", tmp_path / "a.yaml")) == ["recorded"] * 3


@pytest.mark.parametrize("mode", ["once", "new_episodes", "any", "all"])
def test_nothing_records_in_ci_unless_allowed(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(UsageError, match="CI is set"):
        Recorder(tmp_path / "a.yaml", mode=mode)
    Recorder(tmp_path / "a.yaml", mode=mode, allow_in_ci=True)
    Recorder(tmp_path / "a.yaml", mode="none")


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown record mode 'always'"):
        Recorder(tmp_path / "a.yaml", mode="always")


def _taped(recorder: Recorder, body: bytes, sent: bytes = b"{}") -> ResponseRecorder:
    tape = recorder.record(Request("POST", "http://localhost/v1/chat/completions", (), sent))
    tape.head(200, (("content-type", "application/json"), ("x-odd", "1")))
    tape.add(body)
    tape.end("complete")
    return tape


def test_recording_fails_closed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.yaml", mode="all")
    _taped(recorder, b'{"logprobs": {"content": []}}\n' + event("sk-abcdefgh") + event("ijklmnopq"))
    with pytest.raises(RecordingError, match="it is split over events"):
        recorder.save()
    assert not list(tmp_path.iterdir())


def test_labels_with_a_secret_are_refused(tmp_path: Path) -> None:
    labels = RecordingLabels(model="sk-abcdefghijklmnopqrst")
    with pytest.raises(RecordingError, match="labels without secrets"):
        Recorder(tmp_path / "a.yaml", mode="all", labels=labels)
    assert not list(tmp_path.iterdir())


def test_headers_are_kept_by_name(tmp_path: Path) -> None:
    for keep, found in (((), ""), (("X-Odd",), "1")):
        with Recorder(
            tmp_path / "a.yaml", mode="all", scrubber=Scrubber(keep_headers=keep)
        ) as recorder:
            _taped(recorder, b"{}")
        assert load_cassette(tmp_path / "a.yaml").interactions[0].header("x-odd") == found
        assert load_cassette(tmp_path / "a.yaml").interactions[0].header("content-type")


def test_vcrpys_filters_apply(tmp_path: Path) -> None:
    filters = {"filter_post_data_parameters": ["secret"], "before_record_response": _shouting}
    with Recorder(tmp_path / "a.yaml", mode="all", filters=filters) as recorder:
        _taped(recorder, b"data: quiet\n\n")
    assert load_cassette(tmp_path / "a.yaml").interactions[0].body == b"DATA: QUIET\n\n"
    with pytest.raises(UsageError, match="unknown filter 'filter_everything'"):
        Recorder(tmp_path / "a.yaml", filters={"filter_everything": True})
    shorter = Recorder(tmp_path / "b.yaml", mode="all", filters={"before_record_response": _empty})
    _taped(shorter, b"data: quiet\n\n")
    with pytest.raises(UsageError, match="keeps the body's 13 bytes"):
        shorter.save()


def _shouting(response: dict[str, Any]) -> dict[str, Any]:
    return {**response, "body": {"string": response["body"]["string"].upper()}}


def _empty(response: dict[str, Any]) -> dict[str, Any]:
    return {**response, "body": {"string": b""}}


@given(
    steps=st.lists(st.tuples(st.binary(max_size=5), st.floats(0, 100)), max_size=20),
)
def test_delays_add_up_to_the_time_that_passed(steps: list[tuple[bytes, float]]) -> None:
    now = [0.0]
    tape = ResponseRecorder(Request(), lambda: now[0])
    tape.head(200, ())
    for piece, wait in steps:
        now[0] += wait
        tape.add(piece)
    kept = tape.interaction()
    pieces = [piece for piece, _ in steps if piece]
    assert [read.size for read in kept.reads] == list(map(len, pieces))
    last = sum(
        wait for _, wait in steps[: max((n + 1 for n, s in enumerate(steps) if s[0]), default=0)]
    )
    assert abs(sum(read.delay_ms for read in kept.reads) - last * 1_000) <= 1
    assert kept.ended == "aborted"
    assert all(isinstance(read, Read) for read in kept.reads)


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        (b"data: {}\n\ndata: [DONE]\n\n", "complete"),
        (b"data: {}\r\n\r\ndata:[DONE]\r\n", "complete"),
        (b"data: {}\n\ndata: [DONE", "aborted"),
        (b"data: [DONE]\n\ndata: {}\n\n", "aborted"),
        (b'data: "data: [DONE]"\n\n', "aborted"),
    ],
)
def test_a_client_that_leaves_after_the_last_event_has_all(body: bytes, ended: str) -> None:
    tape = ResponseRecorder(Request())
    tape.head(200, ())
    tape.add(body)
    tape.end("aborted")
    assert tape.interaction().ended == ended
    broken = ResponseRecorder(Request())
    broken.head(200, ())
    broken.add(body)
    broken.end("reset")
    assert broken.interaction().ended == "reset"


def test_a_response_that_is_too_large_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.recording.recorder.response.MAX_BODY_BYTES", 10)
    recorder = Recorder(tmp_path / "a.yaml", mode="all")
    _taped(recorder, b"0123456789a")
    with pytest.raises(RecordingError, match="too large"):
        recorder.save()


def test_an_exchange_of_tokens_reaches_the_client_and_is_not_written(tmp_path: Path) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/token":
            return httpx.Response(200, json={"access_token": KEY})
        return httpx.Response(200, content=b"".join(EVENTS))

    path = tmp_path / "a.yaml"
    recorder = Recorder(path, mode="all")
    transport = recorder.transport(httpx, httpx.MockTransport(answer))
    with recorder, httpx.Client(transport=transport, base_url="https://llm.example.com") as client:
        login = {"grant_type": "client_credentials", "client_secret": KEY}
        assert client.post("/token", data=login).json() == {"access_token": KEY}
        client.post(PATH, json=ASKED)
    (kept,) = load_cassette(path).interactions
    assert kept.request.uri.endswith(PATH)
    assert (recorder.count, recorder.left_out()) == (2, {"an OAuth token exchange": 1})
    assert KEY not in path.read_text()
    with Recorder(tmp_path / "b.yaml", mode="all") as alone:
        transport = alone.transport(httpx, httpx.MockTransport(answer))
        httpx.Client(transport=transport).post("https://llm.example.com/token", data=login)
    assert not alone.path.exists()
