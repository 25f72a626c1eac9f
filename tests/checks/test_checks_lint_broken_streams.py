"""Streams with one fault of a public kind each: lint finds it, by kind, in each API.

A fault is an edit of the bytes that the writer of the API emits by default, for which the test of
the writers shows that lint reports nothing of the level MUST or SHOULD that the fault adds.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
import pytest

from harness import shipped
from harness.checks.lint import LintReport, lint_cassettes
from harness.dialects.table import DIALECTS
from harness.results.catalogue import load_catalogue
from harness.results.finding import Level
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction
from tests.tables import each_row

Json: TypeAlias = dict[str, Any]
CATALOGUE: Final = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
CITY: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
USED: Final = UsageDelta(Usage(41, 12))
CALL: Final = (
    TextDelta("I look. "),
    ToolCallStart(0, "call_a", "get_weather"),
    ArgumentsDelta(0, '{"city": "Oslo"}'),
    ToolCallEnd(0),
    USED,
    Finish(FinishReason.TOOL_CALLS),
)
TEXT: Final = (TextDelta("It rains."), USED, Finish(FinishReason.STOP))
OPENAI, CLAUDE, RESPONSES, GEMINI = "openai-chat", "anthropic", "openai-responses", "gemini"
MISTRAL, COHERE, OLLAMA, BEDROCK = "mistral", "cohere", "ollama", "bedrock-converse"
NAME: Final = ('"get_weather"', '"functions.get_weather"')
ROLE: Final = ('"role": "assistant"', '"role": "user"')
TOWN: Final = ('\\"city\\"', '\\"town\\"')
DONE: Final = "data: [DONE]\n\n"
TOKENS: Final = "chunk.usageMetadata.candidatesTokenCount"
THOUGHTS: Final = ("It rains", "<think>Hm.</think>It rains")
# Dialect, what is replaced by what, the duty that lint reports, and its level.
FAULTS: Final = [
    (OPENAI, *NAME, "tool-not-offered", "SHOULD"),
    (OPENAI, '"get_weather"', '"get_weather\\n"', "tool-not-offered", "SHOULD"),
    (MISTRAL, *NAME, "tool-not-offered", "SHOULD"),
    (GEMINI, '"get_weather"', '"default_api.get_weather"', "tool-not-offered", "SHOULD"),
    (OLLAMA, *NAME, "tool-not-offered", "SHOULD"),
    (OPENAI, *TOWN, "arguments-against-schema", "SHOULD"),
    (CLAUDE, *TOWN, "arguments-against-schema", "SHOULD"),
    (RESPONSES, *TOWN, "arguments-against-schema", "SHOULD"),
    (GEMINI, '"city"', '"town"', "arguments-against-schema", "SHOULD"),
    (OPENAI, '\\"Oslo\\"', "null", "arguments-against-schema", "SHOULD"),
    (OPENAI, '"tool_calls"}', '"function_call"}', "finish-of-another-kind", "SHOULD"),
    (OPENAI, '"id": "call_a"', '"id": " "', "DELTA-ID-MISSING", "MUST"),
    (OPENAI, *THOUGHTS, "reasoning-in-text", "SHOULD"),
    (MISTRAL, *THOUGHTS, "reasoning-in-text", "SHOULD"),
    (OPENAI, "It rains", "<|channel|>analysis<|message|>It rains", "token-left-in-text", "SHOULD"),
    (OPENAI, '"completion_tokens": 12', '"completion_tokens": 0', "usage-zero", "SHOULD"),
    (CLAUDE, '"output_tokens": 12', '"output_tokens": 0', "usage-zero", "SHOULD"),
    (RESPONSES, '"output_tokens": 12', '"output_tokens": 0', "usage-zero", "SHOULD"),
    (COHERE, '"output_tokens": 12', '"output_tokens": 0', "usage-zero", "SHOULD"),
    (OPENAI, '"total_tokens": 53', '"total_tokens": 12', "usage-sum", "SHOULD"),
    (MISTRAL, '"total_tokens": 53', '"total_tokens": 12', "usage-sum", "MAY"),
    (RESPONSES, '"total_tokens": 53', '"total_tokens": 12', "usage-sum", "SHOULD"),
    (GEMINI, '"totalTokenCount": 53', '"totalTokenCount": 12', "usage-sum", "SHOULD"),
    (OPENAI, '"cached_tokens": 0', '"cached_tokens": 900', "usage-part", "SHOULD"),
    (OPENAI, '"created": 17', '"created": 176000000017', "chunk.created", "SHOULD"),
    (OPENAI, '"created": 1760000000', '"created": 1760000000.25', "chunk.created", "SHOULD"),
    (OPENAI, '"id": "chatcmpl-1"', '"id": ""', "chunk.id", "SHOULD"),
    (OPENAI, '"model": "gpt-4o-mini"', '"model": ""', "chunk.model", "MAY"),
    (OPENAI, '"choices": [{"index": 0', '"choices": [{"index": 1', "choice-index-zero", "SHOULD"),
    (OPENAI, '"choices": [{', '"system_fingerprint": 5, "choices": [{', "chunk.system_fingerprint",
     "SHOULD"),
    (CLAUDE, '"type": "message"', '"type": "text"', "message_start.message.type", "MUST"),
    (CLAUDE, '"id": "call_a"', '"id": "functions.get_weather:0"',
     "content_block_start.content_block:tool_use.id", "SHOULD"),
    (RESPONSES, '"object": "response"', '"object": "chat.completion"',
     "response.created.response.object", "MUST"),
    (RESPONSES, "event: response.output_text.delta", "event: message", "event-name", "SHOULD"),
    (GEMINI, '"promptTokenCount": 41', '"promptTokenCount": "41"',
     "chunk.usageMetadata.promptTokenCount", "SHOULD"),
    (GEMINI, ', "role": "model"', "", "chunk.candidates[].content.role", "MUST"),
    (COHERE, *ROLE, "message-start.delta.message.role", "MAY"),
    (OLLAMA, *ROLE, "done=false.message.role", "MAY"),
    (OLLAMA, '"eval_count": 12', '"eval_count": -3', "done=true.eval_count", "SHOULD"),
    (GEMINI, '"candidatesTokenCount": 12', '"candidatesTokenCount": -12', TOKENS, "SHOULD"),
    (COHERE, '"index": 0', '"index": -1', "content-start.index", "SHOULD"),
    (RESPONSES, *ROLE, "response.output_item.added.item:message.role", "MUST"),
    (RESPONSES, '"content_index": 0', '"content_index": 1', "content-index-zero", "MUST"),
    (OLLAMA, '"role": "assistant", ', "", "done=false.message.role", "MUST"),
]  # fmt: skip


def interaction(dialect: str, body: bytes, content_type: str = "") -> Interaction:
    row = DIALECTS[dialect]
    tools = (Tool("get_weather", "Weather.", CITY),)
    request = row.request_forms[""].first_request("m", "Weather in Oslo?", tools)
    headers = (("content-type", content_type or row.content_type),)
    return Interaction(request, 200, headers, body, (), dialect=dialect)


def lint(each: Interaction, least: Level = "SHOULD") -> LintReport:
    cassette = Cassette("c", (each,), Origin("recorded"))
    return lint_cassettes([("c.yaml", cassette)], CATALOGUE, least)


def levels(each: Interaction, least: Level = "SHOULD") -> dict[str, str]:
    return {it.quirk: it.level for it in lint(each, least).findings}


@each_row(("dialect", "old", "new", "duty", "level"), FAULTS)
def test_a_fault_of_a_public_kind_is_found(
    dialect: str, old: str, new: str, duty: str, level: str
) -> None:
    bodies = (b"".join(DIALECTS[dialect].write(turn)) for turn in (CALL, TEXT))
    body = next(it for it in bodies if old.encode() in it)
    edited = body.replace(old.encode(), new.encode())
    assert duty not in levels(interaction(dialect, body))
    assert levels(interaction(dialect, edited), "MAY").get(duty) == level


@pytest.mark.parametrize("dialect", [OPENAI, MISTRAL, COHERE, OLLAMA, GEMINI, CLAUDE, BEDROCK])
def test_a_turn_that_is_cut_and_empty_is_found_unless_it_reasoned(dialect: str) -> None:
    cut = (USED, Finish(FinishReason.LENGTH))
    body = b"".join(DIALECTS[dialect].write(cut))
    assert levels(interaction(dialect, body)).get("turn-cut-empty") == "SHOULD"
    thought = body.replace(b'"reasoning_tokens": 0', b'"reasoning_tokens": 12')
    is_hidden = thought != body
    assert ("turn-cut-empty" in levels(interaction(dialect, thought))) is not is_hidden


def test_the_end_of_a_stream_has_what_its_api_has() -> None:
    gemini = b"".join(DIALECTS[GEMINI].write(TEXT))
    found = lint(interaction(GEMINI, gemini + DONE.encode())).findings
    (sentinel,) = (it for it in found if it.quirk == "done-sentinel")
    assert sentinel.level == "MUST"
    assert sentinel.clients[0].startswith("google-genai ")
    responses = b"".join(DIALECTS[RESPONSES].write(TEXT))
    at = responses.rindex(b'"usage": ')
    edited = responses[:at] + b'"usage": null, "was": ' + responses[at + len(b'"usage": ') :]
    assert levels(interaction(RESPONSES, edited))["usage-missing"] == "SHOULD"


def test_a_model_that_changes_and_a_missing_content_type_are_found() -> None:
    body = b"".join(DIALECTS[OPENAI].write(TEXT))
    changed = body.replace(b"gpt-4o-mini", b"other", 1)
    assert levels(interaction(OPENAI, changed), "MAY")["model-changes"] == "MAY"
    each = interaction(OPENAI, body)
    without = Interaction(each.request, 200, (("server", "x"),), body, (), dialect=OPENAI)
    assert levels(without) == {"content-type": "MUST"}


def test_the_result_says_what_lint_cannot_know() -> None:
    body = b"".join(DIALECTS[OPENAI].write(TEXT)).replace(b"1760000000", b"0")
    report = lint(interaction(OPENAI, body))
    assert report.findings == ()
    assert "the times of 1 stream, which are 0" in report.unchecked
    assert any(each.startswith("what texts and arguments say") for each in report.unchecked)
    thought = b"".join(DIALECTS[OLLAMA].write((TextDelta("<think>Hm.</think>Rain"), *TEXT[1:])))
    assert lint(interaction(OLLAMA, thought)).hidden >= 1


def responses_with(turn: tuple[Delta, ...], edit: Callable[[str, Json], Json]) -> dict[str, str]:
    """Return the duties of a stream whose events are edited, each by its type."""
    events = (
        msgspec.json.decode(line.removeprefix(b"data: "))
        for line in b"".join(DIALECTS[RESPONSES].write(turn)).split(b"\n")
        if line.startswith(b"data: ")
    )
    edited = (msgspec.json.encode(edit(each["type"], each)) for each in events)
    return levels(interaction(RESPONSES, b"".join(b"data: %b\n\n" % it for it in edited)))


def test_an_item_that_ends_with_another_id_is_found() -> None:
    def edit(kind: str, event: Json) -> Json:
        if kind == "response.output_item.done":
            event["item"]["id"] = "msg_other"
        return event

    assert responses_with(TEXT, edit)["item-identity"] == "MUST"


def test_an_output_without_an_item_that_ended_is_found() -> None:
    def edit(kind: str, event: Json) -> Json:
        if kind == "response.completed":
            del event["response"]["output"][1:]
        return event

    assert responses_with(CALL, edit)["output-incomplete"] == "MUST"


def test_a_stream_that_begins_before_its_response_is_not_taken_for_a_resumed_one() -> None:
    body = b"".join(DIALECTS[RESPONSES].write(TEXT))
    events = body.split(b"\n\n")
    late = b"\n\n".join((*events[2:4], *events[:2], *events[4:]))
    assert levels(interaction(RESPONSES, late))["response-lifecycle"] == "MUST"


LEAKS: Final = [
    "<think>Hm.</think>It rains", "<think>Hm, the user", "\n<think>\nHm\n</think>\n\nIt rains.",
    "Hm, Oslo.\n</think>\n\nIt rains.", "Answer briefly.</think>391", 'Hm\n</think>{"a": 1}',
    "the user wants Oslo</think>It rains", "</think>\n\nIt rains", "hm </think>\n\nIt rains",
    "Sure.\n<think>the user wants x</think>\nIt rains", "\u597d\u7684\u3002</think>\u4eca\u5929",
    "Use\n```py\nx\n```\n</think>\nIt rains", "<think></think>It rains",
    "About `</think>`: I explain.\n</think>\n\nThe tag closes it.",
]  # fmt: skip
EXPLANATIONS: Final = [
    "R1 closes its reasoning with `</think>` and then answers.", "The tag </think> ends it.",
    "R1 writes <think> first, then its plan, and </think> before the answer.",
    "Write:\n```\n<think>\nplan\n</think>\n\nanswer\n```\nin the template.",
    'Look for "</think>" in the text.', "<think> is the tag that opens it; </think> closes it.",
    "An empty pair (<think></think>) switches it off.", "The stop string is </think>.",
    "Split at '</think>'\n\nThen strip.", "1. Find </think> in the text\n2. Cut it there.",
    "For example:\n<think>plan</think>\nanswer", "Replace `<think>.*?</think>\\n`.\n\nDone.",
    "Everything before </think> is hidden, and after </think> comes the answer.",
]  # fmt: skip


@each_row(
    ("text", "is_leak"), [*((it, True) for it in LEAKS), *((it, False) for it in EXPLANATIONS)]
)
def test_reasoning_is_found_in_a_text_and_an_explanation_of_its_tags_is_not(
    text: str, *, is_leak: bool
) -> None:
    body = b"".join(DIALECTS[OPENAI].write((TextDelta(text), *TEXT[1:])))
    assert ("reasoning-in-text" in levels(interaction(OPENAI, body))) == is_leak
