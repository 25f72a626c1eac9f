"""Values of any shape -> the same with long texts cut, so that a case has a bearable size."""

from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def shorten(value: T, limit: int) -> T:
    """Return `value` with every text and every bytes in it at most about `limit` long.

    Args:
        value: a struct, a tuple, or a leaf of either.
        limit: characters or bytes; a text that is cut says how many are left out.
    """
    short: T = _shortened(value, limit)
    return short


def _shortened(value: Any, limit: int) -> Any:  # noqa: ANN401 - shapes are kept, whatever they are
    match value:
        case str() if len(value) > limit and type(value) is str:
            return f"{value[:limit]}… (+{len(value) - limit:,} characters)"
        case bytes() if len(value) > limit:
            return value[:limit]
        case tuple():
            return tuple(_shortened(each, limit) for each in value)
        case msgspec.Struct():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            short = {name: _shortened(field, limit) for name, field in fields.items()}
            changed = {name: new for name, new in short.items() if new is not fields[name]}
            return msgspec.structs.replace(value, **changed) if changed else value
        case _:
            return value
