"""Values that Python printed are read without evaluation: also across lines, also objects."""

import json
import re
import textwrap
from contextlib import suppress
from pathlib import Path
from pprint import pformat
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from harness.errors import UnreadableError
from harness.recording.importers.event_list import parse_event
from harness.recording.importing import Labels, import_file
from harness.recording.logged_events import find_events
from harness.recording.pasted import Pasted, requests_in, ways_to_read
from harness.recording.printed import Printed
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from tests.recording.format_fixtures import STREAM
from tests.tables import each_row

TEXT = STREAM.decode()
EVENTS = [line.removeprefix("data: ") for line in TEXT.split("\n") if line]
DELTAS = [
    {"role": "assistant", "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"path": "a b", "n": 1}'}}]},
    {},
]
CHUNKS: list[dict[str, Any]] = [
    {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": it, "finish_reason": None if it else "tool_calls"}],
    }
    for it in DELTAS
]
WRAPPED = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS)


class ChoiceDeltaToolCallFunction(BaseModel):
    arguments: str | None = None
    name: str | None = None


class ChoiceDeltaToolCall(BaseModel):
    index: int
    id: str | None = None
    function: ChoiceDeltaToolCallFunction | None = None
    type: str | None = None


class ChoiceDelta(BaseModel):
    content: str | None = None
    role: str | None = None
    tool_calls: list[ChoiceDeltaToolCall] | None = None


class Choice(BaseModel):
    delta: ChoiceDelta
    finish_reason: str | None = None
    index: int
    logprobs: None = None


class ChatCompletionChunk(BaseModel):
    """The names and the order of members with which the package openai prints a chunk."""

    id: str
    choices: list[Choice]
    created: int
    model: str
    object: str
    usage: None = None


# Typed as any, because mypy does not know that a chunk is printed in the way of Pydantic.
OBJECTS: list[Any] = [ChatCompletionChunk.model_validate(chunk) for chunk in CHUNKS]


def wrapped(width: int) -> str:
    """Return the stream as a terminal of this width prints it."""
    parts = (
        line[n : n + width] for line in WRAPPED.split("\n") for n in range(0, len(line) or 1, width)
    )
    return "\n".join(parts)


PRINTED = {
    "pprint": "\n".join(pformat(chunk, width=40) for chunk in CHUNKS),
    "indented JSON": "\n".join(json.dumps(chunk, indent=2) for chunk in CHUNKS),
    "indented JSON in data": "".join(f"data: {json.dumps(it, indent=1)}\n\n" for it in CHUNKS),
    "a Python list": pformat(CHUNKS),
    "a terminal of 61 columns": wrapped(61),
    "wrapped at spaces": "\n\n".join(
        textwrap.fill(it, 50, break_long_words=False) for it in WRAPPED.split("\n\n")
    ),
    "objects": "".join(f"chunk: {each!r}\n" for each in OBJECTS),
    "objects over lines": "\n".join(re.sub(", (?=[a-z_]+=)", ",\n  ", repr(it)) for it in OBJECTS),
    "str of pydantic": "\n".join(each.__repr_str__(" ") for each in OBJECTS),
}


@each_row("name", PRINTED)
def test_printed_values_are_read_across_lines(name: str) -> None:
    _, cassette = first_whole(PRINTED[name])
    (only,) = cassette.interactions
    events = [json.loads(frame.data) for frame in iter_frames([only.body])]
    calls = [event["choices"][0]["delta"].get("tool_calls") for event in events]
    functions = [{**call[0]["function"]} for call in calls if call]
    assert functions == [{"name": "f"}, {"arguments": '{"path": "a b", "n": 1}'}]
    assert [event["choices"][0]["finish_reason"] for event in events] == [None, None, "tool_calls"]


def first_whole(text: str) -> tuple[Pasted, Cassette]:
    """Return the first way to read the text in which each event is JSON, as the command does."""
    for pasted in ways_to_read(text.encode()):
        with suppress(UnreadableError):
            found = import_file(Path("a.txt"), pasted.data, "a.txt", Labels())
            bodies = [each.body for it in found.cassettes for each in it.interactions]
            frames = [frame for body in bodies for frame in iter_frames([body])]
            if frames and all(parse_event(frame.data) is not None for frame in frames):
                return pasted, found.cassettes[0]
    raise AssertionError("no stream recognized")


# What SDKs of other APIs print -> the dialect, and a part of the body.
OF_OTHER_SDKS = {
    "RawContentBlockStartEvent(content_block=ToolUseBlock(id='t', input={}, name='f', "
    "type='tool_use'), index=0, type='content_block_start')": ("anthropic", '"name": "f"'),
    "GenerateContentResponse(\n  candidates=[\n    Candidate(content=Content(parts=[Part("
    "function_call=FunctionCall(args={'a_b': 1}, name='f'))], role='model'), "
    "finish_reason=<FinishReason.STOP: 'STOP'>)\n  ],\n  sdk_http_response=HttpResponse("
    "headers=<dict len=11>\n  )\n)": ("gemini", '"functionCall": {"args": {"a_b": 1}'),
    "GenerateContentResponse(candidates=[Candidate(content=Content(parts=[Part(\n"
    '  text="""two\nlines"""\n)]))])': ("gemini", r'"text": "two\nlines"'),
    "ChatResponse(model='m', created_at='2026', done=False, message=Message(role='assistant', "
    "content='', tool_calls=[ToolCall(function=Function(name='f', arguments={'a': 1}))]))": (
        "ollama",
        '"arguments": {"a": 1}',
    ),
    "model='m' created_at='2026' done=False message=Message(role='assistant', content='Hi')": (
        "ollama",
        '"content": "Hi"',
    ),
    "CompletionEvent(data=CompletionChunk(id='x', model='m', choices=[CompletionResponseStream"
    "Choice(index=0, delta=DeltaMessage(content='Hi', tool_calls=Unset()), finish_reason=None)]"
    ", created=1))": ("openai-chat", '"content": "Hi"'),
    """{'chunk': {'bytes': b'{"type":"message_start","message":{"role":"assistant"}}'}}""": (
        "anthropic",
        '"role":"assistant"',
    ),
    "Chunk(at=datetime.datetime(2026, 1, 1, tzinfo=TzInfo(UTC)), choices=[Choice(index=0, "
    "delta=Delta(content='it\\'s ' \"a\"))], object='chat.completion.chunk')": (
        "openai-chat",
        "it's a",
    ),
}


@each_row("text", OF_OTHER_SDKS)
def test_objects_of_sdks_are_read(text: str) -> None:
    dialect, part = OF_OTHER_SDKS[text]
    _, cassette = first_whole(f"2026-01-01 DEBUG event: {text}\n")
    (only,) = cassette.interactions
    assert cassette.dialect == dialect
    assert part in only.body.decode()


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch x')",
        "Chunk(object='chat.completion.chunk', choices=[__import__('os').f('x')])",
        "Chunk(object='chat.completion.chunk', choices=[i for i in ()])",
        "Chunk(object='chat.completion.chunk' if 1 else 2)",
        "Chunk(object='chat.completion.chunk', **{})",
        "Chunk('chat.completion.chunk', object='chat.completion.chunk')",
    ],
)
def test_nothing_is_evaluated(text: str) -> None:
    assert find_events(f"DEBUG {text}").events == ()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES), st.integers(1, 80), st.text(max_size=3))
def test_a_printed_mapping_is_that_mapping(value: dict[str, object], width: int, rest: str) -> None:
    for text in (repr(value), pformat(value, width=width), json.dumps(value, indent=1)):
        found = Printed(f"{text} {rest}").value_at(0)
        assert found is not None
        assert (found.complete, found.end, json.loads(found.data)) == (True, len(text), value)


@given(st.text(alphabet="{}[](),:='\"ab1 \n\\b", max_size=60))
def test_any_text_ends_within_it(text: str) -> None:
    found = Printed(text).value_at(0)
    assert found is None or 0 <= found.end <= len(text)


def test_events_of_boto3_without_a_unique_member_count_next_to_the_others() -> None:
    names = ("messageStart", "contentBlockStop", "messageStop", "metadata")
    events = [{name: {"usage": {"inputTokens": 1}}} for name in names]
    found = find_events("".join(f"chunk: {event}\n" for event in events))
    assert [json.loads(event.data) for event in found.events] == events


def test_an_error_counts_next_to_certain_events_only() -> None:
    error = '{"error": {"message": "busy", "code": 503}}'
    assert len(find_events(f"INFO {EVENTS[0]}\nINFO {error}\n").events) == 2
    assert len(find_events(f'INFO {{"raw": {EVENTS[0]}}}\nINFO {error}\n').events) == 1


def test_a_cut_event_is_reported() -> None:
    found = find_events(f"INFO {EVENTS[0][:-9]}\nINFO {EVENTS[1]}\n")
    assert (len(found.events), len(found.lost), found.lost_first) == (1, 1, True)


ADDRESS = "https://api.groq.com/openai/v1/chat/completions"
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "it's"}], "stream": True}
QUOTED = json.dumps(REQUEST).replace("'", "'\\''")


@pytest.mark.parametrize(
    "text",
    [
        f"$ curl {ADDRESS} \\\n  -H 'X-A: b' \\\n  -d '{QUOTED}'\n",
        f"curl -X POST \\\n  --url {ADDRESS} --json '{QUOTED}'\n",
        f"HTTP Request: POST {ADDRESS} 'HTTP/1.1 200 OK'\nDEBUG Request options: "
        + repr({"method": "post", "url": "/chat", "json_data": REQUEST}),
        f"POST {ADDRESS}\n{json.dumps(REQUEST, indent=2)}\n",
    ],
)
def test_the_request_is_found_next_to_the_stream(text: str) -> None:
    (request,) = requests_in(f"{text}\n{TEXT}".encode())
    assert json.loads(request.body) == REQUEST
    assert request.uri == ADDRESS


HOSTILE = {
    "open lists": '{"a":[1,' * 20_000,
    "open objects": "A(b=\n" * 50_000,
    "quotes": "{'''\n" * 50_000,
    "flat": "{" + '"a":1,' * 50_000 + "x{" * 50_000,
    "keywords": "a=1 " * 50_000,
    "wrapped": 'data: {"a":\n' + "1,\n" * 50_000,
    "curl": "curl https: '" * 20_000,
    "members of enums": "[<a.b: " * 50_000,
}


@each_row("name", HOSTILE)
def test_hostile_texts_end_in_time(name: str) -> None:
    before = process_time()
    for _ in ways_to_read(HOSTILE[name].encode()):
        pass
    assert process_time() - before < 10
