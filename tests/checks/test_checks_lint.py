"""Lint: streams as the API documents them are clean, and each deviation has its bytes."""

import msgspec
import pytest

from harness import shipped
from harness.checks.lint import LintReport, lint_cassettes
from harness.dialects.table import DIALECTS
from harness.results.catalogue import load_catalogue
from harness.turns.deltas import ArgumentsDelta, Finish, FinishReason, ToolCallEnd, ToolCallStart
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Ended, Interaction, Read, Request

CATALOGUE = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
TOOL = {"name": "f", "parameters": {"type": "object"}}
CHUNK = (
    b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
    b'"delta":%b,"finish_reason":%b}]}'
)
OPEN = (
    b'{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function",'
    b'"function":{"name":"f","arguments":""}}]}'
)
NULL = b'{"tool_calls":[{"index":0,"function":{"arguments":null}}]}'


def stream(*payloads: bytes) -> bytes:
    return b"".join(b"data: %b\n\n" % each for each in payloads)


GOOD = stream(CHUNK % (OPEN, b"null"), CHUNK % (b"{}", b'"tool_calls"'), b"[DONE]")
BAD = stream(
    CHUNK % (OPEN, b"null"), CHUNK % (NULL, b"null"), CHUNK % (b"{}", b'"tool_calls"'), b"[DONE]"
)


def lint(
    body: bytes,
    dialect: str = "openai-chat",
    *,
    ended: Ended = "complete",
    status: int = 200,
    uri: str = "https://x.example/v1/chat/completions",
    **asked: object,
) -> LintReport:
    request = Request("POST", uri, (), msgspec.json.encode(asked))
    reads = (Read(len(body)),)
    interaction = Interaction(
        request, status, (), body, reads, dialect=dialect, tools=(TOOL,), ended=ended
    )
    cassette = Cassette("c", (interaction,), Origin("recorded"))
    return lint_cassettes([("c.yaml", cassette)], CATALOGUE)


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_what_a_writer_writes_by_default_violates_nothing(name: str) -> None:
    row = DIALECTS[name]
    calls = (
        (ToolCallStart(0, "call_1", "f"), ArgumentsDelta(0, '{"a": 1}'), ToolCallEnd(0))
        if row.arguments != "none"
        else ()
    )
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    body = row.interaction((*calls, Finish(reason))).body
    found = lint(body, name)
    assert found.streams == 1
    assert [each.quirk for each in found.with_level("MUST")] == []


def test_a_deviation_has_its_bytes_its_level_and_its_sources() -> None:
    assert lint(GOOD).findings == ()
    (finding,) = lint(BAD).findings
    assert (finding.quirk, finding.level, finding.severity) == ("ARGS-NULL", "MUST", "crash")
    assert finding.offset == BAD.index(b"data:", 10)
    assert finding.bytes == (b"data: " + CHUNK % (NULL, b"null")).decode()
    assert finding.sources[0] == DIALECTS["openai-chat"].reference
    assert set(CATALOGUE["ARGS-NULL"].references) < set(finding.sources)


def test_bytes_that_are_not_text_are_shown() -> None:
    broken = BAD.replace(b'"id":"c"', b'"id":"\xff"')
    assert all("\\xff" in each.bytes for each in lint(broken).findings if each.quirk == "ARGS-NULL")


def test_events_of_nova_in_an_invoke_stream_are_one_message() -> None:
    path = shipped.bundled_folder("cassettes") / "aws-bedrock/amazon.nova-lite-v1/invoke.yaml"
    report = lint_cassettes([(str(path), load_cassette(path))], CATALOGUE)
    assert [it.quirk for it in report.findings if it.level != "MAY"] == []


def test_one_document_is_a_deviation_only_if_a_stream_was_requested() -> None:
    body = (
        b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
        b'"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}'
    )
    messages = [{"role": "user", "content": "Hi"}]
    asked = lint(body, messages=messages, stream=True)
    assert [each.quirk for each in asked.findings] == ["JSON-FOR-STREAM"]
    assert lint(body, messages=messages).findings == ()


def test_what_the_client_ended_or_has_no_dialect_is_not_judged() -> None:
    aborted = lint(BAD[:200], ended="aborted")
    assert (aborted.streams, aborted.findings) == (0, ())
    assert "client closed" in aborted.skipped[0].why
    assert "no dialect" in lint(b"data: {}\n\n", "unknown", uri="https://x.example/").skipped[0].why


def test_an_error_with_its_status_is_no_deviation_but_a_page_is() -> None:
    error = b'{"error":{"message":"Too many requests","type":"rate_limit","code":"429"}}'
    assert lint(error, status=429, stream=True).findings == ()
    page = lint(b"<html><body>Bad gateway</body></html>", status=502, stream=True)
    assert [each.quirk for each in page.findings] == ["HTTP-HTML-BODY"]


FRAGMENT = '{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}'
NEEDY = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    ("arguments", "required", "quirk"),
    [
        ("", True, "ARGS-START-LOST"),
        ("", False, ""),
        ('city": "Oslo"}', False, "ARGS-START-LOST"),
        ('{"city": "Oslo"', True, "ARGS-TRUNCATED-FINISH-OK"),
        ('{"city": "Oslo"}', True, ""),
        ("I cannot.", True, "arguments-not-an-object"),
    ],
)
def test_lost_arguments_of_a_turn_that_ended_well_are_a_deviation(
    arguments: str,
    required: bool,  # noqa: FBT001 - a row
    quirk: str,
) -> None:
    piece = (FRAGMENT % msgspec.json.encode(arguments).decode()).encode()
    chunks = (CHUNK % (OPEN, b"null"), CHUNK % (piece, b"null"))
    body = stream(*chunks, CHUNK % (b"{}", b'"tool_calls"'), b"[DONE]")
    tool = {"name": "f", "parameters": NEEDY if required else {"type": "object"}}
    tools = [{"type": "function", "function": tool}]
    found = [(it.quirk, it.level) for it in lint(body, tools=tools, stream=True).findings]
    assert found == ([(quirk, "SHOULD")] if quirk else [])
    cut = stream(*chunks, CHUNK % (b"{}", b'"length"'), b"[DONE]")
    assert not {"ARGS-START-LOST", "ARGS-TRUNCATED-FINISH-OK"} & {
        it.quirk for it in lint(cut, tools=tools, stream=True).findings
    }


FORCED = {"type": "function", "function": {"name": "f"}}
ENCODED = (
    "https://x.example/v1beta/models/m:streamGenerateContent?%24alt=json%3Benum-encoding%3Dint"
)


def test_what_the_request_asks_for_is_not_a_deviation() -> None:
    stopped = GOOD.replace(b'"tool_calls"}]', b'"stop"}]')
    quirk = "FINISH-STOP-WITH-CALLS"
    assert quirk in {it.quirk for it in lint(stopped, stream=True).findings}
    for choice in (FORCED, "required"):
        found = lint(stopped, stream=True, tool_choice=choice).findings
        assert quirk not in {it.quirk for it in found}
    numbered = (
        b'{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":1}]}'
    )
    for uri, is_found in ((ENCODED.partition("%3B")[0], True), (ENCODED, False)):
        found = lint(stream(numbered), "gemini", uri=uri).findings
        assert ("GEM-FINISH-NUMBER" in {it.quirk for it in found}) == is_found


@pytest.mark.parametrize(("caller", "is_found"), [("direct", True), ("code_execution", False)])
def test_the_calls_of_a_program_come_complete_as_documented(caller: str, *, is_found: bool) -> None:
    call = {
        "type": "tool_use",
        "id": "t",
        "name": "f",
        "input": {"a": 1},
        "caller": {"type": caller},
    }
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [call]}
    start = {"type": "message_start", "message": {**message, "stop_reason": "tool_use"}}
    body = b"event: message_start\ndata: %b\n\n" % msgspec.json.encode(start)
    body += b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    found = {
        it.quirk for it in lint(body, "anthropic", uri="https://x.example/v1/messages").findings
    }
    assert ("ANT-WHOLE-IN-START" in found) == is_found
