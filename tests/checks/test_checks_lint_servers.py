"""Faulty servers of public reports: lint finds each of them at the right level."""

import msgspec
import pytest

from harness import shipped
from harness.checks.lint import LintReport, lint_cassettes
from harness.results.catalogue import load_catalogue
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request

CATALOGUE = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ASKED = {
    "model": "m",
    "stream": True,
    "messages": [{"role": "user", "content": "What is the weather in Oslo?"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": CITY}}],
}
ARGUMENTS = '{"city": "Oslo"}'


def chunk(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "c", "object": "chat.completion.chunk", "created": 1760000000, "model": "m",
        "choices": [choice],
    }  # fmt: skip


def call(name: str = "get_weather", arguments: str = ARGUMENTS, **more: str) -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    entry = {"index": 0, "type": "function", "function": function, **more}
    return {"role": "assistant", "content": None, "tool_calls": [entry]}


def lint(
    *chunks: dict[str, object],
    asked: dict[str, object] = ASKED,
    content_type: str = "text/event-stream",
    dialect: str = "openai-chat",
) -> LintReport:
    lines = [b"data: %b\n\n" % msgspec.json.encode(each) for each in chunks]
    done = b"data: [DONE]\n\n" if dialect == "openai-chat" else b""
    body = b"".join((*lines, done))
    request = Request("POST", "https://x.example/v1/x", (), msgspec.json.encode(asked))
    headers = (("content-type", content_type),)
    answer = Interaction(request, 200, headers, body, (Read(len(body)),), dialect=dialect)
    cassette = Cassette("c", (answer,), Origin("recorded"))
    return lint_cassettes([("c.yaml", cassette)], CATALOGUE)


END = chunk({}, "tool_calls")
GOOD = (chunk(call(id="a")), END)
TEXT = 'I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
WITHOUT_KEY = chunk(call(id="a"))
del WITHOUT_KEY["choices"][0]["finish_reason"]  # type: ignore[index]
WITHOUT_ID = chunk(call(id="a"))
del WITHOUT_ID["id"]
SERVERS = {
    "a stream as documented": (GOOD, {}),
    "no finish before the end": (GOOD[:1], {"FINISH-MISSING-BEFORE-DONE": "MUST"}),
    "no member finish_reason": ((WITHOUT_KEY, END), {"chunk.choices[].finish_reason": "MUST"}),
    "a call without an id": ((chunk(call()), END), {"DELTA-ID-MISSING": "MUST"}),
    "a call left in the text": (
        (chunk({"role": "assistant", "content": TEXT}), chunk({}, "stop")),
        {"call-left-in-text": "MUST"},
    ),
    "a call left in the reasoning": (
        (chunk({"role": "assistant", "reasoning_content": TEXT}), chunk({}, "stop")),
        {"call-left-in-text": "MUST"},
    ),
    "arguments in quotes of Python": (
        (chunk(call(arguments="{'city': 'Oslo'}", id="a")), END),
        {"arguments-not-an-object": "SHOULD"},
    ),
    "a tool that was not offered": (
        (chunk(call("get_time", id="a")), END),
        {"tool-not-offered": "SHOULD"},
    ),
    "a chunk without an id": ((WITHOUT_ID, END), {"chunk.id": "MUST"}),
    "an empty turn": (
        (chunk({"role": "assistant", "content": ""}), chunk({}, "stop")),
        {"turn-empty": "SHOULD"},
    ),
}


@pytest.mark.parametrize("name", SERVERS)
def test_each_faulty_server_is_found(name: str) -> None:
    chunks, due = SERVERS[name]
    assert {each.quirk: each.level for each in lint(*chunks).findings} == due


def test_a_stream_of_plain_text_is_found() -> None:
    (finding,) = lint(*GOOD, content_type="text/plain").findings
    assert (finding.quirk, finding.level) == ("content-type", "MUST")


def test_a_custom_tool_that_is_called_as_a_function_is_found() -> None:
    item = {"type": "function_call", "id": "fc", "call_id": "a", "name": "edit", "arguments": "{}"}
    tools = [{"type": "custom", "name": "edit"}]
    response = {"id": "r", "status": "completed", "output": [item], "tools": tools}
    events: tuple[dict[str, object], ...] = (
        {"type": "response.created", "response": {"id": "r", "tools": tools, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    )
    found = lint(*events, asked={}, dialect="openai-responses").findings
    assert {each.quirk: each.level for each in found}["tool-of-another-kind"] == "MUST"


def test_a_stream_whose_members_are_not_judged_counts_as_not_checked() -> None:
    created: dict[str, object] = {
        "type": "response.created",
        "response": {"created_at": 1745000000},
    }
    old: dict[str, object] = {"event_type": "text-generation", "text": "Hi."}
    asked: dict[str, object] = {"stream": True}
    cases = {
        "the times are of an earlier version of the API": lint(
            created, asked=asked, dialect="openai-responses"
        ),
        "the events are of another version of the API": lint(old, asked=asked, dialect="cohere"),
        "no event is in the table": lint({"type": "x"}, asked=asked, dialect="anthropic"),
        "the request does not ask for a stream": lint(*GOOD, asked={}),
    }
    for why, report in cases.items():
        assert f"the members of 1 stream: {why}" in report.unchecked
        assert not any(" members and " in each for each in report.checked)


def test_the_report_says_what_was_not_checked() -> None:
    report = lint(*GOOD)
    assert any("members and 7 orders of openai-chat" in each for each in report.checked)
    forms = "a text, two calls in one turn, a call without arguments, a stop at the limit"
    assert report.unchecked == (
        "what texts and arguments say, such as an error of a gateway written as text",
        f"forms that no stream shows: {forms}, usage with both numbers",
    )


@pytest.mark.parametrize(
    ("chunks", "duty"),
    [
        ((chunk({"role": "tool", "content": "Rain"}), chunk({}, "stop")), "delta.role"),
        (
            ({**chunk({"role": "assistant", "content": "Rain"}), "id": "d"}, chunk({}, "stop")),
            "RESPONSE-ID-PER-CHUNK",
        ),
        (
            (chunk({"role": "assistant", "content": "Rain.<|im_end|>"}), chunk({}, "stop")),
            "token-left-in-text",
        ),
        ((chunk({"role": "assistant", "content": "\ufffdslo"}), chunk({}, "stop")), "text-damaged"),
    ],
)
def test_a_value_that_the_api_does_not_have_is_found(
    chunks: tuple[dict[str, object], ...], duty: str
) -> None:
    found = [each.quirk for each in lint(*chunks).findings]
    assert len(found) == 1
    assert found[0].endswith(duty)
