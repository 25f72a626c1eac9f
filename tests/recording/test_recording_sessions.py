"""Sessions are imported from archives, flows and pasted lines, and their responses are found."""

import base64
import json
from pathlib import PurePath
from typing import Any

from harness.dialects.table import DIALECTS, oracle_reading, tool_names
from harness.recording.importing import Imported, Labels, import_file
from harness.recording.secrets.scrubber import iter_leaks
from harness.shipped import bundled_folder
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import parse_cassette
from harness.wire.cassette_text import format_cassette
from tests.tables import each_row

Json = dict[str, Any]


def _created(response: str) -> Json:
    made = {"id": response, "object": "response", "status": "in_progress", "model": "gpt-5.4"}
    return {"type": "response.created", "response": made}


def _completed(response: str, text: str = "Hi") -> list[Json]:
    item = {"type": "message", "id": f"m_{response}", "role": "assistant"}
    part = {"type": "output_text", "text": text}
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {
            "type": "response.output_text.delta",
            "output_index": 0,
            "item_id": item["id"],
            "delta": text,
        },
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {**item, "content": [part]},
        },
        {
            "type": "response.completed",
            "response": {**_created(response)["response"], "status": "completed", "output": []},
        },
    ]


_ASK = {
    "type": "response.create",
    "model": "gpt-5.4",
    "input": "hi",
    "tools": [{"type": "function", "name": "f"}],
}
_ONE = [_created("resp_1"), *_completed("resp_1")]
_TWO = [_created("resp_2"), *_completed("resp_2", "Ho")]
_LIMITS = {"type": "rate_limits.updated", "event_id": "e", "rate_limits": []}


def _import(text: str, name: str = "log.txt") -> Imported:
    return import_file(PurePath(name), text.encode(), name, Labels())


def _texts(cassette: Cassette) -> list[str | None]:
    return [oracle_reading(each).text for each in cassette.interactions]


def _har(messages: list[Json]) -> str:
    request = {"method": "GET", "url": "wss://api.openai.com/v1/responses", "headers": []}
    response = {"status": 101, "headers": [], "content": {}}
    entry = {"request": request, "response": response, "_webSocketMessages": messages}
    return json.dumps({"log": {"entries": [entry]}})


def _sent(kind: str, event: Json, time: float = 0, opcode: int = 1) -> Json:
    text = json.dumps(event)
    data = text if opcode == 1 else base64.b64encode(text.encode()).decode()
    return {"type": kind, "time": time, "opcode": opcode, "data": data}


def test_an_archive_of_two_responses_has_two_turns() -> None:
    events = [_sent("receive", event, n) for n, event in enumerate([*_ONE, _LIMITS])]
    later = [_sent("receive", event, 20 + n) for n, event in enumerate(_TWO)]
    found = _import(
        _har([_sent("send", _ASK, 0), *events, _sent("send", _ASK, 19), *later]), "a.har"
    )
    (cassette,) = found.cassettes
    assert (cassette.provider, cassette.model, cassette.dialect) == (
        "openai",
        "gpt-5.4",
        "openai-responses",
    )
    assert _texts(cassette) == ["Hi", "Ho"]
    assert [tool_names(each) for each in cassette.interactions] == [frozenset("f")] * 2
    assert [each.reads[0].delay_ms for each in cassette.interactions] == [0, 1000]


def test_binary_messages_of_an_archive_are_decoded() -> None:
    messages: list[Json] = [
        {"setupComplete": {}},
        {"serverContent": {"modelTurn": {"parts": [{"text": "Hi"}]}}},
    ]
    events = [_sent("receive", event, 0, 2) for event in messages]
    (cassette,) = _import(
        _har([*events, _sent("receive", {"serverContent": {"turnComplete": True}})]), "a.har"
    ).cassettes
    assert cassette.dialect == "gemini-live"
    assert _texts(cassette) == ["Hi"]
    assert cassette.session is not None
    assert [frame.opcode for frame in cassette.session.frames] == ["binary", "binary", "text"]


def _tnetstring(value: object) -> bytes:
    """Return a value as mitmproxy stores it."""
    if isinstance(value, list | dict):
        parts = value if isinstance(value, list) else [it for pair in value.items() for it in pair]
        data, kind = b"".join(map(_tnetstring, parts)), b"]" if isinstance(value, list) else b"}"
    elif isinstance(value, bytes):
        data, kind = value, b","
    else:
        kinds = {bool: b"!", str: b";", int: b"#", float: b"^"}
        text = str(value).lower() if isinstance(value, bool) else str(value)
        data, kind = text.encode(), kinds[type(value)]
    return b"%d:%b%b" % (len(data), data, kind)


def test_flows_of_mitmproxy_have_sessions_and_close_codes() -> None:
    sent = [[1, True, json.dumps(_ASK).encode(), 1.5, False, False]]
    received = [[1, False, json.dumps(event).encode(), 2.0, False, False] for event in _ONE[:-1]]
    socket = {
        "messages": sent + received,
        "close_code": 1011,
        "close_reason": "",
        "closed_by_client": False,
        "timestamp_end": 3.0,
    }
    request = {
        "method": b"GET",
        "scheme": b"https",
        "host": "api.openai.com",
        "port": 443,
        "path": b"/v1/responses",
        "headers": [],
    }
    flow = {
        "request": request,
        "response": {"status_code": 101, "headers": []},
        "websocket": socket,
    }
    found = import_file(PurePath("f.mitm"), _tnetstring(flow), "f.mitm", Labels())
    (cassette,) = found.cassettes
    (interaction,) = cassette.interactions
    assert (interaction.ended, cassette.session and cassette.session.close_code) == (
        "truncated",
        1011,
    )
    assert oracle_reading(interaction).ended is False


@each_row(
    ("sent", "received"),
    [
        ("> {}", "< {}"),
        (">>> {}", "<<< {}"),
        ("send: {}", "recv: {}"),
        ("[12:00:01] client -> {}", "[12:00:02] server <- {}"),
        ("DEBUG:ws.client:> TEXT '{}' [120 bytes]", "DEBUG:ws.client:< TEXT '{}' [90 bytes]"),
        ('{{"type": "send", "data": {}}}', '{{"type": "receive", "data": {}}}'),
        ('{{"dir": "out", "payload": {}, "ts": 1}}', '{{"dir": "in", "payload": {}, "ts": 2}}'),
        ("⬆ {}", "⬇ {}"),
    ],
)
def test_pasted_messages_with_their_direction_are_a_session(sent: str, received: str) -> None:
    lines = [sent.format(json.dumps(_ASK)), *(received.format(json.dumps(it)) for it in _ONE)]
    (cassette,) = _import("\n".join(lines)).cassettes
    assert cassette.session is not None
    assert [frame.side for frame in cassette.session.frames] == ["client"] + ["server"] * len(_ONE)
    assert _texts(cassette) == ["Hi"]


def test_messages_of_a_server_alone_are_a_session_if_a_second_response_begins() -> None:
    (cassette,) = _import("\n".join(map(json.dumps, [*_ONE, *_TWO]))).cassettes
    assert _texts(cassette) == ["Hi", "Ho"]
    (single,) = _import("\n".join(map(json.dumps, _ONE))).cassettes
    assert single.session is None


def test_a_secret_in_a_message_is_masked_and_found_by_the_audit() -> None:
    key = "sk-proj-" + "Ab1" * 16
    leaked = {**_ASK, "input": f"my key is {key}"}
    (cassette,) = _import(
        _har([_sent("send", leaked), *(_sent("receive", it) for it in _ONE)]), "a.har"
    ).cassettes
    assert cassette.session is not None
    assert key.encode() not in b"".join(frame.data for frame in cassette.session.frames)
    assert not list(iter_leaks(cassette))


def test_each_dialect_with_sessions_finds_the_turns_that_it_writes() -> None:
    with_sessions = {name for name, row in DIALECTS.items() if row.sessions is not None}
    assert with_sessions == {"openai-responses", "gemini-live"}


def test_a_cassette_of_a_session_is_imported_with_the_same_turns() -> None:
    """Messages that ask for no response belong to no turn, and are kept."""
    folder = bundled_folder("cassettes") / "openai" / "gpt-5.4"
    for path in sorted(folder.glob("ws-*.yaml")):
        data = path.read_bytes()
        own = parse_cassette(data, path.stem, where=str(path))
        (again,) = import_file(path, data, path.name, Labels()).cassettes
        assert format_cassette(again)
        assert (again.dialect, again.model, again.origin) == (own.dialect, own.model, own.origin)
        assert [it.body for it in again.interactions] == [it.body for it in own.interactions]
