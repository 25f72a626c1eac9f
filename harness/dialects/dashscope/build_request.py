"""The requests of DashScope's native API: messages in `input`, tools in `parameters`."""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json


def _increments(spec: kit.RequestSpec) -> Json:
    parameters: Json = {"result_format": "message", "incremental_output": True}
    tools = [kit.declaration(tool) for tool in spec.tools]
    parameters |= {"tools": tools} if tools else {}
    messages = {"messages": list(spec.messages)}
    return {"model": spec.model, "input": messages, "parameters": parameters}


def _snapshots(spec: kit.RequestSpec) -> Json:
    body = _increments(spec)
    body["parameters"]["incremental_output"] = False
    return body


_ADDRESSES: Final = {
    "dashscope": "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation"
}
_HISTORY: Final = ("input", "messages")
REQUEST_FORMS: Final = {
    "": kit.RequestForm(_ADDRESSES, _increments, _HISTORY),
    "snapshots": kit.RequestForm(_ADDRESSES, _snapshots, _HISTORY),
}
