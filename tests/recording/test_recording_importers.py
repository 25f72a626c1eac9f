"""Each container gives the same stream, with what it kept of it; what is damaged is refused."""

import base64
import gzip
import json
from pathlib import PurePath

import pytest
import yaml

from harness.errors import UnreadableError
from harness.recording.importers import READERS, read
from harness.wire.cassette import Cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.interaction import Read
from tests.recording.format_fixtures import FIXTURES
from tests.recording.recording_samples import flow, flows, trace
from tests.tables import each_row

URI = "https://api.openai.com/v1/chat/completions"
ASKED = '{"model": "m", "stream": true}'
EVENTS = [
    '{"id":"c1","object":"chat.completion.chunk","choices":[{"delta":{"content":"é"}}]}',
    '{"id":"c1","object":"chat.completion.chunk","choices":[{"finish_reason":"stop"}]}',
]
STREAM = "".join(f"data: {event}\n\n" for event in EVENTS).encode()
OTHER = '{"id":"c2","object":"chat.completion.chunk","choices":[]}'


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def found(data: bytes, name: str = "a.x") -> tuple[str, Cassette]:
    answer = read(PurePath(name), data)
    assert answer is not None
    return answer[0], answer[1].cassette


def bodies(cassette: Cassette) -> list[bytes]:
    return [interaction.body for interaction in cassette.interactions]


def vcr_yaml() -> bytes:
    request = {"method": "POST", "uri": URI, "headers": {}, "body": ASKED}
    response = {"status": {"code": 200}, "headers": {}, "body": {"string": STREAM.decode()}}
    return yaml.safe_dump({"interactions": [{"request": request, "response": response}]}).encode()


def vcr_ruby(spelled: str) -> bytes:
    return f"""---
http_interactions:
- request:
    method: post
    uri: {URI}
    body:
      encoding: UTF-8
      string: '{ASKED}'
    headers:
      Accept:
      - "*/*"
  response:
    status:
      code: 200
      message: OK
    headers: {{}}
    body:
      encoding: ASCII-8BIT
      {spelled}
  recorded_at: Tue, 10 Feb 2026 09:28:11 GMT
recorded_with: VCR 6.4.0
""".encode()


def httpmock(then: dict[str, object]) -> bytes:
    when = {
        "path": "/v1/chat/completions",
        "method": "POST",
        "header": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}],
        "body": ASKED,
    }
    return yaml.safe_dump_all([{"when": when, "then": {"status": 200, **then}}]).encode()


def req_llm(chunks: list[dict[str, object]], **request: object) -> bytes:
    asked = {"method": "post", "url": URI, "headers": {"a": ["1"], "b": "2"}, **request}
    response = {"status": 200, "headers": {"content-type": "text/event-stream"}}
    return json.dumps({"request": asked, "response": response, "chunks": chunks}).encode()


def httprr(head: str, body: bytes) -> bytes:
    sent = f"POST {URI} HTTP/1.1\r\nA: 1\r\n\r\n{ASKED}".encode()
    answer = f"HTTP/2.0 200 OK\r\n{head}\r\n\r\n".encode() + body
    return b"httprr trace v1\n%d %d\n%s%s" % (len(sent), len(answer), sent, answer)


def har(content: dict[str, object]) -> bytes:
    asked = {"method": "POST", "url": URI, "headers": [], "postData": {"text": ASKED}}
    answer = {"status": 200, "headers": [{"name": "a", "value": "b"}], "content": content}
    entry = {"request": asked, "response": answer, "_webSocketMessages": [{"data": "x"}]}
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()


def chat_log(*lines: object) -> bytes:
    return "\n".join(map(json.dumps, lines)).encode()


CUT = (STREAM[:9], STREAM[9:40], STREAM[40:])
CHUNKED = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in CUT) + b"0\r\n\r\n"
WITH_REQUEST = {
    "vcr-yaml": [vcr_yaml()],
    "vcr-ruby": [
        vcr_ruby(f"string: !binary |-\n        {b64(STREAM)}"),
        vcr_ruby(f"base64_string: {b64(STREAM)}"),
        vcr_ruby(f"string: {json.dumps(STREAM.decode())}"),
        vcr_ruby(f"string: !binary {b64(gzip.compress(STREAM))}"),
    ],
    "httpmock-yaml": [
        httpmock({"body": STREAM.decode()}),
        httpmock({"body": b64(STREAM), "body_encoding": "base64"}),
    ],
    "req_llm": [
        req_llm([{"b64": b64(part)} for part in CUT], body={"b64": b64(ASKED.encode())}),
        req_llm([{"b64": b64(part)} for part in CUT], canonical_json=ASKED),
    ],
    "httprr": [
        httprr("Content-Type: text/event-stream", STREAM),
        httprr("Transfer-Encoding: chunked", CHUNKED),
        httprr("Transfer-Encoding: chunked", STREAM),
        httprr("Content-Encoding: gzip", gzip.compress(STREAM)),
    ],
    "har": [
        har({"text": STREAM.decode(), "mimeType": "text/event-stream"}),
        har({"text": b64(STREAM), "encoding": "base64"}),
    ],
    "mitmproxy": [flows(flow(STREAM)), flows({"type": "tcp"}, flow(STREAM), flow(None))],
    "curl-trace": [trace(CHUNKED), trace(CHUNKED, time="12:00:00.000100 [0-0] ")],
    "chat-log": [
        chat_log({"request": json.loads(ASKED), "response": list(map(json.loads, EVENTS))})
    ],
}
WITHOUT_REQUEST = {
    "curl-output": [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED,
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/2 200 \r\na: b\r\n\r\n" + STREAM,
        b"HTTP/1.0 200 OK\na: b\n\n" + STREAM,
    ],
    "gemini-cli": [
        chat_log({"method": "generateContentStream", "response": list(map(json.loads, EVENTS))}),
    ],
    "raw-sse": [STREAM, b": hello\n\n" + STREAM, b"\xef\xbb\xbf" + STREAM],
    "chunk-list": ["\n".join(EVENTS).encode(), f"{EVENTS[0]}\r\ndata: {EVENTS[1]}\r\n".encode()],
    "jsonl-events": [
        "\n".join(json.dumps({"LastEventID": "", "Type": "", "Data": e}) for e in EVENTS).encode()
    ],
}
ALL = WITH_REQUEST | WITHOUT_REQUEST
KEEP_READS = {"req_llm", "curl-trace", "curl-output"}
REBUILT = {"chat-log", "gemini-cli"}


def events_of(body: bytes) -> list[object]:
    return [json.loads(part.removeprefix(b"data:")) for part in body.split(b"\n\n") if part]


def test_every_reader_is_shown_here() -> None:
    others = {container for container, _, _ in FIXTURES.values()}
    # Two have other files: that of bodies alone, and that of sessions.
    assert {*ALL, *others, "raw-body", "session-lines"} == set(READERS)


@each_row(("name", "data"), [(n, d) for n, datas in ALL.items() for d in datas])
def test_each_container_gives_the_same_stream(name: str, data: bytes) -> None:
    container, cassette = found(data)
    (only,) = cassette.interactions
    assert container == name
    framed = only.body[only.body.index(b"data:") :]
    assert events_of(framed) == events_of(STREAM)
    assert framed == STREAM or name in REBUILT
    assert only.status == 200
    assert cassette.origin.kind == "imported"
    assert cassette.origin.kept
    assert only.reads_kept is (name in KEEP_READS and len(only.reads) == len(CUT))
    asked = json.loads(ASKED) if name in WITH_REQUEST else {}
    assert json.loads(only.request.body or b"{}") == asked


def test_req_llm_keeps_the_cuts_and_the_times() -> None:
    chunks: list[dict[str, object]] = [
        {"b64": b64(STREAM[:7]), "t_us": 1999},
        {"b64": "", "t_us": 2500},
        {"b64": b64(STREAM[7:]), "t_us": 31_000},
    ]
    _, cassette = found(req_llm(chunks, canonical_json={"model": "m"}))
    (only,) = cassette.interactions
    assert only.reads == (Read(7, 1), Read(len(STREAM) - 7, 28))
    assert only.request.body == b'{"model":"m"}'
    assert only.request.headers == (("a", "1"), ("b", "2"))
    assert "reads; times" in cassette.origin.kept


def test_req_llm_without_chunks_has_no_stream() -> None:
    assert found(req_llm([]))[1].interactions == ()


def test_a_chunk_list_is_split_at_a_new_id_after_a_finish() -> None:
    lines = [*EVENTS, '{"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{}}', OTHER]
    _, cassette = found("\n".join(lines).encode())
    usage = f"data: {lines[2]}\n\n".encode()
    assert bodies(cassette) == [STREAM + usage, f"data: {OTHER}\n\n".encode()]
    assert "no [DONE]" in cassette.origin.kept


def test_a_chunk_list_is_not_split_without_a_finish() -> None:
    _, cassette = found(f"{EVENTS[0]}\n{OTHER}\n[DONE]".encode())
    assert bodies(cassette) == [f"data: {EVENTS[0]}\n\ndata: {OTHER}\n\ndata: [DONE]\n\n".encode()]
    assert "[DONE]" not in cassette.origin.kept


def test_several_documents_and_traces_are_several_interactions() -> None:
    assert len(found(b"---\n".join([httpmock({"body": "a"})] * 3))[1].interactions) == 3
    trace = httprr("A: b", STREAM)
    _, cassette = found(trace + trace.removeprefix(b"httprr trace v1\n"))
    assert [item.request.uri for item in cassette.interactions] == [URI, URI]


def test_event_names_come_back() -> None:
    line = {"LastEventID": "", "Type": "ping", "Data": "a\nb"}
    _, cassette = found(json.dumps(line).encode())
    assert bodies(cassette) == [b"event: ping\ndata: a\ndata: b\n\n"]


def test_our_own_cassette_keeps_what_it_says() -> None:
    _, cassette = found(vcr_yaml())
    again = found(format_cassette(cassette).encode())[1]
    assert (again.origin, again.interactions) == (cassette.origin, cassette.interactions)


def test_a_plain_completion_is_a_body() -> None:
    body = b'{"object": "chat.completion", "choices": []}'
    assert bodies(found(body)[1]) == [body]


@each_row(
    "data",
    [
        b"",
        b"hello",
        b"{",
        b"{}",
        b"[" * 100_000,
        b'{"a": 1}\n{"b": 2',
        b"data",
        b"a: b\n",
        b"\x00\xff",
        b'{"request": 1}',
    ],
)
def test_what_is_no_recording_belongs_to_nobody(data: bytes) -> None:
    assert read(PurePath("a.x"), data) is None


@each_row(
    ("data", "fact"),
    [
        (b"httprr trace v1\nhello", "two lengths"),
        (b"httprr trace v1\n5 9999\nabc", "expected 10012 bytes|expected 100"),
        (b"httprr trace v1\n1 3\nabcd", "status line"),
        (vcr_ruby("string: !binary '*'"), "base64"),
        (vcr_ruby("string: !ruby/object:Gem x"), "tag"),
        (vcr_ruby("string: [1]"), "expected text"),
        (b"http_interactions: 3", "a list"),
        (b"interactions: 3", "a list"),
        (httpmock({"body": "*", "body_encoding": "base64"}), "base64"),
        (httpmock({"header": 3}), "a list of headers"),
        (b"when: 1\nthen: 2\n", "a mapping"),
        (req_llm([{"b64": "*"}]), "base64"),
        (req_llm([{"b64": 3}]), "text"),
        (b'{"request": {}, "response": {"status": "x"}, "chunks": [{}]}', "status code"),
        (b'{"request": {}, "response": {"status": 200}, "chunks": 3}', "a list"),
        (b'{"request": 3, "response": {"status": 200}, "chunks": [{}]}', "a mapping"),
    ],
)
def test_a_damaged_container_is_refused(data: bytes, fact: str) -> None:
    with pytest.raises(UnreadableError, match=fact) as caught:
        read(PurePath("a.x"), data)
    assert caught.value.where.startswith("a.x")
