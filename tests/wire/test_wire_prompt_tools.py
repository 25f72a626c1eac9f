"""Tools that a prompt taught in words: kept with the cassette, as plain JSON, or refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import parse_cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.interaction import Due, Interaction, Request
from tests.tables import each_row

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
TOOLS = st.lists(
    st.fixed_dictionaries(
        {
            "name": WORDS.filter(bool),
            "description": WORDS,
            "parameters": st.dictionaries(WORDS, JSON, max_size=3),
        }
    ),
    max_size=3,
    unique_by=lambda tool: str(tool["name"]),
).map(tuple)
SEARCH = {"name": "search", "description": "", "parameters": {"type": "object"}}


def a_cassette(*tools: tuple[dict[str, Any], ...]) -> Cassette:
    said = tuple(Interaction(Request(), 200, (), b"", (), tools=each) for each in tools)
    return Cassette("a", said, Origin("emulated")).with_each(dialect="openai-chat")


@given(TOOLS)
def test_any_tools_come_back_in_each_interaction(tools: tuple[dict[str, Any], ...]) -> None:
    saved = a_cassette(tools, tools)
    assert parse_cassette(format_cassette(saved).encode(), "a", where="x") == saved


def test_a_file_without_tools_says_nothing_of_them() -> None:
    assert "tools" not in format_cassette(a_cassette(()))
    assert parse_cassette(format_cassette(a_cassette(())).encode(), "a", where="x").tools == ()
    assert a_cassette().tools == ()


@pytest.mark.parametrize("due", ["", "call", "answer"])
def test_what_is_due_comes_back_in_each_interaction(due: Due) -> None:
    saved = a_cassette((), ()).with_each(due=due)
    assert parse_cassette(format_cassette(saved).encode(), saved.id, where="x") == saved
    assert saved.due == due


def test_what_nobody_can_owe_is_refused() -> None:
    text = format_cassette(a_cassette(()).with_each(due="call")).replace("due: call", "due: thanks")
    with pytest.raises(UnreadableError, match="one of call, answer"):
        parse_cassette(text.encode(), "a", where="x")


def test_a_tool_is_readable_in_a_review() -> None:
    text = format_cassette(a_cassette((SEARCH,)))
    assert "  tools:\n  - name: search\n    parameters: {type: object}\n" in text


def test_interactions_with_different_tools_are_no_cassette() -> None:
    with pytest.raises(ValueError, match="the same `tools`"):
        format_cassette(a_cassette((SEARCH,), ()))


@each_row(
    ("tools", "place", "fact"),
    [
        ("3", "harness.tools", "expected a list"),
        ("[3]", "harness.tools[0]", "a tool with the keys name, description, parameters"),
        ("[{}]", "harness.tools[0].name", "the name of the tool"),
        ("[{name: 3}]", "harness.tools[0].name", "expected text"),
        ("[{nam: a}]", "harness.tools[0]", "Did you mean 'name'?"),
        ("[{name: a, parameters: [a]}]", "harness.tools[0].parameters", "a mapping"),
        (
            "[{name: a, parameters: {b: [.inf]}}]",
            "harness.tools[0]",
            "parameters.b[0]: inf is not a JSON",
        ),
        (
            "[{name: a, parameters: {b: !!binary YQ==}}]",
            "harness.tools[0]",
            "parameters.b: b'a' is not a JSON",
        ),
        ("[{name: a, parameters: {b: {3: c}}}]", "harness.tools[0]", "parameters.b: key 3"),
        ("[{name: a}, {name: a}]", "harness.tools[1]", "two tools have the name 'a'"),
    ],
)
def test_what_is_no_list_of_tools_is_refused(tools: str, place: str, fact: str) -> None:
    text = format_cassette(a_cassette(())).replace(
        "  body_sha256:", f"  tools: {tools}\n  body_sha256:"
    )
    with pytest.raises(UnreadableError) as caught:
        parse_cassette(text.encode(), "a", where="x")
    assert place in caught.value.where
    assert fact in str(caught.value)
