"""Which output items ask the client for a call, and of which kind.

A `function_call` has a name and JSON arguments, a `custom_tool_call` a name and free text. Of
the other items some wait for the client too: shells, patches, computers and searches for tools
have an action of their own shape, and an MCP server's call may wait for an approval. No tool
loop of named tools can answer these, so each is opened, to be seen, and rejected with its
reason. All other items (searches, code interpreter, images, `mcp_call`, `program`, outputs,
reasoning) are run by the provider, or are no calls at all, and are none for the client.
Source: OpenAI API reference, "Responses", "Output items"; guides on the tools.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.dialects.openai_responses.items import text
from harness.turns.calls import CallKind

# Type of an item -> the kind of call that it is; its field with what the model gives it.
CALLS: Final[dict[str, CallKind]] = {"function_call": "function", "custom_tool_call": "custom"}
FIELDS: Final[dict[CallKind, str]] = {"function": "arguments", "custom": "input"}


class OddCall(msgspec.Struct, frozen=True):
    """Something that the client has to do and that is no call of a named tool.

    Fields:
        name: of what is to be done.
        why: the reason to reject it.
    """

    name: str
    why: str


def is_call(value: dict[str, Any], custom: frozenset[str] | None) -> bool:
    """Return whether the item `value` is a call of one of the client's tools.

    Args:
        value: the item.
        custom: names of the custom tools that the client declared; None where that is not
            known. A custom call of another name was made to a tool of the provider, such as
            the `x_keyword_search` of xAI's `x_search`.
    """
    kind = value.get("type")
    if kind == "custom_tool_call":
        return custom is None or text(value.get("name")) in custom
    return kind == "function_call"


def odd_call(value: dict[str, Any]) -> OddCall | None:
    """Return what the item `value` asks of the client beside calls of tools, or None."""
    kind = text(value.get("type"))
    is_client = _CLIENT.get(kind)
    if is_client is None or not is_client(value):
        return None
    if kind == "mcp_approval_request":
        name = text(value.get("name"))
        return OddCall(name, "an MCP call waits for an approval; it is no call of a tool")
    return OddCall(kind.removesuffix("_call"), f"{kind} is an action, no call of a named tool")


def custom_tools(tools: object) -> frozenset[str] | None:
    """Return the names of the custom tools that a response repeats; None where it has none."""
    if not isinstance(tools, list) or not tools:
        return None
    declared = (tool for tool in tools if isinstance(tool, dict) and tool.get("type") == "custom")
    return frozenset(text(tool.get("name")) for tool in declared)


def _always(_: dict[str, Any]) -> bool:
    return True


def _is_local(value: dict[str, Any]) -> bool:
    """Whether a shell is the client's own, not a container of the provider."""
    environment = value.get("environment")
    return not isinstance(environment, dict) or environment.get("type", "local") == "local"


def _by_client(value: dict[str, Any]) -> bool:
    return value.get("execution") == "client"


_CLIENT: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "apply_patch_call": _always,
    "computer_call": _always,
    "local_shell_call": _always,
    "mcp_approval_request": _always,
    "shell_call": _is_local,
    "tool_search_call": _by_client,
}
