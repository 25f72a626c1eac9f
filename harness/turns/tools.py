"""A tool as a request declares it."""

from typing import Any

import msgspec


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
