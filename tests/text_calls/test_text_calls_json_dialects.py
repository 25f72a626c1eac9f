"""Tagged, bare and fenced JSON: round trips, and the traps of group D."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.dialects.bare_json import BARE_JSON
from harness.text_calls.dialects.fenced_json import FencedJson
from harness.text_calls.dialects.tagged_json import TaggedJson
from harness.turns.turn import Tool
from tests.text_calls.round_trip import SIZES, Piece, check_round_trip, conversations, read

FENCED_JSON = FencedJson()
TAGGED_JSON = TaggedJson()

_JSON_DIALECTS = ("tagged-json", "bare-json", "fenced-json")


@given(conversations(TAGGED_JSON), SIZES)
def test_tagged_json_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(TAGGED_JSON, said, size)


@given(conversations(BARE_JSON), SIZES)
def test_bare_json_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(BARE_JSON, said, size)


@given(conversations(FENCED_JSON), SIZES)
def test_fenced_json_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(FENCED_JSON, said, size)


_TOOLS = (
    Tool(
        "get_weather",
        "",
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    ),
    Tool("get_time", "", {"type": "object", "properties": {}}),
)
_OSLO = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
_TOLD = _OSLO.replace('"arguments": {', '"description": "Weather.", "parameters": {')
_TAGGED = f"<tool_call>\n{_OSLO}\n</tool_call>"


def _outcome(text: str, size: int) -> tuple[str, list[str], int]:
    turn = read(text, (*_JSON_DIALECTS, "jamba", "minimax"), size, _TOOLS)
    return turn.text, [call.name for call in turn.tool_calls], len(turn.parse_errors)


@pytest.mark.parametrize(
    "text",
    [
        _TOLD,
        f"[{_TOLD}, {_TOLD}]",
        f'{{"type": "function", "function": {_TOLD}}}',
        f"```json\n{_TOLD}\n```",
        _TOLD[:-12],
        '{"tool": "get_weather", "status": "ok"}',
        '{"tool": "get_weather", "status": "o',
        '{"name": "get_time"}',
        "The tag <tool_calls> holds <tool_call> tags.",
        "<tool_call>\n[TOOL_",
        "<tool_call>\n[ get_weather(city)]",
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_data_is_text(text: str, size: int) -> None:
    assert _outcome(text, size) == (text, [], 0)


@pytest.mark.parametrize(
    ("text", "visible", "names", "errors"),
    [
        (f"A <tool_call>{_TOLD}</tool_call> B", "A  B", [], 1),
        (f"A <tool_call>\n{_OSLO}}}\n</tool_call> B", "A  B", [], 1),
        (f"A <tool_call>\n{_OSLO}\nas you asked\n</tool_call> B", "A  B", [], 1),
        (f"A <tool_call>{_OSLO}\n<tool_call>\n", "A ", ["get_weather"], 0),
        (f"A <tool_call>\n<tool_call>\n{_OSLO}", "A ", ["get_weather"], 0),
        (f"<tool_calls>\n{_TAGGED}\n{_TAGGED}\n</tool_calls> B", "\n B", ["get_weather"] * 2, 0),
        (f"<tool_call>\n```json\n{_OSLO}\n```\n</tool_call>\nB", "\nB", ["get_weather"], 0),
        (f"<tool_call>\n```\n{_OSLO}\n```\nB", "\nB", ["get_weather"], 0),
        (f"<tool_call>{_OSLO}\nB\n\nA </b>", "\nB\n\nA </b>", ["get_weather"], 0),
        (f"<tool_call>{_OSLO}\nB\n{_TAGGED}", "\nB", ["get_weather"] * 2, 0),
        (f"<tool_call>{_OSLO}\n\n</tool_call>", "", ["get_weather"], 0),
        (f"<tool_call>\n{_OSLO[:-10]}\n\nan error, sorry.", "\n\nan error, sorry.", [], 1),
        ('<tool_call>{"name": oops}\n\nB', "\n\nB", [], 1),
        (f'<tool_call>{{"name": oops}}\n\nB {_TAGGED}', "\n\nB ", ["get_weather"], 1),
        (f'<tool_call>{{"name": "get_weather\n\n{_OSLO}', "", [], 1),
        ('<tool_call>{"name": "get_time"}</tool_call>', "", ["get_time"], 0),
        ('<tool_call>{"name": "get_weather"}</tool_call>', "", [], 1),
        # All brackets are closed, but it is not JSON.
        ('{"name": "get_weather", "arguments": {"city": "Oslo",}}', "", [], 1),
        ('```json\n{"name": "get_weather", "arguments": {"city": .5}}\n```', "", [], 1),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_slips_are_read_or_reported(
    text: str, visible: str, names: list[str], errors: int, size: int
) -> None:
    assert _outcome(text, size) == (visible, names, errors)


_PARTS = st.sampled_from(
    [
        "<tool_call>",
        "</tool_call>",
        "<tool_calls>",
        _OSLO,
        "{",
        "}",
        "\n",
        "\n\n",
        " a ",
        "```",
        '"',
    ]
)


@given(st.lists(_PARTS, max_size=12).map("".join), SIZES)
def test_tags_are_read_the_same_however_they_are_cut(text: str, size: int) -> None:
    assert _outcome(text, size) == _outcome(text, 100_000)
