"""Parse a request of DashScope's native API.

Messages are in `input`, tools in `parameters`. A header requests a stream, and recordings do not
store it, so only `incremental_output` shows the stream here.
Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_dict, as_text


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return the content of the request `body` that was sent to `uri`."""
    parameters, content = as_dict(body.get("parameters")), as_dict(body.get("input"))
    return kit.ChatRequest(
        model=as_text(body.get("model")),
        tools=tuple(kit.function_tools(parameters.get("tools"))),
        system=kit.system_text(content.get("messages"), frozenset(("system",))),
        stream=body.get("stream") is True or parameters.get("incremental_output") is True,
    )
