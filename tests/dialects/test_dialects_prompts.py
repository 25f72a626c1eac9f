"""Prompt ids are readable, safe in a path, and differ exactly where the asking differs."""

import re

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.prompts import prompt_id
from harness.turns.turn import Tool

WEATHER = Tool("get_weather", "Weather.", {"type": "object", "required": ["city"]})
TEXT = st.text(max_size=80)
TOOLS = st.lists(st.builds(Tool, TEXT, TEXT, st.dictionaries(TEXT, TEXT, max_size=2)), max_size=3)


@given(TEXT, TEXT, TOOLS)
def test_ids_are_safe_and_short(protocol: str, system: str, tools: list[Tool]) -> None:
    assert re.fullmatch(r"[\w-]{1,80}", prompt_id(protocol, system, tools))


@given(TEXT, TOOLS, TEXT, TOOLS)
def test_ids_differ_where_the_asking_differs(
    system: str, tools: list[Tool], other_system: str, other_tools: list[Tool]
) -> None:
    same = (system, tools) == (other_system, other_tools)
    first = prompt_id("native-tools", system, tools)
    assert (first == prompt_id("native-tools", other_system, other_tools)) is same


def test_ids_are_readable_and_stay() -> None:
    assert prompt_id("native-tools", "", (WEATHER,)) == "native-tools-get_weather-fdf9bd11"
    assert prompt_id("native-tools", "Be brief.", ()) == "no-tools-be-brief-1049ad35"
    assert prompt_id("native-tools", "", ()).startswith("no-tools-no-system-text-")
    asked = prompt_id("native-tools", "你是一个助手。 (Answer) in English, please", (WEATHER,) * 3)
    words = "你是一个助手-answer-in"
    assert asked.startswith(f"native-tools-get_weather-get_weather-and-1-more-{words}-")
    assert prompt_id("", "Be brief.", (WEATHER,)) == "unknown"


def test_keys_and_addresses_in_the_system_text_are_no_part_of_an_id() -> None:
    secrets = "sk-abc123 user@example.com AbCdEfGhIjKlMnOpQr https://example.com/x 0123"
    assert prompt_id("native-tools", f"Use {secrets} now", ()).startswith("no-tools-use-now-")


def test_the_order_of_schema_keys_does_not_matter() -> None:
    turned = Tool("get_weather", "Weather.", {"required": ["city"], "type": "object"})
    assert prompt_id("native-tools", "", (turned,)) == prompt_id("native-tools", "", (WEATHER,))


def test_a_bottomless_schema_has_no_id() -> None:
    schema: dict[str, object] = {}
    for _ in range(100_000):
        schema = {"a": schema}
    assert prompt_id("native-tools", "", (Tool("t", "", schema),)) == "unknown"
