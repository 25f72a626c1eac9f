"""A turn: what one streamed response means; and a tool as a request declares it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.turns.deltas import Finish, ParseError, StreamFailure, ToolCall, Usage


class Turn(msgspec.Struct, frozen=True):
    """The folded deltas of one response.

    Fields:
        tool_calls: those that may be executed, in order of first appearance.
        parse_errors: the calls that were rejected or never ended, in order of first appearance.
        finish: how the provider ended the turn; None if it did not.
        failure: the error that ended it instead.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    parse_errors: tuple[ParseError, ...] = ()
    finish: Finish | None = None
    usage: Usage | None = None
    failure: StreamFailure | None = None


class Tool(msgspec.Struct, frozen=True):
    """A function that the model may call.

    Fields:
        name: as declared.
        description: for the model.
        parameters: the JSON Schema of the arguments object.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)


def referenced_schema(schema: object, reference: object) -> Any:  # noqa: ANN401 - any JSON
    """Return the part of `schema` that a local reference (`#/$defs/Name`) names; True if none."""
    if not (isinstance(reference, str) and reference.startswith("#")):
        return True
    for part in filter(None, reference[1:].split("/")):
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(schema, Mapping) or key not in schema:
            return True
        schema = schema[key]
    return schema
