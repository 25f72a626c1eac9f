"""Build the requests of Cohere's chat API, version 2 and version 1.

Source: Cohere's API reference, `POST /v2/chat` and `POST /v1/chat`.
"""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json
from harness.turns.turn import Tool


def build_request(spec: kit.RequestSpec) -> Json:
    """Return the body for version 2, which has OpenAI's messages without members that are null."""
    messages = kit.chat_messages(spec)
    without_null = [{key: it[key] for key in it if it[key] is not None} for it in messages]
    return kit.chat_body(spec) | {"messages": without_null}


def _version_1(spec: kit.RequestSpec) -> Json:
    instructions, question = kit.question_of(spec)
    tools = [_version_1_tool(tool) for tool in spec.tools]
    start = {"model": spec.model, "stream": True, "preamble": instructions, "message": question}
    return {**start, **({"tools": tools} if tools else {})}


def _version_1_tool(tool: Tool) -> Json:
    """Return a declaration of version 1, which has Python types instead of a JSON Schema."""
    types = {"string": "str", "integer": "int", "number": "float"}
    definitions = {
        name: {"type": types[schema["type"]], "required": name in tool.parameters["required"]}
        for name, schema in tool.parameters["properties"].items()
    }
    start = {"name": tool.name, "description": tool.description}
    return {**start, "parameter_definitions": definitions}


REQUEST_FORMS: Final = {
    "": kit.RequestForm({"cohere": "https://api.cohere.com/v2/chat"}, build_request),
    "v1": kit.RequestForm({"cohere": "https://api.cohere.com/v1/chat"}, _version_1, ()),
}
