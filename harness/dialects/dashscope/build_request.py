"""Build the requests of DashScope's native API: messages in `input`, tools in `parameters`."""

from functools import partial
from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json


def _body(spec: kit.RequestSpec, *, incremental: bool) -> Json:
    parameters: Json = {"result_format": "message", "incremental_output": incremental}
    tools = [kit.declaration(tool) for tool in spec.tools]
    parameters |= {"tools": tools} if tools else {}
    messages = {"messages": kit.chat_messages(spec)}
    return {"model": spec.model, "input": messages, "parameters": parameters}


_ADDRESSES: Final = {
    "dashscope": "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation"
}
_HISTORY: Final = ("input", "messages")
REQUEST_FORMS: Final = {
    "": kit.RequestForm(_ADDRESSES, partial(_body, incremental=True), _HISTORY),
    "snapshots": kit.RequestForm(_ADDRESSES, partial(_body, incremental=False), _HISTORY),
}
