"""Compare an old and a new response to the same request, as far as it matters to a client.

A model rarely answers twice with the same text, so texts are not compared. The events, their
fields, the end and the calls are compared, because clients depend on them.
"""

from collections.abc import Iterator
from typing import Any, Final

from harness.dialects.table import DIALECTS, oracle_reading
from harness.errors import StreamError
from harness.turns.oracle_reading import OracleReading
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

_MOST_DEPTH: Final = 24
# Clients branch on the values of these keys; other texts differ between responses.
_TELLING: Final = frozenset({"type", "object", "event_type", "event", "role", "finish_reason"})


def differences(old: Interaction, new: Interaction) -> tuple[str, ...]:
    """Return the differences of `new` from `old` that matter to a client, as text; () if none."""
    return tuple(_differences(old, new))


def _differences(old: Interaction, new: Interaction) -> Iterator[str]:
    yield from _changed("status", old.status, new.status)
    yield from _changed("content type", old.header("content-type"), new.header("content-type"))
    yield from _changed("ended", old.ended, new.ended)
    before, after = _fields(old), _fields(new)
    yield from (f"event kind or field gone: {field}" for field in sorted(before - after))
    yield from (f"event kind or field new: {field}" for field in sorted(after - before))
    if old.dialect in DIALECTS and new.dialect in DIALECTS:
        yield from _read_differently(oracle_reading(old), oracle_reading(new))


def _read_differently(old: OracleReading, new: OracleReading) -> Iterator[str]:
    yield from _changed("finish", old.finish, new.finish)
    yield from _changed("error", old.error and old.error[0], new.error and new.error[0])
    yield from _changed("calls", _calls(old), _calls(new))
    yield from _changed("text", bool(old.text), bool(new.text))
    yield from _changed("reasoning", bool(old.reasoning), bool(new.reasoning))
    yield from _changed("quirks", sorted(old.quirks), sorted(new.quirks))


def _calls(reading: OracleReading) -> list[str] | None:
    return None if reading.calls is None else [call.name for call in reading.calls]


def _changed(what: str, old: object, new: object) -> Iterator[str]:
    if old != new:
        yield f"{what}: was {old!r}, is {new!r}"


def _fields(interaction: Interaction) -> set[str]:
    """Return the path of each field of the events, and the values on which clients depend."""
    found: set[str] = set()
    try:
        for frame in iter_frames([interaction.body]):
            if frame.event:
                found.add(f"event {frame.event}")
            found.update(_paths(json_or_none(frame.data), "", 0))
    except StreamError:
        found.add("(the framing breaks)")
    return found


def _paths(value: Any, above: str, depth: int) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict) and depth < _MOST_DEPTH:
        for key, item in value.items():
            path = f"{above}.{key}" if above else key
            yield f"{path} = {item}" if key in _TELLING and isinstance(item, str) else path
            yield from _paths(item, path, depth + 1)
    elif isinstance(value, list) and depth < _MOST_DEPTH:
        for item in value:
            yield from _paths(item, f"{above}[]", depth + 1)
