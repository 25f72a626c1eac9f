"""Define a turn, which is the meaning of one streamed response, and a tool of a request."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from harness.turns.deltas import (
    Finish,
    ParseError,
    SealedPlace,
    StreamFailure,
    ToolCall,
    Usage,
)

# A schema may be large and contain many references, so the search for an anchor is bounded.
_MOST_PARTS: Final = 2_000


class Sealed(msgspec.Struct, frozen=True, omit_defaults=True):
    """Data that only the provider can read and wants back, with its position in the turn.

    Fields:
        kind, value, of, id: as in `SealedDelta`.
        call: the position in `tool_calls` of the call that the data belongs to. For other data,
            the position of the next call.
        text: the reasoning or text that the data belongs to. It begins after the previous data of
            this kind.
    """

    kind: str
    value: str
    of: SealedPlace = "reasoning"
    call: int = 0
    text: str = ""
    id: str = ""


class Turn(msgspec.Struct, frozen=True):
    """The complete result of one response, folded from its deltas.

    Fields:
        tool_calls: the calls that may be executed, in order of first appearance.
        parse_errors: the calls that were rejected or never ended, in order of first appearance.
        finish: how the provider ended the turn; None if it did not.
        failure: the error that ended the turn; None if there was none.
        sealed: the data that only the provider can read, in the order in which it came.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    parse_errors: tuple[ParseError, ...] = ()
    finish: Finish | None = None
    usage: Usage | None = None
    failure: StreamFailure | None = None
    sealed: tuple[Sealed, ...] = ()


class Tool(msgspec.Struct, frozen=True):
    """A function that the model may call, as the request declares it.

    Fields:
        name: as declared.
        description: explains the function to the model.
        parameters: the JSON Schema of the arguments object.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)


def referenced_schema(schema: object, reference: object) -> Any:  # noqa: ANN401 - any JSON
    """Return the part of `schema` to which a local reference points; True if there is none.

    Args:
        schema: the schema of the arguments of a tool.
        reference: a JSON pointer (`#/$defs/Name`), or the `$anchor` of a part (`#Name`).
    """
    if not (isinstance(reference, str) and reference.startswith("#")):
        return True
    if reference[1:2] not in ("", "/"):
        return _anchored_schema(schema, reference[1:])
    for part in filter(None, reference[1:].split("/")):
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(schema, Mapping) or key not in schema:
            return True
        schema = schema[key]
    return schema


def _anchored_schema(schema: object, anchor: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the part of `schema` with this `$anchor`; True if the search finds none."""
    parts = islice(_parts(schema), _MOST_PARTS)
    named = (it for it in parts if isinstance(it, Mapping) and it.get("$anchor") == anchor)
    return next(named, True)


def _parts(schema: object) -> Iterator[object]:
    """Yield `schema` and each value in it, at every depth."""
    stack: list[Iterator[object]] = [iter((schema,))]
    while stack:
        for part in stack[-1]:
            yield part
            if isinstance(part, Mapping | list):
                stack.append(iter(part.values() if isinstance(part, Mapping) else part))
                break
        else:
            stack.pop()
