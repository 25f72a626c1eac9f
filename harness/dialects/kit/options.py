"""Check the options of a writer or a reader, each of which has a closed set of values.

Without the check, a misspelt value would reach the last branch of a `match`, and the writer would
write something that the caller did not request.
"""

from functools import lru_cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base class of all options. The default of a writer's option is what the API documents.

    Raises:
        ValueError: an option has a value that it does not define.
        TypeError: the class has no option of that name.
    """

    def __post_init__(self) -> None:
        for name, kind, choices in _fields(type(self)):
            value = getattr(self, name)
            if value in choices if choices else isinstance(value, kind):
                continue
            expected = "one of " + ", ".join(map(repr, choices)) if choices else kind.__name__
            raise ValueError(f"{type(self).__name__}.{name} is {value!r}: expected {expected}")


@lru_cache
def _fields(options: type[Options]) -> tuple[tuple[str, type, tuple[Any, ...]], ...]:
    """Return name, type and allowed values of each option; () allows any value of the type."""
    hints = get_type_hints(options).items()
    return tuple(
        (name, object, get_args(hint)) if get_origin(hint) is Literal else (name, hint, ())
        for name, hint in hints
    )
