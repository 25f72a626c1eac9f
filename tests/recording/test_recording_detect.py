"""The dialect is told by request and events; it says how sure it is, and never raises."""

import json
import re
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.kit.detect import Detector
from harness.dialects.table import DETECTOR, DIALECTS
from harness.providers import UNKNOWN
from harness.recording.detect import Detected, detect, token_exchange_reason
from harness.wire.aws import encode_event, encode_message, wrap_chunk
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic_reads
from tests.tables import each_row

ADDRESSES = {
    "/v1/chat/completions": "openai-chat",
    "<OLLAMA_API_BASE>/chat/completions": "openai-chat",
    "https://x/openai/deployments/d/chat/completions?api-version=1": "openai-chat",
    "https://api.openai.com/v1/responses": "openai-responses",
    "https://api.openai.com/v1/completions": "openai-completions",
    "https://api.anthropic.com/v1/messages?beta=true": "anthropic",
    "https://x/publishers/anthropic/models/c@1:streamRawPredict": "anthropic",
    "https://x/publishers/mistralai/models/c:rawPredict": "mistral",
    "https://x/v1beta/models/g:streamGenerateContent?alt=sse": "gemini",
    "https://x/v1beta/interactions?alt=sse": "google-interactions",
    "http://localhost:11434/api/chat": "ollama",
    "http://localhost:11434/api/generate": "ollama",
    "https://x/model/m%3A0/converse-stream": "bedrock-converse",
    "https://x/model/us.anthropic.c-v1:0/invoke-with-response-stream": "anthropic",
    "https://x/model/meta.llama3-v1:0/invoke": "bedrock-llama",
    "https://x/model/openai.gpt-oss-20b/invoke": "openai-chat",
    "https://api.cohere.com/v2/chat": "cohere",
    "https://x/api/v1/services/aigc/text-generation/generation": "dashscope",
    "http://tgi/generate_stream": "tgi",
    "https://api.openai.com/v1/embeddings": UNKNOWN,
    "": UNKNOWN,
}
# Each tells its dialect alone.
EVENTS = {
    '{"object": "chat.completion.chunk"}': "openai-chat",
    '{"object": "text_completion", "choices": [{"delta": {}}]}': "openai-chat",
    '{"choices": [{"message": {}}]}': "openai-chat",
    '{"choices": [{"delta": {}}], "p": "abcd"}': "mistral",
    '{"object": "text_completion", "choices": [{"text": "a"}]}': "openai-completions",
    '{"type": "response.created"}': "openai-responses",
    '{"type": "session.created"}': "openai-responses",
    '{"object": "response", "output": []}': "openai-responses",
    '{"type": "message_start"}': "anthropic",
    '{"type": "message", "role": "assistant"}': "anthropic",
    '{"candidates": []}': "gemini",
    '{"event_type": "interaction.created"}': "google-interactions",
    '{"event_type": "text-generation"}': "cohere",
    '{"type": "message-start"}': "cohere",
    '{"model": "m", "created_at": "t", "done": false}': "ollama",
    '{"output": {}, "request_id": "r"}': "dashscope",
    '{"contentBlockDelta": {}}': "bedrock-converse",
    '{"output": {}, "stopReason": "tool_use"}': "bedrock-converse",
    '{"generation": "a", "stop_reason": null}': "bedrock-llama",
    '{"token": {}, "generated_text": null}': "tgi",
}
# Nobody's words.
NOTHING = [
    '{"hello": 1}',
    "[1]",
    "not json",
    "",
    "3",
    '{"type": "module"}',
    '{"type": ["message"]}',
]
# What an event may hold, of the words that tell.
WORDS = st.sampled_from(
    [
        *sorted({key for event in EVENTS for key in json.loads(event)}),
        *("error", "status", "delta", "text", "usageMetadata", "stopReason", "metrics"),
    ]
)
VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from(["message", "response.x", "chat.completion", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


def interaction(uri: str = "", body: bytes = b"", sent: bytes = b"", **headers: str) -> Interaction:
    given_headers = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    answer_headers = tuple(h for h in given_headers if h[0] == "content-type")
    request = Request("POST", uri, given_headers, sent)
    return Interaction(request, 200, answer_headers, body, synthetic_reads(body), dialect=UNKNOWN)


def sse(event: str) -> bytes:
    return f": hi\n\ndata: {event}\n\n".encode()


@each_row(("uri", "dialect"), ADDRESSES.items())
def test_the_address_alone_is_likely(uri: str, dialect: str) -> None:
    found = detect(interaction(uri))
    sure = "unknown" if dialect == UNKNOWN else "likely"
    assert (found.dialect, found.confidence, found.against) == (dialect, sure, "")


@each_row(("event", "dialect"), EVENTS.items())
def test_the_first_events_alone_are_likely(event: str, dialect: str) -> None:
    for body in (sse(event), event.encode(), f"{event}\n{event}\n".encode()):
        found = detect(interaction(body=body))
        assert (found.dialect, found.confidence) == (dialect, "likely")
        assert "first events" in found.because


@given(uri=st.sampled_from(sorted(ADDRESSES)), event=st.sampled_from(sorted(EVENTS)))
def test_agreement_is_certain_and_where_they_disagree_the_bytes_win(uri: str, event: str) -> None:
    asked, told = ADDRESSES[uri], EVENTS[event]
    found = detect(interaction(uri, sse(event)))
    if "mistral" in (asked, told) and {asked, told} <= {"mistral", "openai-chat"}:
        assert (found.dialect, found.confidence) == ("mistral", "certain")
        return
    assert found.dialect == told
    assert found.confidence == ("certain" if asked == told else "likely")
    assert found.against == (asked if asked not in (told, UNKNOWN) else "")
    assert found.doubtful is bool(found.against)


@each_row("uri", [uri for uri, dialect in ADDRESSES.items() if dialect != UNKNOWN])
@each_row(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b'{"error": {"message": "overloaded"}}',
        b'{"type": "error", "error": {"type": "overloaded_error"}}',
        b'{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}',
    ],
)
def test_an_error_tells_nothing_against_the_address(uri: str, body: bytes) -> None:
    found = detect(interaction(uri, body))
    assert (found.dialect, found.confidence, found.against) == (ADDRESSES[uri], "likely", "")


CHAT = b'{"messages": []}'
HEADERS = sorted(header for row in DETECTOR.by_dialect.values() for header in row.headers)


@each_row(
    ("shown", "dialect", "because"),
    [
        (interaction(sent=CHAT, anthropic_version="1"), "anthropic", "header anthropic-version"),
        (interaction(sent=CHAT, x_goog_api_key="REDACTED"), "gemini", "header x-goog-api-key"),
        (interaction(sent=b'{"contents": []}'), "gemini", "contents in the request"),
        (interaction(sent=b'{"inputs": "a"}'), "tgi", "inputs in the request"),
        (interaction(body=sse('{"type": "ping"}')), "anthropic", "type ping"),
        (interaction(body=b'{"error": {"status": "X"}}'), "gemini", "error status"),
        (interaction(content_type="application/x-ndjson; a"), "ollama", "application/x-ndjson"),
    ],
)
def test_a_hint_is_a_guess_and_says_why(shown: Interaction, dialect: str, because: str) -> None:
    found = detect(shown)
    assert (found.dialect, found.confidence, found.doubtful) == (dialect, "guess", True)
    assert because in found.because


@each_row("sent", [b"", b"grant_type=refresh_token", b'{"model": "m"}', b"[1]"])
@each_row("header", HEADERS)
def test_a_header_alone_shows_no_dialect(header: str, sent: bytes) -> None:
    shown = interaction(sent=sent, body=b'{"id": 1}', **{header: "1"})
    assert detect(shown).dialect == UNKNOWN
    assert detect(msgspec.structs.replace(shown, body=b"")).dialect == UNKNOWN


MEMBERS = ("grant_type", "access_token", "grantType", "accessToken")


@given(st.sampled_from(MEMBERS), st.text(), st.booleans())
def test_an_exchange_of_tokens_is_recognized_by_either_side(
    member: str,
    value: str,
    answered: bool,  # noqa: FBT001 - hypothesis passes by position
) -> None:
    written = json.dumps({"a": 1, member: value}).encode()
    shown = interaction(sent=b"" if answered else written, body=written if answered else b"")
    assert token_exchange_reason(shown) == "an OAuth token exchange"


@pytest.mark.parametrize("sent", [b"grant_type=x", b"scope=a&grant_type=x&b=1"])
def test_a_form_that_asks_for_a_token_is_recognized(sent: bytes) -> None:
    assert token_exchange_reason(interaction(sent=sent)) == "an OAuth token exchange"


@given(st.sampled_from(MEMBERS), st.text("&= a\n{"))
def test_a_turn_about_tokens_is_not_an_exchange(member: str, text: str) -> None:
    words = f'{text}&{member}={text} "{member}": 1'
    sent = json.dumps({"messages": [{"role": "user", "content": words}]}).encode()
    body = sse(json.dumps({"choices": [{"delta": {"content": words}}]}))
    for each in (sent, sent[:-1], b" " + sent):
        assert token_exchange_reason(interaction(sent=each, body=body)) == ""


def test_the_provider_tells_mistral_from_those_that_it_looks_like() -> None:
    chunk = sse('{"object": "chat.completion.chunk", "choices": [{"delta": {}}]}')
    assert detect(interaction(body=chunk), "mistral").dialect == "mistral"
    at_home = detect(interaction("https://api.mistral.ai/v1/chat/completions", chunk), "mistral")
    assert (at_home.dialect, at_home.confidence) == ("mistral", "certain")


def test_the_frames_of_aws_are_told_by_what_is_in_them() -> None:
    start = encode_event(b'{"role":"assistant"}', "messageStart")
    assert detect(interaction(body=start)).dialect == "bedrock-converse"
    headers = {":event-type": "chunk", ":message-type": "event"}
    for event, dialect in EVENTS.items():
        if dialect != "bedrock-converse":
            body = encode_message(wrap_chunk(event.encode()), headers)
            assert detect(interaction(body=body)).dialect == dialect


@each_row("event", NOTHING)
def test_what_tells_nothing_is_unknown(event: str) -> None:
    assert detect(interaction(body=sse(event))) == Detected()


def test_no_address_is_that_of_two_apis() -> None:
    for uri in ADDRESSES:
        path = uri.partition("?")[0]
        found = [
            n for n, row in DIALECTS.items() if any(re.search(p, path) for p in row.detection.paths)
        ]
        assert len(found) <= 1, path


@given(
    st.lists(st.dictionaries(WORDS, VALUES, max_size=5), max_size=3),
    st.sampled_from(sorted(ADDRESSES)),
    st.randoms(use_true_random=False),
)
def test_detection_does_not_depend_on_the_order_of_rows(
    events: list[object], uri: str, random: Random
) -> None:
    rows = [(row.name, row.detection) for row in DIALECTS.values()]
    random.shuffle(rows)
    shuffled = Detector(dict(rows))
    sent = json.dumps(events[0]).encode() if events else b""
    for body in (b"".join(sse(json.dumps(event)) for event in events), b"", sent):
        shown = interaction(uri, body, sent)
        assert detect(shown, "mistral", shuffled) == detect(shown, "mistral")


@given(st.lists(st.dictionaries(WORDS, VALUES, max_size=5), max_size=4), st.binary(max_size=40))
def test_no_body_makes_it_raise(events: list[object], noise: bytes) -> None:
    body = b"".join(sse(json.dumps(event)) for event in events)
    for shown in (body + noise, noise + body, json.dumps(events).encode()):
        found = detect(interaction("/v1/messages", shown, noise))
        assert found.dialect != UNKNOWN
        assert found.because
