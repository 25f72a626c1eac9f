"""How a call is spelled: ids, names, indexes, types, and the field that holds it."""

from typing import Any

from harness.dialects.openai_chat.writer_options import WriterOptions
from harness.turns.deltas import ToolCallEnd, ToolCallStart
from scripts.recipes.kit import (
    DONE,
    Recipe,
    Reply,
    append,
    call,
    choice,
    chunk,
    finish,
    fragments,
    insert,
    raw,
    stream,
    swap,
    text,
    tokens,
)

_OSLO = '{"city": "Oslo"}'
_BERGEN = '{"city": "Bergen"}'
_TWO = (
    *call("get_weather", _OSLO, call_id="call_a"),
    *call("get_weather", _BERGEN, index=1, call_id="call_b"),
    *finish("tool_calls"),
)
# What fuzzing starts from, so as rich as a turn without any quirk can be.
_DOCUMENTED = (
    *text("I will look ", "at both: Oslo, Zürich."),
    *call("get_weather", _OSLO, call_id="call_a"),
    *call("get_weather", '{"city": "Zürich"}', index=1, call_id="call_b"),
    *finish("tool_calls"),
    *tokens(31, 24),
)
_ONE = (*call("read_file", '{"path": "a.txt"}', call_id="call_a"), *finish("tool_calls"))
_FINISH = choice({}, "tool_calls")


def _entry(index: int, call_id: str, name: str, arguments: object) -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": call_id, "type": "function", "function": function}


def _two(name: str, reply: Reply | None = None, **spelling: Any) -> Recipe:  # noqa: ANN401 - the switches of Spelling
    """Return a recipe for two calls of one tool."""
    return Recipe(
        f"compatible/any/{name}",
        "Compare the weather in Oslo and Bergen.",
        ("get_weather",),
        (reply or stream(_TWO, spelling=WriterOptions(**spelling)),),
    )


def _one(name: str, reply: Reply | None = None, **spelling: Any) -> Recipe:  # noqa: ANN401 - the switches of Spelling
    """Return a recipe for one call."""
    return Recipe(
        f"compatible/any/{name}",
        "What does a.txt say?",
        ("read_file", "get_time", "run_in_terminal"),
        (reply or stream(_ONE, spelling=WriterOptions(**spelling)),),
    )


_INTERLEAVED = (
    ToolCallStart(0, "call_a", "get_weather"),
    *fragments('{"city": ', index=0, pieces=1),
    ToolCallStart(1, "call_b", "get_weather"),
    *fragments('{"city": ', index=1, pieces=1),
    *fragments('"Oslo"}', index=0, pieces=2),
    *fragments('"Bergen"}', index=1, pieces=2),
    ToolCallEnd(0),
    ToolCallEnd(1),
    *finish("tool_calls"),
)
_OTHER_CHOICE = chunk(
    choices=[
        {
            "index": 1,
            "delta": {"tool_calls": [_entry(0, "call_z", "get_weather", '{"city": "Rome"}')]},
            "finish_reason": None,
        }
    ]
)

_CUSTOM = (
    ToolCallStart(0, "call_a", "run_sql", "custom"),
    *fragments("SELECT city\nFROM cities -- {}{}\n"),
    ToolCallEnd(0),
    *finish("tool_calls"),
)

RECIPES = (
    Recipe(
        "openai/gpt-5-mini/custom-tool",
        "Which cities do we know?",
        (),
        (stream(_CUSTOM),),
        request={"tools": [{"type": "custom", "custom": {"name": "run_sql"}}]},
    ),
    Recipe(
        "openai/gpt-4o-mini/parallel",
        "Compare the weather in Oslo and Bergen.",
        ("get_weather",),
        (stream(_TWO),),
    ),
    Recipe(
        "openai/gpt-4o-mini/as-documented",
        "Compare the weather in Oslo and Zürich.",
        ("get_weather",),
        (stream(_DOCUMENTED),),
    ),
    _one("id-missing", first_id="absent"),
    _two(
        "ids-shared",
        stream(
            call("get_weather", _OSLO, call_id="call_f0"),
            call("get_weather", _BERGEN, index=1, call_id="call_f0"),
            finish("tool_calls"),
        ),
    ),
    _one("id-changes", later_id="changed"),
    _two("index-all-zero", index="zero"),
    _two("index-missing", index="absent"),
    _two("index-null", index="null"),
    _two("index-negative", index="negative"),
    _two("index-from-one", index="from-one"),
    _two("interleaved", stream(_INTERLEAVED)),
    _two("several-in-chunk", one_chunk=True),
    _two("calls-in-later-chunks", arguments="with-start"),
    _one("name-repeated", later_name="repeated", later_id="repeated"),
    _one("name-fragmented", name_pieces=3),
    _one("name-null-later", later_name="null"),
    _one(
        "name-prefix",
        stream(
            call("run_in", '{"command": "ls"}', call_id="call_a"),
            finish("tool_calls"),
        ),
    ),
    _one("type-missing", call_type="absent"),
    _one("type-null", call_type="null"),
    _one("type-empty", call_type="empty"),
    _one(
        "function-null",
        raw(
            choice({"role": "assistant", "content": None}),
            choice(
                {"tool_calls": [{"index": 0, "id": "call_a", "type": "function", "function": None}]}
            ),
            choice({"tool_calls": [{"index": 0, "function": {"name": "read_file"}}]}),
            choice({"tool_calls": [{"index": 0, "function": {"arguments": '{"path": '}}]}),
            choice({"tool_calls": [{"index": 0, "function": {"arguments": '"a.txt"}'}}]}),
            _FINISH,
            DONE,
        ),
    ),
    _one(
        "role-null",
        stream(_ONE, edits=(insert(0, choice({"role": None, "content": None})),)),
    ),
    Recipe(
        "azure/gpt-4o/delta-null",
        "What does a.txt say?",
        ("read_file",),
        (
            stream(
                _ONE,
                edits=(
                    insert(0, chunk(choices=[], prompt_filter_results=[{"prompt_index": 0}])),
                    insert(3, choice(None, content_filter_results={}, content_filter_offsets={})),
                ),
            ),
        ),
    ),
    _one("no-arguments-key", arguments="absent-first"),
    _one("arguments-null-first", arguments="null-first"),
    _one("first-has-all", arguments="with-start"),
    _one(
        "legacy-function-call",
        stream(
            call("read_file", '{"path": "a.txt"}'),
            finish("function_call"),
            spelling=WriterOptions(where="legacy"),
        ),
    ),
    _one(
        "legacy-stub",
        stream(
            _ONE,
            edits=(
                swap(
                    b'"delta": {}, "finish_reason": "tool_calls"',
                    b'"delta": {"function_call": {"name": "", "arguments": ""}}, '
                    b'"finish_reason": "tool_calls"',
                ),
            ),
        ),
    ),
    _one(
        "message-at-end",
        stream(
            _ONE,
            edits=(
                swap(
                    b'"delta": {}, "finish_reason": "tool_calls"',
                    b'"message": {"role": "assistant", "content": null, "tool_calls": [{"id": '
                    b'"call_a", "type": "function", "function": {"name": "read_file", '
                    b'"arguments": "{\\"path\\": \\"a.txt\\"}"}}]}, "finish_reason": "tool_calls"',
                ),
            ),
        ),
    ),
    _one("message-only", where="message", one_chunk=True),
    Recipe(
        "compatible/any/two-choices",
        "Compare the weather in Oslo and Bergen.",
        ("get_weather",),
        (stream(_TWO, edits=(insert(2, _OTHER_CHOICE),)),),
        request={"n": 2},
    ),
    _one(
        "text-and-call-in-one-delta",
        raw(
            choice(
                {
                    "role": "assistant",
                    "content": "Reading. ",
                    "tool_calls": [_entry(0, "call_a", "read_file", '{"path": ')],
                }
            ),
            choice(
                {
                    "content": "One moment.",
                    "tool_calls": [{"index": 0, "function": {"arguments": '"a.txt"}'}}],
                }
            ),
            _FINISH,
            DONE,
        ),
    ),
    _one(
        "text-after-call",
        stream(_ONE[:-1], text("I will ", "report back."), _ONE[-1:]),
    ),
    _one(
        "placeholder-deltas",
        stream(
            _ONE,
            edits=(
                insert(0, choice({"role": "assistant", "tool_call_generating": True})),
                insert(2, choice({}), choice({"tool_call_generating": True})),
            ),
        ),
    ),
    _one("response-id-per-chunk", new_response_ids=True),
    _one(
        "trailing-empty-fragment",
        stream(
            _ONE[:-1],
            edits=(
                append(
                    choice(
                        {"tool_calls": [{"index": 0, "id": "", "function": {"arguments": ""}}]},
                        "tool_calls",
                    ),
                    DONE,
                ),
            ),
            spelling=WriterOptions(done=False),
        ),
    ),
)
