"""A stream is found in what a person pasted: curl, devtools, logs with prefixes."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.recording.importing import Labels, import_file
from harness.recording.pasted import Pasted, requests_in, ways_to_read
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Request
from tests.recording.format_fixtures import STREAM
from tests.tables import each_row

TEXT = STREAM.decode()
LINES = [line for line in TEXT.split("\n") if line]
EVENTS = [line.removeprefix("data: ") for line in LINES]
NAMED = {
    "message_start": {"type": "message_start", "message": {"model": "m", "role": "assistant"}},
    "message_delta": {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    "message_stop": {"type": "message_stop"},
}


def first(data: bytes) -> tuple[Pasted, Cassette]:
    logged = (each for each in requests_in(data) if each.body)
    requests = tuple(Request(each.method, each.uri, each.headers, each.body) for each in logged)
    for pasted in ways_to_read(data):
        with suppress(UnreadableError):
            found = import_file(Path("a.txt"), pasted.data, "a.txt", Labels(), requests)
            if found.cassettes:
                return pasted, found.cassettes[0]
    raise AssertionError("no stream recognized")


def joined(prefix: str, lines: list[str], suffix: str = "") -> str:
    return "".join(f"{prefix}{line}{suffix}\n" for line in lines)


CURL_V = (
    "* Connected to api.avian.io\n> POST /v1/chat/completions HTTP/2\n> Host: api.avian.io\n"
    "> Authorization: Bearer x\n> \n} [80 bytes data]\n< HTTP/2 100 \n< \n< HTTP/2 200 \n"
    "< content-type: text/event-stream\n< \n{ [300 bytes data]\n"
)
READS = [repr(STREAM[n : n + 70]) for n in range(0, len(STREAM), 70)]
HEADERS = "headers return_value=(b'HTTP/1.1', 200, b'OK', [(b'Date', b'x')])\n"
# What was pasted -> the body that is read from it, and the number of lines left out.
PASTES = {
    "unchanged": (TEXT, TEXT, 0),
    "indented": ("".join(f"    {line}\n" for line in TEXT.split("\n")), TEXT, 0),
    "quoted": ("```\n" + joined("> ", TEXT.split("\n")) + "```\n", TEXT, 2),
    "curl -i": (f"$ curl -i URL\nHTTP/2 200 \ncontent-type: text/event-stream\n\n{TEXT}", TEXT, 1),
    "curl -v": (f"{CURL_V}{TEXT}* Connection #0 left intact\n", TEXT, 4),
    "crlf": (f"$ curl -i URL\r\nHTTP/2 200 \r\n\r\n{TEXT}", TEXT, 1),
    "log": (joined("2026-01-01 DEBUG app: got data 1: ", LINES), TEXT, 0),
    "log with other lines": ("start\n" + joined("app-1  | ", LINES) + "end\n", TEXT, 2),
    "json log": (joined("", [json.dumps({"n": 1, "raw": line}) for line in LINES]), TEXT, 0),
    "bytes": (joined("DEBUG read ", [repr(f"{line}\n\n".encode()) for line in LINES]), TEXT, 0),
    "bytes with cut events": (HEADERS + joined("DEBUG chunk ", READS) + HEADERS, TEXT, 2),
    "bytes in a list": (f"reads = [{', '.join(READS)}]\n", TEXT, 0),
    "log with bytes of lines": (joined("read ", [repr(f"{x}".encode()) for x in LINES]), TEXT, 0),
    "log with repr": (joined("DEBUG line ", [repr(line) for line in LINES], " end"), TEXT, 0),
    "log with JSON texts": (joined("line=", [json.dumps(line) for line in LINES]), TEXT, 0),
    "log with a list": (f"lines: {json.dumps(LINES)}\n", TEXT, 0),
}


@each_row("name", PASTES)
def test_a_pasted_stream_is_read(name: str) -> None:
    pasted, expected, dropped = PASTES[name]
    way, cassette = first(pasted.encode())
    (only,) = cassette.interactions
    assert only.body.rstrip(b"\n").decode() == expected.rstrip("\n")
    assert (cassette.dialect, way.dropped) == ("openai-chat", dropped)
    assert ("framing rebuilt" in way.kept) == ("log" in name)
    assert ("literals joined" in way.kept) == name.startswith("bytes")


@pytest.mark.parametrize(
    "pasted",
    [
        joined("message\t", EVENTS[:-1], "\t12:00:01.123"),  # devtools, panel EventStream
        joined('{"ts": 1, "event": ', EVENTS[:-1], "}"),
        joined("INFO chunk=", EVENTS[:-1], " done"),
        joined("INFO chunk=", [repr(event) for event in EVENTS[:-1]]),
        joined("INFO chunk=", [repr(json.loads(event)) for event in EVENTS[:-1]], " done"),
    ],
)
def test_events_without_framing_are_framed_again(pasted: str) -> None:
    _, cassette = first(pasted.encode())
    (only,) = cassette.interactions
    assert only.body.decode() == "".join(f"{line}\n\n" for line in LINES[:-1])
    assert "framing rebuilt" in cassette.origin.kept


def test_the_address_in_the_output_of_curl_is_that_of_the_request() -> None:
    _, cassette = first(f"{CURL_V}{TEXT}".encode())
    assert cassette.provider == "avian"
    (only,) = cassette.interactions
    assert only.request.uri == "https://api.avian.io/v1/chat/completions"
    assert only.header("content-type") == "text/event-stream"


@pytest.mark.parametrize("prompt", ["", "$ ", "% "])
@pytest.mark.parametrize("option", ["-d", "--data-raw", "--json"])
def test_the_request_of_a_curl_command_is_that_of_the_response(prompt: str, option: str) -> None:
    body = {"model": "m", "tools": [{"type": "function", "function": {"name": "f"}}]}
    address = "https://api.avian.io/v1/chat/completions"
    words = f"{address}?key=k -H 'Authorization: Bearer s' \\\n  {option} '{json.dumps(body)}'"
    _, cassette = first(f"{prompt}curl -N {words}\n{TEXT}".encode())
    (only,) = cassette.interactions
    assert json.loads(only.request.body) == body
    assert (only.request.uri, only.body.decode()) == (f"{address}?key=REDACTED", TEXT)
    assert "Bearer" not in str(only.request)


@pytest.mark.parametrize("words", ["URL", "-d 'no JSON' URL", '-d \'{"open": ', "-d '[1]' URL"])
def test_a_curl_command_without_a_json_object_leaves_the_request_unknown(words: str) -> None:
    _, cassette = first(f"$ curl {words}\n{TEXT}".encode())
    assert cassette.interactions[0].request.body == b""


@pytest.mark.parametrize("literal", [repr, str.encode, json.dumps])
def test_names_of_events_in_literals_stay(literal: Callable[[str], object]) -> None:
    lines = [line for name, event in NAMED.items() for line in sse_lines(name, event)]
    _, cassette = first(joined("DEBUG ", [f"{literal(line)}" for line in lines]).encode())
    (only,) = cassette.interactions
    assert [frame.event for frame in iter_frames([only.body])] == list(NAMED)


def sse_lines(name: str, event: object) -> list[str]:
    return [f"event: {name}", f"data: {json.dumps(event)}"]


@pytest.mark.parametrize("prefix", ["", "app-1  | "])
def test_names_of_events_stay_also_without_blank_lines(prefix: str) -> None:
    lines = [json.dumps(event) for event in NAMED.values()]
    named = [
        f"event: {name}\n{prefix}data: {line}" for name, line in zip(NAMED, lines, strict=True)
    ]
    _, cassette = first(joined(prefix, named).encode())
    (only,) = cassette.interactions
    assert cassette.dialect == "anthropic"
    assert [frame.event for frame in iter_frames([only.body])] == list(NAMED)


PIECES = st.sampled_from(
    [
        *LINES,
        "data: {",
        "event: x",
        "{",
        "}",
        "b'data: {\\x'",
        "'data: {\\ud800'",
        '"event: \\ud800"',
        "< HTTP/2 200",
        "<",
        "> GET",
        "```",
    ]
) | st.text(max_size=8)


@given(st.lists(PIECES, max_size=8), st.sampled_from(["", "  ", "> ", "x "]))
def test_no_text_crashes(pieces: list[str], prefix: str) -> None:
    for pasted in ways_to_read(joined(prefix, pieces).encode()):
        assert pasted.dropped >= 0
        with suppress(UnreadableError):
            import_file(Path("a.txt"), pasted.data, "a.txt", Labels())


def test_deep_nesting_is_not_searched_for_ever() -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    assert [way.kept for way in ways_to_read(b"x " + deep)] == [""]
