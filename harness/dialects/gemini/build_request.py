"""Build a request of Gemini's generateContent from a history.

The role of the model is `model`, calls and results are parts, and results are objects. The address
names the model and requests the stream. A thought signature is sent back on the part that had it,
because Gemini 3 refuses a call without its signature.
Source: Gemini API reference, `models.generateContent`, and "Thought signatures"; Vertex AI takes
the same body.
"""

from collections.abc import Callable
from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json
from harness.turns.turn import Tool


def build_request(spec: kit.RequestSpec) -> Json:
    """Return the body of a `streamGenerateContent` request."""
    instructions, messages = kit.split_instructions(spec.messages)
    body: Json = {"systemInstruction": {"parts": [_text(instructions)]}} if instructions else {}
    body |= {"contents": kit.blocks_by_speaker(messages, _BLOCKS, spec)}
    return body | _tools(spec) | spec.other_options


def _tools(spec: kit.RequestSpec) -> Json:
    """Return the members with the tools; {} if there are none.

    The API has no field that limits the model to one call at a time.
    """
    if not spec.tools:
        return {}
    fields: Json = {"tools": [{"functionDeclarations": [_tool(tool) for tool in spec.tools]}]}
    if spec.required_tool:
        calling = {"mode": "ANY", "allowedFunctionNames": [spec.required_tool]}
        fields["toolConfig"] = {"functionCallingConfig": calling}
    return fields


def _tool(tool: Tool) -> Json:
    schema = kit.schema_of(tool)
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}


def _text(text: str) -> Json:
    return {"text": text}


def _call(call_id: str, name: str, arguments: Json) -> Json:
    return {"functionCall": {"id": call_id, "name": name, "args": arguments}}


def _result(call_id: str, name: str, result: str) -> Json:
    response = {"output": result}
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


def _thought(text: str) -> Json:
    return {"text": text, "thought": True}


_SEALED: Final[dict[str, Callable[[str, Json], Json]]] = {
    "thoughtSignature": lambda value, part: part | {"thoughtSignature": value}
}
_BLOCKS: Final = kit.BlockFormat("model", _text, _call, _result, _thought, "parts", _SEALED)


def _first_body(spec: kit.RequestSpec) -> Json:
    instructions, question = kit.question_of(spec)
    functions = [kit.function_of(tool) for tool in spec.tools]
    return {
        "systemInstruction": {"parts": [_text(instructions)]},
        "contents": [{"role": "user", "parts": [_text(question)]}],
        **({"tools": [{"functionDeclarations": functions}]} if functions else {}),
    }


_VERTEX: Final = "aiplatform.googleapis.com/v1/projects/example/locations/europe-west1"
_MODELS: Final = {
    "google-gemini": "https://generativelanguage.googleapis.com/v1beta/models/{model}",
    "google-vertex": f"https://europe-west1-{_VERTEX}/publishers/google/models/{{model}}",
}
# Without `alt=sse` the API sends one JSON array.
REQUEST_FORMS: Final = {
    variant: kit.RequestForm(
        {provider: f"{uri}:streamGenerateContent{query}" for provider, uri in _MODELS.items()},
        _first_body,
        ("contents",),
    )
    for variant, query in (("", "?alt=sse"), ("array", ""))
}
