"""Example arguments: only required parameters, with values that the schema accepts."""

import json
from typing import Any

import pytest

from harness.conversation.gateway import gateway
from harness.conversation.prompts.examples import example_arguments
from harness.providers import Capabilities, JsonStability
from harness.results.conversation import Conversation
from harness.turns.schema_check import Checker, misfit
from harness.turns.turn import Tool
from scripts.local_models.asked import asked
from tests.conversation.conversation_provider import FAILING, WEATHER, Provider, said

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CASES: tuple[tuple[dict[str, Any], object], ...] = (
    ({"type": "string"}, "VALUE"),
    ({"type": "string", "enum": ["b", "a"]}, "b"),
    ({"const": "trip"}, "trip"),
    ({"type": "integer", "default": 7}, 7),
    ({"type": "integer", "minimum": 3}, 3),
    ({"type": "string", "default": None}, "VALUE"),
    ({"type": "number"}, 1),
    ({"type": "boolean"}, True),
    ({"type": ["null", "string"]}, None),
    ({"type": "array", "items": {"type": "string"}}, ["VALUE"]),
    ({"type": "array"}, []),
    ({"type": "object"}, {}),
    ({"$ref": "#/$defs/person"}, {"name": "VALUE"}),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 1),
)


def tool(schema: dict[str, Any]) -> Tool:
    return Tool(
        "f",
        "",
        {
            "type": "object",
            "properties": {"optional": {"type": "string"}, "x": schema},
            "required": ["x"],
            "$defs": {"person": PERSON},
        },
    )


@pytest.mark.parametrize(("schema", "value"), CASES)
def test_a_value_is_one_that_the_schema_accepts(schema: dict[str, Any], value: object) -> None:
    found = example_arguments(tool(schema))
    assert json.dumps(found) == json.dumps({"x": value})
    assert not misfit("f", found, {"f": tool(schema)}, Checker())


def test_examples_fit_the_tools_of_the_local_models() -> None:
    for box in asked().toolboxes.values():
        known = {each.name: each for each in box.offered("en")}
        for name, each in known.items():
            assert not misfit(name, example_arguments(each), known, Checker())


@pytest.mark.parametrize("parameters", [{}, {"required": ["x"]}, {"properties": {"x": 1}}])
def test_a_tool_without_required_parameters_has_none(parameters: dict[str, Any]) -> None:
    assert example_arguments(Tool("f", "", parameters)) == {}


def test_a_schema_that_contains_itself_ends() -> None:
    person = {"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]}
    assert json.dumps(example_arguments(Tool("f", "", person))).count('"x"') <= 10
    rows = {"type": "array", "items": {"$ref": "#/properties/x"}}
    nested = Tool("f", "", {"type": "object", "properties": {"x": rows}, "required": ["x"]})
    assert example_arguments(nested) == {"x": [[[[[[]]]]]]}


def retry(text: str, prompt: str, stability: JsonStability) -> tuple[str, Conversation]:
    """Return the message of the retry after `text`, and the conversation."""
    provider = Provider(said(text), said("Sunny."))
    capabilities = Capabilities(supports_tool_use=False, json_stability=stability)
    conversation = gateway.converse(provider.task(capabilities=capabilities, prompt=prompt))
    return provider.bodies[1]["messages"][-1]["content"], conversation


@pytest.mark.parametrize("name", [WEATHER.name, FAILING.name])
def test_a_retry_at_low_stability_shows_the_tool_that_was_attempted(name: str) -> None:
    message, _ = retry(f'{{"name": "{name}", "arguments": {{"ci', "native-tools/v2", "low")
    assert message.count("```json") == 1
    example = json.loads(message.split("```json\n")[1].split("\n```")[0])
    assert example["name"] == name


def test_a_retry_at_low_stability_is_in_the_language_of_the_prompt() -> None:
    message, _ = retry('{"name": "get_weather", "arguments": {"ci', "native-tools-zh/v2", "low")
    assert "下面是对 get_weather 的一个完整调用" in message


@pytest.mark.parametrize("stability", ["medium", "high"])
def test_a_retry_at_other_stabilities_shows_no_call(stability: JsonStability) -> None:
    message, _ = retry('{"name": "get_weather", "arguments": {"ci', "native-tools/v2", stability)
    assert "```" not in message
    assert "No tool was executed" in message
