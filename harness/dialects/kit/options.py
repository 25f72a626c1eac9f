"""Options of a writer or of a reader: each has a closed set of values, and nothing else is taken.

A misspelt value would otherwise fall into the last branch of a `match` and write, or read, what
no one asked for.
"""

from functools import lru_cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of all options; of a writer's, the default of each is what the API documents.

    Raises:
        ValueError: an option has a value that it does not define.
        TypeError: there is no option of that name.
    """

    def __post_init__(self) -> None:
        for name, hint in _hints(type(self)):
            value = getattr(self, name)
            choices = get_args(hint) if get_origin(hint) is Literal else ()
            if choices and value not in choices:
                expected = "one of " + ", ".join(map(repr, choices))
            elif not choices and not isinstance(value, hint):
                expected = str(getattr(hint, "__name__", hint))
            else:
                continue
            raise ValueError(f"{type(self).__name__}.{name} is {value!r}: expected {expected}")


@lru_cache
def _hints(kind: type[Options]) -> tuple[tuple[str, Any], ...]:
    return tuple(get_type_hints(kind).items())
