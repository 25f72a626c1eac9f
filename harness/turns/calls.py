"""A tool call that may be executed, and the record of one that may not."""

from typing import Literal

import msgspec

SNIPPET_CHARACTERS = 200

Mode = Literal["tool_use", "json_fallback"]
# A function takes a JSON object; a custom tool takes free text.
CallKind = Literal["function", "custom"]


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A finished call.

    Fields:
        id: never empty; made up, stable and unique where the provider sent none.
        name: as the model spelled it.
        arguments: the JSON text as streamed, never repaired; "" for a call without any. Of
            a custom tool, its input as it is.
    """

    id: str
    name: str
    arguments: str
    kind: CallKind = "function"


class ParseError(msgspec.Struct, frozen=True, gc=False):
    """A call whose arguments could not be used; nothing was executed.

    Fields:
        mode: `tool_use` for the API's own field, `json_fallback` for calls taught by prompt.
        error: what was wrong, for a person.
        snippet: the start of the raw text, at most `SNIPPET_CHARACTERS` characters.
        id, name: of the call, where they arrived.
    """

    mode: Mode
    error: str
    snippet: str = ""
    id: str = ""
    name: str = ""
