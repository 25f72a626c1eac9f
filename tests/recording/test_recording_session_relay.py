"""The proxy relays WebSocket connections byte by byte, and keeps them through a kill."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import shipped
from harness.playback.playback import Playback
from harness.playback.server import PlaybackServer
from harness.recording.proxy import RecordingProxy
from harness.recording.recorder import Recorder
from harness.recording.secrets.scrubber import Scrubber
from harness.recording.session_relay import SessionJournal, recover_sessions
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Request
from harness.wire.reads import synthetic_interaction

client = pytest.importorskip("websockets.sync.client")

_CREATE = '{"type": "response.create", "model": "gpt-5.4", "input": "hi"}'
_SESSIONS = 25


def _pattern() -> Cassette:
    folder = Path(shipped.bundled_folder("cassettes"))
    return load_cassette(folder / "openai/gpt-5.4/ws-call.yaml")


def test_sessions_at_once_are_relayed_and_recorded_byte_by_byte(tmp_path: Path) -> None:
    pattern = _pattern().interactions[0]
    bodies = [pattern.body.replace(b"resp_1", b"resp_%d" % n) for n in range(_SESSIONS)]
    made = tuple(synthetic_interaction(it, pattern.request, status=101) for it in bodies)
    size = len(pattern.body.splitlines())
    upstream = PlaybackServer(Playback(Cassette("many", made, Origin("emulated"))))
    recorder = Recorder(tmp_path / "c.yaml", mode="all", allow_in_ci=True)
    with upstream, recorder, RecordingProxy(recorder, upstream.base_url) as proxy:
        address = f"{proxy.base_url.replace('http', 'ws')}/v1/responses"

        def ask(_: int) -> bytes:
            with client.connect(address) as connection:
                connection.send(_CREATE)
                return "".join(f"{connection.recv()}\n" for _ in range(size)).encode()

        with ThreadPoolExecutor(_SESSIONS) as pool:
            assert sorted(pool.map(ask, range(_SESSIONS))) == sorted(bodies)
    kept = [load_cassette(path) for path in tmp_path.glob("c.session-*.yaml")]
    assert sorted(each.interactions[0].body for each in kept) == sorted(bodies)
    assert not list(tmp_path.glob("*.partial"))


def test_a_killed_recorder_loses_no_message_that_was_forwarded(tmp_path: Path) -> None:
    (interaction,) = _pattern().interactions
    headers = (("authorization", "Bearer abcdef0123456789abcdef"),)
    request = Request("GET", "https://api.openai.com/v1/responses", headers)
    journal = SessionJournal(tmp_path / "c.yaml", request, Scrubber())
    journal.add("client", _CREATE.encode(), "text")
    for line in interaction.body.splitlines():
        journal.add("server", line, "text")
    journal.close()  # as a kill does, without a cassette
    partial = tmp_path / "c.session-1.yaml.partial"
    assert b"abcdef" not in partial.read_bytes()
    partial.write_bytes(partial.read_bytes() + b'{"side": "ser')
    (path,) = recover_sessions(tmp_path / "c.yaml")
    cassette = load_cassette(path)
    assert cassette.interactions[0].body == interaction.body
    assert (cassette.model, cassette.origin.kind) == ("gpt-5.4", "recorded")
    assert not partial.exists()
