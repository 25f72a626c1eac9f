"""Parse the client's messages of a Live session: the setup, and what the next turn answers.

Source: Gemini API reference, "Live API", `BidiGenerateContentSetup`.
"""

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_dict, as_text, dicts, text_of


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - the setup names the model
    """Return the content of the messages in `body`: one message, or several as `events`."""
    events = [*dicts(body.get("events"))] or [body]
    setup: Json = {}
    for event in events:
        setup |= as_dict(event.get("setup"))
    declared = (
        function
        for tool in dicts(setup.get("tools"))
        for function in dicts(tool.get("functionDeclarations"))
    )
    return kit.ChatRequest(
        model=as_text(setup.get("model")).rpartition("/")[2],
        tools=tuple(
            kit.tool(
                each.get("name"),
                each.get("description"),
                each.get("parameters") or each.get("parametersJsonSchema"),
            )
            for each in declared
        ),
        system=text_of(as_dict(setup.get("systemInstruction")).get("parts")),
        stream=True,
    )
