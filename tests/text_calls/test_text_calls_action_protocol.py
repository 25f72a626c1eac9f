"""The action protocol: what it says in any wrapping and cut anywhere, and what never runs."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls import TextPolicy, WrittenCall, read_text_calls
from harness.text_calls.dialects.action_protocol import ACTION_PROTOCOL, read_reply
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallStart,
)
from harness.turns.turn import Turn
from tests.text_calls.round_trip import (
    SIZES,
    TOOLS,
    Piece,
    calls,
    check_round_trip,
    conversations,
    read,
)

NAME = "action-protocol"
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
CALL = '{"name": "f", "arguments": {"n": 1}}'
ONE = f'{{"reasoning": "r", "action": "tool_call", "tool_calls": [{CALL}]}}'
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "string": json.dumps,
    "string in a string": lambda text: json.dumps(json.dumps(text)),
    "fence": lambda text: f"```json\n{text}\n```\n",
    "response": lambda text: f'{{"response": {text}}}',
    "result as text": lambda text: json.dumps({"id": 7, "result": text}),
    "text": lambda text: f'{{"text": {json.dumps(text)}}}',
    "content": lambda text: f' {{"content": {text}}} ',
    "thought": lambda text: f"<think>hm</think>\n{text}",
}
FRAGMENTS = [
    *(
        '{"',
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\\",
        '\\"',
        "\\ud83d",
        "```json\n",
        "```",
        " ",
        "\n",
    ),
    *("<think>", "</think>", '"reasoning": "', '"action": "tool_call"', '"action": "finish"'),
    *('"tool_calls": [', '"content": "', '"response": ', CALL, ONE, "null", "x", "中", "1"),
]


def turn(text: str, size: int = 1000) -> Turn:
    return read(text, [NAME], size)


@given(conversations(ACTION_PROTOCOL), SIZES)
def test_calls_come_out_as_they_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(ACTION_PROTOCOL, said, size)


@given(TEXTS, calls(at_least=1), SIZES, st.sampled_from(sorted(WRAPPINGS)), st.booleans())
def test_a_reply_that_calls_tools(
    why: str,
    wanted: list[WrittenCall],
    size: int,
    wrapping: str,
    ascii_only: bool,  # noqa: FBT001 - drawn
) -> None:
    listed = [{"name": it.name, "arguments": json.loads(it.arguments)} for it in wanted]
    value = {"reasoning": why, "action": "tool_call", "tool_calls": listed}
    text = json.dumps(value, ensure_ascii=ascii_only)
    seen = turn(WRAPPINGS[wrapping](text), size)
    assert seen.reasoning == ("hm" if wrapping == "thought" else "") + why
    assert seen.text.strip() == ""
    assert seen.parse_errors == ()
    got = [(call.name, json.loads(call.arguments)) for call in seen.tool_calls]
    assert got == [(it["name"], it["arguments"]) for it in listed]
    assert len({call.id for call in seen.tool_calls}) == len(got)


@given(TEXTS, TEXTS, SIZES, st.sampled_from(sorted(WRAPPINGS)), st.permutations(["r", "a", "c"]))
def test_a_reply_that_answers(
    why: str, answer: str, size: int, wrapping: str, order: list[str]
) -> None:
    members = {"r": ("reasoning", why), "a": ("action", "finish"), "c": ("content", answer)}
    text = json.dumps(dict(members[key] for key in order))
    seen = turn(WRAPPINGS[wrapping](text), size)
    assert seen.text == answer
    assert seen.reasoning == ("hm" if wrapping == "thought" else "") + why
    assert (seen.tool_calls, seen.parse_errors) == ((), ())
    assert seen.finish == Finish(FinishReason.STOP, "stop")


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join), SIZES)
def test_any_text_is_read_the_same_wherever_it_is_cut(text: str, size: int) -> None:
    assert turn(text, size) == turn(text)
    read_reply(text)


@given(TEXTS.filter(lambda text: "think" not in text.lower()))
def test_text_that_is_no_reply_stays_as_it_is(text: str) -> None:
    assert turn(text, 3).text == text


def pieces_until_call(text: str) -> list[object]:
    """Return the deltas of `text`, fed character by character, up to its end."""
    deltas = [TextDelta(sign) for sign in text]
    return list(read_text_calls(deltas, TOOLS, TextPolicy(frozenset((NAME,)))))


def test_reasoning_and_answer_are_said_while_they_arrive() -> None:
    begun = '{"reasoning": "I \\u006b", "action": "finish", "content": "Hello \\ud83d\\ude00 wor'
    said = pieces_until_call(begun)
    assert "".join(it.text for it in said if isinstance(it, ReasoningDelta)) == "I k"
    assert "".join(it.text for it in said if isinstance(it, TextDelta)) == "Hello 😀 wor"
    assert len(said) > 10


def test_what_may_be_a_draft_is_held_until_the_action_is_known() -> None:
    assert pieces_until_call('{"content": "draft", "action": "fini') == []
    assert pieces_until_call('{"content": "ok", "action": "finish"') == [TextDelta("ok")]


@given(SIZES)
def test_white_space_of_any_length_may_precede_a_reply_or_text(size: int) -> None:
    for space in (" " * 223, "\n" * 224, " \n" * 300):
        assert turn(space + ONE, size).reasoning == "r"
        assert turn(space + '{"action": "finish", "content": "a"}', size).text.strip() == "a"
        for text in ("`x` is it", "<thing>", "```json\n" + space + "x"):
            assert turn(space + text, size).text == space + text


def test_half_a_surrogate_pair_in_a_string_is_a_replacement() -> None:
    text = json.dumps(ONE.replace("1", '"\ud83d"'))
    assert turn(text).tool_calls[0].arguments == '{"n": "\ufffd"}'


def test_other_text_passes_at_once() -> None:
    for text in ("Hello.", '{city: "Oslo"}', '"Hello," she said', "`x` it", "{} is empty"):
        said = pieces_until_call(text)
        assert "".join(it.text for it in said if isinstance(it, TextDelta)) == text


def test_calls_come_at_the_end() -> None:
    deltas: list[Delta] = [TextDelta(ONE), TextDelta("\n"), Finish(FinishReason.STOP)]
    kinds = [type(it) for it in read_text_calls(deltas, TOOLS, TextPolicy(frozenset((NAME,))))]
    assert kinds.index(ToolCallStart) > kinds.index(ReasoningDelta)
    assert kinds[-1] is Finish


# text -> (reasoning, text, names of the calls, a part of each error)
READINGS = {
    '{"action": "finish", "sql": "SELECT 1"}': ("", "SELECT 1", [], []),
    '{"action": "finish", "content": "", "answer": "42"}': ("", "42", [], []),
    '{"action": "finish", "content": {"a": [1]}}': ("", '{"a": [1]}', [], []),
    '{"reasoning": "r", "content": "c"}': ("r", "c", [], []),
    '{"action": "finish", "tool_calls": [], "content": "c"}': ("", "c", [], []),
    f'{{"action": "finish", "content": "c", "tool_calls": [{CALL}]}}': (
        *("", "c", []),
        ["next to the final answer"],
    ),
    f'{{"content": "d", "action": "tool_call", "tool_calls": [{CALL}]}}': ("d", "", ["f"], []),
    f'{{"action": "tool_call", "tool_calls": [{CALL}, {{"name": "g", "arguments": {{}}}}]}}': (
        *("", "", ["f"]),
        ["no tool 'g'"],
    ),
    '{"action": "tool_call", "tool_calls": [{"name": "get_time"}]}': ("", "", ["get_time"], []),
    '{"action": "tool_call", "tool_calls": [{"name": "f", "n": 1}]}': (
        *("", "", []),
        ["no arguments"],
    ),
    f'{{"action": "tool_call", "tool_calls": [{CALL}, [], 7]}}': (
        *("", "", ["f"]),
        ["is not an object", "is not an object"],
    ),
    '{"action": "tool_call", "tool_calls": [{"name": "f", "name": "search", "arguments": {}}]}': (
        *("", "", []),
        ["'name' occurs twice"],
    ),
    '{"action": "tool_call"}': ("", "", [], ["lists no call"]),
    '{"action": "tool_call", "tool_calls": null}': ("", "", [], ["lists no call"]),
    f'{{"action": "tool_call", "tool_calls": {CALL}}}': ("", "", [], ["lists no call"]),
    f'{{"action": "search", "tool_calls": [{CALL}]}}': ("", "", [], ["'search' is neither"]),
    '{"reasoning": "r", "action": "search"}': ("r", "", [], ["'search' is neither"]),
    f'{{"tool_calls": [{CALL}]}}': ("", "", [], ["no action"]),
    f"{ONE} done": ("r", " done", [], ["text follows"]),
    f"{ONE}\n{ONE}": ("r", f"\n{ONE}", [], ["text follows"]),
    ONE[:-3]: ("r", "", [], ["ended inside"]),
    ONE.replace('"f"', "'f'"): ("r", "", [], ["not JSON at offset"]),
    '{"reasoning": "r", "act': ("r", "", [], ["ended inside"]),
    '{"reasoning": "r"}': ("r", "", [], ["neither an action nor an answer"]),
    '{"content": "c"}': ("", "c", [], []),
    '{"text": "c"}': ("", "c", [], []),
    '{"reasoning": "r", "text": "c"}': ("r", "c", [], []),
    '{"text": {"content": "c"}}': ("", "c", [], []),
    '{"content": {"action": "finish", "answer": "c"}}': ("", "c", [], []),
    f'{{"text": {ONE}}}': ("r", "", ["f"], []),
    f'{{"content": {json.dumps(ONE)}}}': ("r", "", ["f"], []),
    '{"action": "finish", "text": "c"}': ("", "c", [], []),
    '{"text": "c", "took_ms": 4}': ("", '{"text": "c", "took_ms": 4}', [], []),
    '{"text": 4}': ("", '{"text": 4}', [], []),
    '{"reasoning": "r", "content": "c", "act': ("r", "c", [], []),
    '{"reasoning": "a "b" c", "action": "finish"}': ("a ", '"b" c", "action": "finish"}', [], []),
    '{"action": "finish", "content": "a "b" c"}': ("", 'a "b" c"}', [], []),
    '{"action": "finish", "content": "a\nb"}': ("", "a\nb", [], []),
    '{"action": "finish", "content": "a\\x b"}': ("", 'a\\x b"}', [], []),
    '{"action": "finish", "content": <b>}': ("", '{"action": "finish", "content": <b>}', [], []),
    '{"action": "finish", "content": "a"} ok': ("", "a ok", [], []),
    "{}": ("", "{}", [], []),
    '{"action": "buy", "content": "x"}': ("", '{"action": "buy", "content": "x"}', [], []),
    '{"response": "Hello"}': ("", "Hello", [], []),
    '"{not json"': ("", '"{not json"', [], []),
    f"Sure: {ONE}": ("", f"Sure: {ONE}", [], []),
    f"```json\n{ONE}\n```\nLike this.": ("", f"```json\n{ONE}\n```\nLike this.", [], []),
    f"```json\n{ONE[:-2]}\n```\nLike this.": ("", f"```json\n{ONE[:-2]}\n```\nLike this.", [], []),
    f"```json\n{ONE[:-2]}\n```": ("r", "", [], ["ended inside"]),
    f"```python\n{ONE}\n```": ("", f"```python\n{ONE}\n```", [], []),
    '```json\n{"action": "finish", "content": "abc': ("", "abc", [], []),
    f"<think>{ONE}": (ONE, "", [], []),
    " ": ("", " ", [], []),
    "": ("", "", [], []),
}


@pytest.mark.parametrize("text", READINGS)
def test_readings(text: str) -> None:
    reasoning, said, names, errors = READINGS[text]
    for size in (1, 1000):
        seen = turn(text, size)
        assert (seen.reasoning, seen.text) == (reasoning, said)
        assert [call.name for call in seen.tool_calls] == names
        assert len(seen.parse_errors) == len(errors)
        for error, part in zip(seen.parse_errors, errors, strict=True):
            assert part in error.error
            assert error.mode == "json_fallback"


def test_arguments_are_spelled_without_escapes_and_keep_their_digits() -> None:
    spelled = '{"city": "\\u5317\\u4eac", "n": 9007199254740993.10, "x": "\\ud83d"}'
    reply = f'{{"action": "tool_call", "tool_calls": [{{"name": "f", "arguments": {spelled}}}]}}'
    (call,) = turn(reply).tool_calls
    assert call.arguments == '{"city": "北京", "n": 9007199254740993.10, "x": "\\ud83d"}'


def test_without_tools_nothing_is_read() -> None:
    assert read(ONE, [NAME], 3, tools=()).text == ONE


@pytest.mark.parametrize(
    "text",
    [
        "{" * 40_000,
        '{"a": ' * 10_000,
        "<think></think>" * 10_000,
        '"' * 20_000,
        '"' + '\\"' * 20_000,
        " " * 40_000,
        "```json\n" * 10_000,
        '{"reasoning": "' + "\\ud83d" * 10_000,
        ONE + " " * 20_000,
        ONE + "\n```" * 10_000,
        '{"response": ' * 10_000,
        '{"action": "tool_call", "tool_calls": [' + ", ".join([CALL] * 2_000) + "]}",
        '{"action": "tool_call", "tool_calls": [' + "[" * 10_000,
    ],
    ids=range(13),
)
def test_hostile_text_neither_raises_nor_takes_long(text: str) -> None:
    assert turn(text, 100_000) == turn(text, 7)
