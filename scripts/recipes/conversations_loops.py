"""Conversations of the loops with tools in the API's field, and what a history must survive.

A conversation is told in rounds: what the model says and calls, what comes back, and what the
user asks next. Requests are those that a careful client sends; agents are judged on their own.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from harness.dialects.openai_chat.writer_options import PROFILES, WriterOptions
from scripts.recipes.conversations import fed_back
from scripts.recipes.kit import (
    Edit,
    Json,
    Recipe,
    Reply,
    as_json,
    call,
    cut_after,
    end_before,
    finish,
    reasoning,
    spelled,
    stream,
)

_DASHSCOPE = PROFILES["dashscope"]
_OPENAI = WriterOptions()


class Made(msgspec.Struct, frozen=True):
    """A call of a round, and what comes back for it."""

    id: str
    name: str
    arguments: str
    result: str = "true"


class Round(msgspec.Struct, frozen=True):
    """One reply of the model, and what the request after it adds.

    Fields:
        thought: its reasoning.
        then: what the user asks next.
        edits: of the reply's events.
        end: why it says that it ends; "" for what fits.
    """

    said: str = ""
    made: tuple[Made, ...] = ()
    thought: str = ""
    then: str = ""
    edits: tuple[Edit, ...] = ()
    end: str = ""


def reply_of(
    this: Round,
    spelling: Any,  # noqa: ANN401 - of any dialect
    called: str = "tool_calls",
    stopped: str = "stop",
) -> Reply:
    """Return the reply of a round; `called` and `stopped` are the API's words for its ends."""
    calls = (
        delta
        for index, made in enumerate(this.made)
        for delta in call(made.name, made.arguments, index=index, call_id=made.id)
    )
    return stream(
        reasoning(this.thought) if this.thought else (),
        spelled(this.said),
        calls,
        finish(this.end or (called if this.made else stopped)),
        spelling=spelling,
        edits=this.edits,
    )


def _later(this: Round) -> tuple[Json, ...]:
    calls = ((made.id, made.name, made.arguments, made.result) for made in this.made)
    turn, *results = fed_back(this.said, *calls)
    if not this.made:
        turn = {"role": "assistant", "content": this.said}
    if this.thought:
        turn |= {"reasoning_content": this.thought}
    asked: tuple[Json, ...] = ({"role": "user", "content": this.then},) if this.then else ()
    return (turn, *results, *asked) if this.said or this.made else asked


def _native(
    name: str,
    question: str,
    tools: tuple[str, ...],
    *rounds: Round,
    spelling: WriterOptions = _DASHSCOPE,
) -> Recipe:
    replies = tuple(reply_of(each, spelling) for each in rounds)
    return Recipe(name, question, tools, replies, tuple(map(_later, rounds[:-1])))


_LANGUAGE = as_json(key="language", value="中文")
_SPRING = as_json(title="春天", content="雪化了。")
_OSLO, _BERGEN = as_json(city="Oslo"), as_json(city="Bergen")
_WEATHER = "What is the weather in Oslo?"
_BOTH = "What is the weather in Oslo and in Bergen?"
_FOUR = as_json(temperature=4)

_ROUNDS = (
    _native(
        "dashscope/qwen-plus/remember-once",
        "请记住我用中文。",
        ("set_memory", "writing"),
        Round(made=(Made("call_r1", "set_memory", _LANGUAGE),)),
        Round("已经记住了。"),
    ),
    _native(
        "dashscope/qwen-plus/three-rounds",
        "记住我用中文，查一下春天，再写一篇短文。",
        ("set_memory", "search", "writing"),
        Round(made=(Made("call_t1", "set_memory", _LANGUAGE),)),
        Round(made=(Made("call_t2", "search", as_json(query="春天", limit=3), "雪化花开"),)),
        Round(made=(Made("call_t3", "writing", _SPRING, "saved"),)),
        Round("记住了，查到了，也写好了。"),
        spelling=replace(_DASHSCOPE, later_id="null", later_name="null"),
    ),
    _native(
        "dashscope/qwen-turbo/ids-only-in-the-first-chunk",
        _WEATHER,
        ("get_weather",),
        Round(made=(Made("call_f1", "get_weather", _OSLO, _FOUR),)),
        Round("It is 4 degrees."),
        spelling=replace(_DASHSCOPE, later_id="absent", later_name="absent", call_type="first"),
    ),
    _native(
        "dashscope/qwen-plus/parallel-in-order",
        "List the files of docs, read docs/a.txt, and show order 7.",
        ("list_files", "read_file", "show_order"),
        Round(
            made=(
                Made("call_p1", "list_files", as_json(path="docs", limit=5), '["a.txt"]'),
                Made("call_p2", "read_file", as_json(path="docs/a.txt"), "alpha"),
                Made("call_p3", "show_order", as_json(order=7), "seven chairs"),
            )
        ),
        Round("One file, it says alpha, and order 7 is chairs."),
    ),
    _native(
        "dashscope/qwen-plus/text-and-calls",
        _BOTH,
        ("get_weather",),
        Round(
            "I will look up both cities.",
            (
                Made("call_x1", "get_weather", _OSLO, _FOUR),
                Made("call_x2", "get_weather", _BERGEN, as_json(temperature=7)),
            ),
        ),
        Round("4 degrees in Oslo, 7 in Bergen."),
    ),
    _native(
        "dashscope/qwen-plus/one-search",
        "Search for tide tables.",
        ("search",),
        Round(made=(Made("call_s1", "search", as_json(query="tide tables"), "found"),)),
        Round("Here is what the tool gave."),
    ),
    _native(
        "dashscope/qwen-plus/failed-then-other-tool",
        "Read notes.txt.",
        ("read_file", "list_files"),
        Round(made=(Made("call_e1", "read_file", as_json(path="notes.txt"), "error"),)),
        Round(made=(Made("call_e2", "list_files", as_json(path="."), '["note.txt"]'),)),
        Round("There is no notes.txt, but a note.txt."),
    ),
    _native(
        "dashscope/qwen-turbo/same-call-again",
        _WEATHER,
        ("get_weather",),
        Round(made=(Made("call_i1", "get_weather", _OSLO, _FOUR),)),
        Round(made=(Made("call_i2", "get_weather", '{"city":"Oslo"}', _FOUR),)),
        Round(made=(Made("call_i3", "get_weather", '{ "city": "Oslo" }', "not run"),)),
    ),
    _native(
        "dashscope/qwen-turbo/round-after-round",
        "Show all orders.",
        ("show_order",),
        *(
            Round(made=(Made(f"call_n{number}", "show_order", as_json(order=number), "ok"),))
            for number in (1, 2, 3)
        ),
    ),
    _native(
        "dashscope/qwen-plus/two-questions",
        _WEATHER,
        ("get_weather",),
        Round(made=(Made("call_q1", "get_weather", _OSLO, _FOUR),)),
        Round("It is 4 degrees in Oslo.", then="And in Bergen?"),
        Round(made=(Made("call_q2", "get_weather", _BERGEN, as_json(temperature=7)),)),
        Round("It is 7 degrees in Bergen.", then="Thank you."),
        Round("You are welcome."),
    ),
    _native(
        "dashscope/qwen-turbo/ids-start-again",
        _BOTH,
        ("get_weather",),
        Round(made=(Made("call_0", "get_weather", _OSLO, _FOUR),)),
        Round(made=(Made("call_0", "get_weather", _BERGEN, as_json(temperature=7)),)),
        Round("4 degrees in Oslo, 7 in Bergen."),
    ),
    _native(
        "dashscope/qwen-turbo/no-id-in-the-stream",
        _BOTH,
        ("get_weather",),
        Round(
            made=(
                Made("call_a1", "get_weather", _OSLO, _FOUR),
                Made("call_a2", "get_weather", _BERGEN, as_json(temperature=7)),
            )
        ),
        Round(made=(Made("call_a3", "get_weather", as_json(city="Molde"), _FOUR),)),
        Round("4 degrees in Oslo and Molde, 7 in Bergen."),
        spelling=replace(_DASHSCOPE, first_id="absent", later_id="absent"),
    ),
    _native(
        "dashscope/qwen-turbo/required-argument-missing",
        "What is the weather in Oslo, and what is order 7?",
        ("get_weather", "show_order"),
        Round(
            made=(
                Made("call_m1", "show_order", "{}", "error"),
                Made("call_m2", "get_weather", _OSLO, _FOUR),
            )
        ),
        Round(made=(Made("call_m3", "show_order", as_json(order=7), "seven chairs"),)),
        Round("4 degrees, and order 7 is chairs."),
    ),
    _native(
        "dashscope/qwen-turbo/name-nearly-right",
        "What is order 7?",
        ("show_order", "read_file"),
        Round(made=(Made("call_k1", "show_orders", as_json(order=7), "error"),)),
        Round(made=(Made("call_k2", "show_order", as_json(order=7), "seven chairs"),)),
        Round("Order 7 is chairs."),
    ),
    _native(
        "compatible/weak/several-in-spite-of-false",
        _BOTH,
        ("get_weather",),
        Round(
            made=(
                Made("call_v1", "get_weather", _OSLO, _FOUR),
                Made("call_v2", "get_weather", _BERGEN, as_json(temperature=7)),
            )
        ),
        Round("4 degrees in Oslo, 7 in Bergen."),
        spelling=_OPENAI,
    ),
    _native(
        "dashscope/qwen-plus/dotted-names",
        "统计全部订单的金额。",
        ("schema.list_tables", "schema.list_columns"),
        Round(made=(Made("call_d1", "schema_list_tables", as_json(database="sales"), "orders"),)),
        Round(made=(Made("call_d2", "schema_list_columns", as_json(table_name="orders"), "id"),)),
        Round("SELECT SUM(amount) FROM orders"),
    ),
)

_HISTORY = (
    _native(
        "compatible/thinking/reasoning-goes-back",
        _WEATHER,
        ("get_weather",),
        Round(made=(Made("call_g1", "get_weather", _OSLO, _FOUR),), thought="I must look it up."),
        Round("It is 4 degrees.", thought="The tool said 4.", then="Is that cold?"),
        Round("Quite cold.", thought="4 is cold."),
        spelling=_OPENAI,
    ),
    _native(
        "openai/gpt-4o-mini/nothing-said-beside-call",
        _WEATHER,
        ("get_weather",),
        Round(made=(Made("call_c1", "get_weather", _OSLO, _FOUR),)),
        Round("It is 4 degrees."),
        spelling=_OPENAI,
    ),
    _native(
        "dashscope/qwen-plus/only-text",
        "Hello.",
        ("get_weather",),
        Round("Hello. What do you want to know?", then="Nothing."),
        Round("All right."),
    ),
    _native(
        "dashscope/qwen-turbo/empty-after-a-call",
        _WEATHER,
        ("get_weather",),
        Round(made=(Made("call_y1", "get_weather", _OSLO, _FOUR),)),
        Round(),
    ),
    _native(
        "dashscope/qwen-plus/nothing-after-remembering",
        "请记住我用中文。",
        ("set_memory",),
        Round(made=(Made("call_z1", "set_memory", _LANGUAGE),)),
        Round(),
    ),
    _native(
        "dashscope/qwen-turbo/ends-after-text",
        "Tell me a story.",
        ("get_weather",),
        Round("Once upon a time there was a tide table.", edits=(cut_after(b"a time"),)),
    ),
    _native(
        "dashscope/qwen-turbo/ends-after-a-whole-call",
        _BOTH,
        ("get_weather",),
        Round(made=(Made("call_w1", "get_weather", _OSLO, _FOUR),)),
        Round(
            "Now Bergen.",
            (Made("call_w2", "get_weather", _BERGEN),),
            edits=(end_before(b'"finish_reason": "tool_calls"'),),
        ),
    ),
    _native(
        "dashscope/qwen-turbo/cut-at-its-length",
        "Tell me a story.",
        ("get_weather",),
        Round("Once upon a time", end="length"),
    ),
)

RECIPES = _ROUNDS + _HISTORY
