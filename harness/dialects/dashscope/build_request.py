"""The requests of DashScope's native API: messages in `input`, tools in `parameters`."""

from typing import Final

from harness.dialects.kit.build_request import Json, RequestForm, RequestSpec, declaration


def _increments(asked: RequestSpec) -> Json:
    parameters: Json = {"result_format": "message", "incremental_output": True}
    tools = [declaration(tool) for tool in asked.tools]
    parameters |= {"tools": tools} if tools else {}
    messages = {"messages": list(asked.messages)}
    return {"model": asked.model, "input": messages, "parameters": parameters}


def _snapshots(asked: RequestSpec) -> Json:
    body = _increments(asked)
    body["parameters"]["incremental_output"] = False
    return body


_ADDRESSES: Final = {
    "dashscope": "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation"
}
_HISTORY: Final = ("input", "messages")
REQUEST_FORMS: Final = {
    "": RequestForm(_ADDRESSES, _increments, _HISTORY),
    "snapshots": RequestForm(_ADDRESSES, _snapshots, _HISTORY),
}
