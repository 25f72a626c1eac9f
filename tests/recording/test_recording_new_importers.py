"""What each container says beside its stream: several responses, cuts, times, what was lost."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.files.load import BOM
from harness.recording.importers import READERS, chat_log, read
from harness.recording.importers import mitmproxy as netstrings
from harness.recording.importers.http_message import chunk_ranges, without_chunks
from harness.recording.importing import Labels, import_file
from harness.wire.aws import encode_event
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import parse_cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Read
from tests.recording.recording_samples import ASKED, URI, flow, flows, tnetstring, trace
from tests.tables import each_row

EVENT = '{"choices":[{"delta":{"content":"a. b"}}],"model":"m"}'
STREAM = f": hi\n\ndata: {EVENT}\n\ndata: {EVENT}\n\ndata: [DONE]\n\n".encode()


def found(data: bytes, container: str) -> Cassette:
    answer = read(PurePath("a.x"), data)
    assert answer is not None
    assert answer[0] == container
    return answer[1].cassette


def bodies(data: bytes, container: str) -> list[bytes]:
    return [interaction.body for interaction in found(data, container).interactions]


def chunked(*parts: bytes) -> bytes:
    return (
        b"".join(b"%X;a=b\r\n%s\r\n" % (len(part), part) for part in parts if part) + b"0\r\n\r\n"
    )


def lines(*values: object) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


SAMPLES = {
    "curl-trace": trace(chunked(STREAM)),
    "curl-output": b"HTTP/1.1 200 OK\r\n\r\n" + STREAM,
    "mitmproxy": flows(flow(STREAM)),
    "har": lines({"log": {"entries": [{"request": {}, "response": {"status": 200}}]}}),
    "chat-log": lines({"messages": [{"role": "assistant"}]}, {"custom_id": "a", "response": {}}),
    "gemini-cli": lines({"method": "generateContentStream", "response": [{"candidates": []}]}),
    "chunk-list": lines({"type": "message_start"}, {"messageStart": {}, "a": 1}),
    "raw-sse": STREAM,
    "httprr": b"httprr trace v1\n1 19\naHTTP/1.1 200 OK\r\n\r\n",
}


# Properties


@given(
    parts=st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=6),
    cuts=st.sets(st.integers(1, 200), max_size=6),
)
def test_the_transfer_coding_comes_off_wherever_the_network_cut(
    parts: list[bytes], cuts: set[int]
) -> None:
    coded = chunked(*parts)
    ends = [*sorted(cut for cut in cuts if cut < len(coded)), len(coded)]
    starts = [0, *ends[:-1]]
    pieces = [(coded[start:end], 1) for start, end in zip(starts, ends, strict=True)]
    plain = list(without_chunks(pieces))
    assert b"".join(data for data, _ in plain) == b"".join(parts)
    assert sum(delay for _, delay in plain) <= len(pieces)
    assert all(data for data, _ in plain)


@given(st.binary(max_size=60), st.integers(0, 60))
def test_a_body_that_was_cut_off_gives_what_there_is_of_it(payload: bytes, cut: int) -> None:
    coded = chunked(payload[:7], payload[7:])[:cut]
    ranges = chunk_ranges(coded)
    if ranges:
        assert payload.startswith(b"".join(coded[start:end] for start, end in ranges))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.binary(max_size=9) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=3))
def test_typed_netstrings_come_back(values: list[object]) -> None:
    assert netstrings.load_tnetstrings(b"".join(map(tnetstring, values))) == values


@given(
    st.binary(max_size=80) | st.text(alphabet="0123456789:;,#^!~]}ae-", max_size=40).map(str.encode)
)
def test_other_bytes_are_refused_and_never_crash(data: bytes) -> None:
    try:
        values = netstrings.load_tnetstrings(data)
    except netstrings.NotTnetstringError:
        return
    assert isinstance(values, list)


@given(st.sampled_from(sorted(READERS)), st.binary(max_size=60), st.integers(0, 400))
def test_no_reader_crashes_on_a_damaged_file(name: str, noise: bytes, cut: int) -> None:
    whole = SAMPLES.get(name, b'{"request": {}}')
    for data in (whole[:cut] + noise, whole[:cut] + whole[cut + 3 :], noise + whole):
        with suppress(UnreadableError):
            for cassette in import_file(PurePath("a.x"), data, "a.x", Labels()).cassettes:
                assert parse_cassette(
                    format_cassette(cassette).encode(), "a", where="a"
                ).interactions


# The last one is half a surrogate pair, which JSON can spell.
WORDS = [
    *("request", "response", "messages", "role", "content", "custom_id", "body", "status_code"),
    *("status", "url", "method", "headers", "log", "entries", "postData", "text", "encoding"),
    *("chunks", "candidates", "type", "id", "choices", "done", "messageStart", "message_start"),
    *("response.created", "generateContentStream", "base64", "assistant", "Data", "\ud800"),
]
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(
    first=st.sampled_from(sorted(SAMPLES)),
    objects=st.lists(st.dictionaries(st.sampled_from(WORDS), HOSTILE), min_size=1, max_size=4),
)
def test_words_of_the_formats_in_any_order_crash_nothing(
    first: str, objects: list[dict[str, object]]
) -> None:
    text = lines(*objects)
    for data in (text, SAMPLES[first] + b"\n" + text, json.dumps(objects).encode()):
        with suppress(UnreadableError):
            for cassette in import_file(PurePath("a.x"), data, "a.x", Labels()).cassettes:
                assert parse_cassette(
                    format_cassette(cassette).encode(), "a", where="a"
                ).interactions


# curl


def test_a_trace_keeps_cuts_and_times() -> None:
    dump = trace(chunked(STREAM[:30], STREAM[30:]))
    stamped = iter(f"23:59:59.{n:03}000 " for n in range(900, 999))
    timed = b"\n".join(
        next(stamped).encode() + line if line.startswith((b"=", b"<")) else line
        for line in dump.split(b"\n")
    )
    (only,) = found(timed, "curl-trace").interactions
    assert (only.body, only.reads_kept, only.status) == (STREAM, True, 200)
    assert [read.delay_ms for read in only.reads] == [9, 1, 1]
    assert sum(read.size for read in only.reads) == len(STREAM)
    assert (only.request.uri, only.request.body) == (URI, ASKED.encode())
    assert "times" in found(timed, "curl-trace").origin.kept


def test_the_ascii_trace_gets_its_line_ends_back_and_says_so() -> None:
    cassette = found(trace(chunked(STREAM), plain=True), "curl-trace")
    assert cassette.interactions[0].body == STREAM
    assert "line ends put back" in cassette.origin.kept
    assert "no times" in cassette.origin.kept


def test_each_exchange_of_a_trace_is_an_interaction() -> None:
    connect = (
        trace(b"").replace(b"50 4f 53 54", b"43 4f 4e 4e").replace(b"POST /v1/ch", b"CONN /v1/ch")
    )
    assert len(found(trace(chunked(STREAM)) * 2, "curl-trace").interactions) == 2
    assert len(found(connect + trace(chunked(STREAM)), "curl-trace").interactions) == 2


def test_raw_output_of_curl_has_a_read_for_each_chunk() -> None:
    head = b"HTTP/1.1 302 Found\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    (only,) = found(head + chunked(STREAM[:9], STREAM[9:]), "curl-output").interactions
    assert (only.body, only.status) == (STREAM, 200)
    assert only.reads == (Read(9), Read(len(STREAM) - 9))
    assert only.reads_kept


# HAR, mitmproxy


def test_what_a_browser_left_out_is_an_empty_body() -> None:
    request = {"method": "POST", "url": URI, "headers": []}
    entry = {"request": request, "response": {"status": 0, "headers": [], "content": {"size": 0}}}
    (only,) = found(lines({"log": {"entries": [entry]}}), "har").interactions
    assert (only.body, only.status, only.request.uri) == (b"", 0, URI)


def entry(content: Mapping[str, object]) -> dict[str, object]:
    request = {"method": "POST", "url": URI, "postData": {"text": '{"stream": true}'}}
    return {"request": request, "response": {"status": 200, "content": content}}


BROKEN = {"text": "a", "encoding": "base64"}
WHOLE = {"text": STREAM.decode()}


@given(st.lists(st.booleans(), max_size=30))
def test_a_damaged_entry_of_a_har_costs_no_other(whole: list[bool]) -> None:
    data = lines({"log": {"entries": [entry(WHOLE if it else BROKEN) for it in whole]}})
    broken = [n for n, it in enumerate(whole) if not it]
    if broken and not any(whole):
        with pytest.raises(UnreadableError, match="base64") as caught:
            import_file(PurePath("a.har"), data, "a.har", Labels())
        assert caught.value.where == "a.har: log.entries[0].response.content"
        return
    result = import_file(PurePath("a.har"), data, "a.har", Labels())
    assert [n for n, _ in result.detected] == [n for n, it in enumerate(whole) if it]
    assert len(result.skipped) == len(broken)
    for n, said in zip(broken[:20], result.skipped, strict=False):
        assert said.startswith("damaged: expected base64")
        assert said.endswith(f"(at log.entries[{n}].response.content)")
    assert set(result.skipped[20:]) <= {"damaged"}


def test_flows_of_every_version_that_got_an_answer() -> None:
    old = flow(STREAM, version=4)
    assert bodies(flows(old, flow(None), flow(STREAM)), "mitmproxy") == [STREAM, STREAM]
    (only,) = found(flows(flow(STREAM)), "mitmproxy").interactions
    assert only.request.uri == URI  # the name, not the address it stands for


@pytest.mark.parametrize(
    "data",
    [
        flows(flow(STREAM))[:-9],
        flows(flow(STREAM)) + b"9:a",
        flows({"response": {"status_code": "x"}, "request": {"headers": []}}),
        b"9:4:type;0:?]",
    ],
)
def test_damaged_flows_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        read(PurePath("a.x"), data)


@each_row("port", [[], {}, b"443", "443", 1.5, -1, 65_536, 10**9])
def test_a_flow_with_a_wrong_port_costs_no_other(port: object) -> None:
    wrong = flow(STREAM)
    wrong["request"] = {**wrong["request"], "authority": b"", "headers": (), "port": port}
    answer = read(PurePath("a.x"), flows(wrong, flow(STREAM)))
    assert answer is not None
    container, held = answer
    assert container == "mitmproxy"
    assert [each.body for each in held.cassette.interactions] == [STREAM]
    assert list(held.damaged) == [0]
    assert "expected a port from 0 to 65535" in held.damaged[0]


def test_a_byte_order_mark_changes_nothing_of_a_container() -> None:
    for data in SAMPLES.values():
        plain, marked = (
            import_file(PurePath("a.x"), it, "a", Labels()) for it in (data, BOM + data)
        )
        assert (marked.container, marked.skipped) == (plain.container, plain.skipped)


def test_netstrings_are_bounded() -> None:
    deep = b""
    for _ in range(40):
        deep = b"%d:%s]" % (len(deep), deep)
    with pytest.raises(netstrings.NotTnetstringError, match="deep"):
        netstrings.load_tnetstrings(deep)


# Conversations


ANSWER = {"object": "chat.completion", "choices": [{"message": {"content": "a"}}]}


def test_requests_and_responses_bare_or_in_an_envelope() -> None:
    envelope = {
        "request": {"url": "/v1/chat/completions", "method": "POST", "body": {"model": "m"}},
        "response": {"status_code": 429, "body": {"error": {"message": "slow down"}}},
    }
    bare, wrapped = found(
        lines({"request": {"model": "m"}, "response": ANSWER}, envelope), "chat-log"
    ).interactions
    assert (json.loads(bare.body), bare.status) == (ANSWER, 200)
    assert (wrapped.status, wrapped.request.uri) == (429, "/v1/chat/completions")
    assert json.loads(wrapped.request.body) == json.loads(bare.request.body) == {"model": "m"}


def test_a_batch_is_joined_with_its_input() -> None:
    asked = {
        "custom_id": "a",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m"},
    }
    answers = [
        {"custom_id": name, "response": {"status_code": 200, "body": ANSWER}} for name in "ab"
    ]
    known, alone = found(lines(asked, *answers), "chat-log").interactions
    assert json.loads(known.request.body) == {"model": "m"}
    assert known.request.uri == "/v1/chat/completions"
    assert (alone.request.body, json.loads(alone.body)) == (b"", ANSWER)


def test_each_assistant_message_is_an_answer_to_those_before_it() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "assistant", "content": "done"},
    ]
    data = lines({"messages": messages, "model": "m", "tools": []})
    result = import_file(PurePath("a.jsonl"), data, "a.jsonl", Labels())
    (cassette,) = result.cassettes
    assert (cassette.model, cassette.dialect, result.skipped) == ("m", "openai-chat", ())
    first, second = cassette.interactions
    (choice,) = json.loads(first.body)["choices"]
    assert (choice["message"], choice["finish_reason"]) == (messages[1], "tool_calls")
    assert json.loads(second.request.body)["messages"] == messages[:3]
    assert json.loads(second.body)["choices"][0]["finish_reason"] == "stop"
    assert "rebuilt" in cassette.origin.kept


def test_a_long_conversation_takes_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_log, "_MOST_REQUEST_BYTES", 400)
    data = lines({"messages": [{"role": "assistant", "content": "a"}] * 40})
    sizes = [len(i.request.body) for i in found(data, "chat-log").interactions]
    assert len(sizes) == 40
    assert 0 < sum(sizes) < 600
    assert sizes[-1] == 0


def test_what_no_cassette_can_hold_is_put_right() -> None:
    request = {"url": "/v1/chat/completions?\ud800", "method": "\udfff", "body": {}}
    data = lines({"request": request, "response": {"status": 10**9, "body": ANSWER}})
    (cassette,) = import_file(PurePath("a"), data, "a", Labels()).cassettes
    assert (
        parse_cassette(format_cassette(cassette).encode(), cassette.id, where="a")
        .interactions[0]
        .status
        == 0
    )


# Lists of events


@each_row(
    ("start", "rest"),
    [
        ({"type": "message_start"}, {"type": "message_stop"}),
        ({"type": "response.created"}, {"type": "response.completed"}),
        ({"type": "message-start"}, {"type": "message-end"}),
        ({"event_type": "interaction.start"}, {"event_type": "interaction.complete"}),
        ({"candidates": [], "responseId": "1"}, {"candidates": [{"finishReason": "STOP"}]}),
        ({"messageStart": {}}, {"metadata": {}}),
    ],
)
def test_a_list_holds_as_many_responses_as_begin_in_it(
    start: dict[str, object], rest: dict[str, object]
) -> None:
    again = {**start, "responseId": "2"} if "responseId" in start else start
    split = bodies(lines(start, rest, again, rest), "chunk-list")
    assert [len(list(iter_frames([body]))) for body in split] == [2, 2]


def test_the_framing_is_that_of_the_dialect() -> None:
    named = lines({"type": "message_start"}, {"type": "ping"})
    start = b'event: message_start\ndata: {"type": "message_start"}\n\n'
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    assert bodies(named, "chunk-list") == [start + ping]
    line = {"model": "m", "created_at": "t", "done": True}
    text = lines(line, line)
    assert bodies(text, "chunk-list") == [text[: len(text) // 2] + b"\n"] * 2
    message = lines({"messageStart": {"role": "assistant"}}, {"messageStop": {}})
    assert bodies(message, "chunk-list") == [
        encode_event(b'{"role": "assistant"}', "messageStart") + encode_event(b"{}", "messageStop")
    ]


def test_an_array_of_events_is_a_body_where_the_api_sends_arrays() -> None:
    gemini = b'[{"candidates": []},\r\n{"candidates": []}]'
    assert bodies(gemini, "chunk-list") == [gemini]
    other = b'[\n {\n "type": "message_start"\n }\n]'
    assert bodies(other, "chunk-list") == [
        b'event: message_start\ndata: {"type":"message_start"}\n\n'
    ]
    assert read(PurePath("a.x"), b'[{"a": 1}]') is None


def test_a_single_answer_is_a_body_whatever_its_dialect() -> None:
    for answer in (
        '{"model": "m", "created_at": "t", "done": true}',
        '{"type": "message", "role": "assistant", "content": []}',
    ):
        assert bodies(answer.encode(), "raw-sse") == [answer.encode()]


def test_other_methods_of_gemini_cli_are_no_streams() -> None:
    chunk = {"candidates": [{"content": None}]}
    data = lines(
        {"method": "generateContent", "response": chunk},
        {"method": "generateContentStream", "response": [chunk, chunk]},
    )
    result = import_file(PurePath("a.responses"), data, "a.responses", Labels())
    assert result.skipped == ("the request was not for a stream",)
    (cassette,) = result.cassettes
    assert len(list(iter_frames([cassette.interactions[0].body]))) == 2
