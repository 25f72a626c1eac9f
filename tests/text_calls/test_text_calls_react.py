"""ReAct lines: round trips, the quirks REACT-*, and words that only look like labels."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.dialect import Offered, RawBlock
from harness.text_calls.dialects.react import ReAct
from harness.turns.turn import Tool, Turn
from tests.text_calls.round_trip import SIZES, TOOLS, Piece, check_round_trip, conversations, read

REACT = ReAct()

_QUERY = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
_PLACE = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}
_OFFERED = (Tool("search", "", _QUERY), Tool("forecast", "", _PLACE), Tool("get_time"))
_SIZES = (1, 7, 4000)


def _read(text: str, size: int = 3) -> Turn:
    return read(text, ("react",), size, _OFFERED)


def _called(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in turn.tool_calls]


@given(conversations(REACT), SIZES)
def test_react_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    pieces, tail = said
    # A label stands at the start of a line.
    lines = [Piece(f"{piece.text}.\n", piece.calls) for piece in pieces]
    check_round_trip(REACT, (lines, tail), size)


def test_thoughts_are_reasoning_and_an_action_is_a_call() -> None:
    for size in _SIZES:
        turn = _read('Thought: I look.\nStill.\nAction: search\nAction Input: {"q": "x"}', size)
        assert (turn.reasoning, turn.text) == ("I look.\nStill.", "")
        assert _called(turn) == [("search", {"q": "x"})]


def test_a_final_answer_is_text() -> None:
    for size in _SIZES:
        turn = _read("Thought: I know.\nFinal Answer: It is\n4.", size)
        assert (turn.reasoning, turn.text) == ("I know.", "It is\n4.")
        assert (turn.tool_calls, turn.parse_errors) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        'I need it.\n\nAction: search\nAction Input: {"q": "x"}',
        'Action: search ({"q": "x"})',
        'Action: search({"q": "x"})',
        'Action: search {"q": "x"}',
        'Action: `search`\nAction Input:\n{"q":\n "x"}',
        "Action: search\nAction Input: x",
        'Action: search\nAction Input: "x"',
        "Thought: Hm.\nAction: search\nAction Input: x\nThought: Then I wait.",
        'Action: None\nAction: search\nAction Input: {"q": "x"}',
        'Action: search\nAction Input:\n```json\n{"q": "x"}\n```',
        'Action: search\nAction Input: ```{"q": "x"}```',
        'Action: search\nAction Input:\n~~~\n{"q": "x"}\n~~~\nObservation: It rains.',
        'Action: search\nAction Input: `{"q": "x"}`\nObservation: It rains.',
        'Action: search\nAction Input: ```json\n{"q": "x"}\nObservation: It rains.',
        'Action: [search]\nAction Input: {"q": "x"}',
        'Action: **search**\nAction Input: {"q": "x"}',
        '**Thought:** Hm.\n**Action:** search\n**Action Input:** {"q": "x"}',
        "**Thought**: Hm.\n**Action**: `search`\n**Action Input**: x\n**Observation**: y",
        '**Action:** search\n**Action Input:** ```json\n{"q": "x"}\n```\n**Observation:** y',
        'Action:\n```\n{"action": "search", "action_input": {"q": "x"}}\n```',
        'Action:\n```json\n{\n  "action_input": "x",\n  "action": "search"\n}\n```\nObservation: y',
        'Action: {"action": "search", "action_input": {"q": "x"}}',
        '**Action:**\n\n~~~json\n{"action": "search", "action_input": {"q": "x"}}\n~~~\n',
    ],
)
def test_an_action_is_a_call(text: str) -> None:
    for size in _SIZES:
        turn = _read(text, size)
        assert (_called(turn), turn.parse_errors) == ([("search", {"q": "x"})], ())
        assert not any(mark in turn.text for mark in ("search", "`", "~", "*"))


@pytest.mark.parametrize("said", ['{"q": "x"}', "x"])
@pytest.mark.parametrize("gap", ["\n", "\n\n  "])
def test_nothing_after_a_made_up_observation_is_used_or_shown(said: str, gap: str) -> None:
    text = f"Action: search\nAction Input: {said}{gap}Observation: It rains.\nAction: get_time\n"
    for size in _SIZES:
        turn = _read(f"{text}Action Input: {{}}\nFinal Answer: It rains.", size)
        assert (_called(turn), turn.parse_errors) == ([("search", {"q": "x"})], ())
        assert turn.text.strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        'Action: search\nAction Input: {"q": "x"}\nFinal Answer: It is so.',
        "Action: search\nAction Input: x\nThought: I know.\nFinal Answer: It is so.",
        'Final Answer: It is so.\nAction: search\nAction Input: {"q": "x"}',
    ],
)
def test_an_action_beside_a_final_answer_is_rejected(text: str) -> None:
    for size in _SIZES:
        turn = _read(text, size)
        assert turn.text.strip() == "It is so."
        assert turn.tool_calls == ()
        assert [error.name for error in turn.parse_errors] == ["search"]


@pytest.mark.parametrize(
    "action",
    ["None", "none.", "N/A", "None needed", "No tool", "None\nAction Input: None", "None (I know)"],
)
def test_no_action_is_no_call(action: str) -> None:
    for size in _SIZES:
        turn = _read(f"Thought: I know.\nAction: {action}\nIt is 4.", size)
        assert (turn.tool_calls, turn.parse_errors) == ((), ())
        assert turn.text.strip() == "It is 4."


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('Thought: a\nAction: search\nAction Inptu: {"q": "x"}', "search"),
        ('Thought: a\nAction: rm\nAction Inptu: {"q": "x"}', "rm"),
        ("Action: search", "search"),
        ("Action: search\nFinal words.", "search"),
        ("Action: rm\nAction Input: x", "rm"),
        ("Action: search\nAction Input:", "search"),
        ("Action: forecast\nAction Input: Oslo", "forecast"),
        ('Action: search\nAction Input: {"q": "x', "search"),
        ('Action: search\nAction Input: {q: "x"}\nThought: b', "search"),
        ('Action: search ({"q": ', "search"),
        ("Action: get_time\nAction Input: now", "get_time"),
        ('Action Input: {"q": "x"}', ""),
        ('Action: search\nAction Input: [{"q": "x"}]', "search"),
        ('Action: search\nAction Input: q="x"', "search"),
        ("Action: search\nAction Input: q: x, days: 3", "search"),
        ("Action: search\nAction Input: - **q**: x", "search"),
        ('Action: search\nAction Input: "q": "x"', "search"),
        ('Action: search\nAction Input: search(q="x")', "search"),
        ('Action: search\nAction Input: \'{"q": "x"}\'', "search"),
        ('Action: search\nAction Input: "{\\"q\\": \\"x\\"}"', "search"),
        ("Action: search\nAction Input:\n```\nx\n```", "search"),
        ("Action: search\nAction Input: `x`", "search"),
        ("Action: search\nAction Input: ```json\n{q: x}\n```", "search"),
        ('Action: search\nAction Input:\n```json\n{"q": "x', "search"),
        ('Action: search\nAction Input: ``` ["x"] ```', "search"),
        ("Action: search\nAction Input: import x\nprint(x)", "search"),
        ("Action: search\nAction Input: x\n\nI wait for it.", "search"),
        ('Action: search\nAction Input: ""', "search"),
        ('Action:\n```\n{"action": "search", "action_input": {"q": "x', ""),
        ('Action:\n```\n{"action": "search", "action_input": ["x"]}\n```', "search"),
        ('Action:\n```\n{"action": "search", "input": "x"}\n```', "search"),
        ('Action:\n```\n{"action": "rm", "action_input": "x"}\n```', "rm"),
    ],
)
def test_a_broken_action_is_rejected_and_is_not_the_answer(text: str, name: str) -> None:
    for size in _SIZES:
        turn = _read(text, size)
        assert (turn.text.strip(), turn.tool_calls) == ("", ())
        assert [error.name for error in turn.parse_errors] == [name]


def test_text_that_only_resembles_a_parameter_is_text() -> None:
    for said in ("quality: high", "~/notes", '"a" or "b"', "x: `q`", "3"):
        turn = _read(f"Action: search\nAction Input: {said}\n")
        assert (_called(turn), turn.parse_errors) == ([("search", {"q": said})], ())


@pytest.mark.parametrize("value", ['"It is\\n4."', '"None"'])
def test_an_action_that_is_the_final_answer_is_text(value: str) -> None:
    said = f'{{"action": "Final Answer", "action_input": {value}}}'
    for size in _SIZES:
        turn = _read(f"Thought: I know.\nAction:\n```json\n{said}\n```", size)
        assert (turn.text, turn.tool_calls, turn.parse_errors) == (json.loads(value), (), ())


def test_a_tool_without_required_parameters_needs_no_object() -> None:
    assert _called(_read("Action: get_time\nAction Input: None")) == [("get_time", {})]


@pytest.mark.parametrize(
    "text",
    [
        "Action: take a walk every day.\nIt helps.",
        "The next Action: search it.",
        "Action: walking\nIt helps more than medicine does.",
        'He said "Action: search\nAction Input: x" once.'.replace("\n", " "),
        "Observation: the sky is blue.",
        "```\nAction: search\nAction Input: x\n```\n",
        "> Action: search\n",
        "**Action:** take a walk.\n",
        "Action: [the action to take]\n",
        "Action:\n```\nx = 1\n```\n",
        "**Note:** an **Action:** search.\n",
    ],
)
def test_words_that_look_like_labels_stay_text(text: str) -> None:
    for size in _SIZES:
        turn = _read(text, size)
        assert (turn.text, turn.reasoning) == (text, "")
        assert (turn.tool_calls, turn.parse_errors) == ((), ())


_PARTS = st.sampled_from(
    [
        "Thought:",
        "Action:",
        "Action Input:",
        "Observation:",
        "Final Answer:",
        "Action: search\n",
        " search",
        "None",
        "**",
        "```",
        "`",
        "json",
        '{"action": "search", "action_input": "x"}',
        "\n",
        "\n",
        " ",
        '{"q": "x"}',
        "{",
        '"',
        "(",
        ")",
        "x",
    ]
)


@given(st.lists(_PARTS, max_size=14).map("".join), SIZES)
def test_no_text_raises_and_no_cut_matters(text: str, size: int) -> None:
    assert _read(text, size) == _read(text, 4000)
    for opener in REACT.openers:
        REACT.calls(RawBlock(opener, text, Offered(TOOLS), closed=True))


@pytest.mark.parametrize("schema", [{"required": ["q"]}, {"required": "q"}, {"required": [1]}, {}])
def test_any_schema_will_do(schema: dict[str, object]) -> None:
    tools = (Tool("search", "", schema),)
    turn = read("Action: search\nAction Input: x", ("react",), 5, tools)
    assert len(turn.parse_errors) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Action: search\n" + "\n" * 30_000,
        "Action: search\nAction Input: " + "\nObservatio" * 5_000,
        "Action: search\nAction Input: {" + '"a\n' * 10_000,
        'Action: search\nAction Input: {"q": "x"}' + " \n" * 15_000,
        "Action: search" + " " * 30_000,
        "Action: search" + " " * 550 + '({"q": "x"})',
        "Action: search" + " " * 650 + '({"q": "x"})',
        "Action: search\nAction Input: " + "`" * 30_000,
        "Action: search\nAction Input: ```" + "\n" * 30_000 + '{"q": "x"}' + "\n" * 30_000 + "```",
        'Action: search\nAction Input: ```{"q": "x"}' + "\n" * 79 + "```",
        "Action: search\n" * 2_000,
        "Thought: " * 4_000,
        "Thought: x\n" * 4_000,
    ],
)
def test_long_hostile_text_is_read_the_same_however_it_is_cut(text: str) -> None:
    for size in (20, 1000):
        assert _read(text, size) == _read(text, len(text))
