"""No bytes make a reader of any dialect raise, break the protocol, or say more than they hold.

Random bytes, random JSON in each dialect's own words and framing, bodies that ship and bodies
that were recorded, all of them damaged. The only exception that may come is `StreamError`,
for what is larger than a limit. The deep profile draws more than 50,000 bodies in all.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS, oracle_reading
from harness.errors import StreamError
from harness.fuzzing.strategies.turns import member_of
from harness.turns.deltas import Delta
from harness.turns.fold import fold
from harness.wire.cuts import seams, split
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Read, Request
from tests.dialects.openai_chat_streams import assert_protocol
from tests.dialects.shipped_bodies import bodies, events, framed, keys, payloads, requests, words
from tests.recording.corpus import files, needs_corpus, recorded
from tests.tables import each_row

# What an event says once, such as a long error, may stand in the end of each call.
_DELTA_BYTES = 2_000
_LONGEST_RECORDED = 32 * 1024

# Many kinds of many dialects add up: a third of the examples that one property gets.
each_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))


def assert_reads_well(dialect: str, body: bytes) -> None:
    """Read `body` whole and cut at its seams; both must keep every promise."""
    whole = _read(dialect, [body])
    cut = _read(dialect, list(split(body, seams(body))))
    assert (whole is None) == (cut is None)
    if whole is not None and cut is not None:
        assert fold(whole) == fold(cut)
    if dialect in DIALECTS:
        oracle_reading(_interaction(dialect, body))


def _read(dialect: str, reads: list[bytes]) -> list[Delta] | None:
    """Return the deltas of `reads`; None where they pass a limit."""
    size = sum(map(len, reads))
    try:
        deltas = list(DIALECTS[dialect].read(iter_frames(reads), ("get_weather",)))
    except StreamError:
        return None
    assert_protocol(deltas)
    assert len(deltas) <= size + 2
    assert len(msgspec.json.encode([str(delta) for delta in deltas])) <= _DELTA_BYTES * (size + 1)
    return deltas


def _interaction(dialect: str, body: bytes) -> Interaction:
    return Interaction(Request(), 200, (), body, (Read(len(body)),), dialect=dialect)


# Random bytes

_STARTS = st.sampled_from([b"", b"data: ", b"{", b"[", b"<", b"\0\0\0", b"\x1f\x8b", b"\n\n"])


@each_dialect
@given(start=_STARTS, rest=st.lists(st.binary(max_size=30), max_size=4))
def test_no_bytes_break_a_reader(dialect: str, start: bytes, rest: list[bytes]) -> None:
    assert_reads_well(dialect, start + b"\n\n".join(rest))


# Random JSON in a dialect's own words

Draw = Callable[[st.SearchStrategy[Any]], Any]
_HOSTILE = ("", "{}", '{"a":', '{"a":1}', "1}", "\ud83d", "-1", "[DONE]", "error", "get_weather")
_SCALARS = st.sampled_from((None, True, False, -1, 0, 1, 2, 10**20, 1e999, -0.5))


@cache
def _anything(dialect: str) -> st.SearchStrategy[Any]:
    texts = st.sampled_from((*words(dialect), *_HOSTILE))
    names = st.sampled_from(keys(dialect) or ("a",))
    return st.recursive(
        _SCALARS | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
        max_leaves=8,
    )


@st.composite
def _values(draw: st.DrawFn, dialect: str) -> tuple[str, Any]:
    """Draw a payload that ships, with some of its values replaced, or anything at all."""
    anything = _anything(dialect)
    known = payloads(dialect)
    if not known or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["", "error", "chunk"])), draw(anything)
    event, value = draw(member_of(known))
    for _ in range(draw(st.integers(0, 3))):
        value = _replaced(draw, value, anything)
    return event, value


def _replaced(draw: Draw, value: Any, anything: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any JSON
    """Return `value` with one value somewhere in it replaced, put in or left out."""
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: _replaced(draw, value[name], anything)}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        place = draw(st.integers(0, len(value) - 1))
        new = _replaced(draw, value[place], anything)
        return draw(
            st.sampled_from(
                [
                    [*value[:place], new, *value[place + 1 :]],
                    [*value[:place], *value[place + 1 :]],
                    [*value, new],
                ]
            )
        )
    return draw(anything)


@each_dialect
@given(data=st.data())
def test_no_json_breaks_a_reader(dialect: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([DIALECTS[dialect].content_type, "text/event-stream", "json"]))
    drawn = data.draw(st.lists(_values(dialect), max_size=6))
    assert_reads_well(
        dialect, b"".join(framed(json.dumps(v).encode(), event, kind) for event, v in drawn)
    )


@each_dialect
@given(data=st.data())
def test_no_document_breaks_a_reader(dialect: str, data: st.DataObject) -> None:
    values = [value for _, value in data.draw(st.lists(_values(dialect), max_size=3))]
    indent = data.draw(st.sampled_from([None, 1]))
    assert_reads_well(
        dialect, json.dumps(values[0] if len(values) == 1 else values, indent=indent).encode()
    )


@each_dialect
@given(data=st.data())
def test_no_request_breaks_a_reader_of_requests(dialect: str, data: st.DataObject) -> None:
    uri, sent = data.draw(member_of(requests(dialect)))
    value: Any = sent
    for _ in range(data.draw(st.integers(0, 3))):
        value = _replaced(data.draw, value, _anything(dialect))
    if data.draw(st.booleans()):
        uri = data.draw(st.text(max_size=30) | st.just("https://[/models/x:y?%"))
    assert (
        DIALECTS[dialect].parse_request(uri, value if isinstance(value, dict) else {}) is not None
    )


# Damaged bodies

Damage = tuple[str, int, int]
_MOST_BYTES = 40


def _flip(body: bytes, at: int, n: int) -> bytes:
    return body[:at] + bytes([body[at] ^ (1 << n % 8)]) + body[at + 1 :]


def _replace(body: bytes, at: int, n: int) -> bytes:
    return body[:at] + bytes([n % 256]) + body[at + 1 :]


def _delete(body: bytes, at: int, n: int) -> bytes:
    return body[:at] + body[at + 1 + n % _MOST_BYTES :]


def _double(body: bytes, at: int, n: int) -> bytes:
    return body[: at + n % _MOST_BYTES] + body[at:]


def _truncate(body: bytes, at: int, _: int) -> bytes:
    return body[:at]


def _of_events(change: Callable[[list[bytes], int, int], list[bytes]]) -> Callable[..., bytes]:
    def changed(body: bytes, at: int, n: int) -> bytes:
        pieces = events(body)
        return b"".join(change(pieces, at % len(pieces), n % len(pieces)))

    return changed


_DAMAGES: dict[str, Callable[[bytes, int, int], bytes]] = {
    "flip a bit": _flip,
    "replace a byte": _replace,
    "delete a slice": _delete,
    "double a slice": _double,
    "truncate": _truncate,
    "drop an event": _of_events(lambda all_, at, _: [*all_[:at], *all_[at + 1 :]]),
    "double an event": _of_events(lambda all_, at, _: [*all_[: at + 1], *all_[at:]]),
    "move an event": _of_events(
        lambda all_, at, n: [*all_[:at], *all_[at + 1 :][:n], all_[at], *all_[at + 1 :][n:]]
    ),
}
_PLACES = st.integers(0, 2**20)
_DAMAGED = st.lists(
    st.tuples(st.sampled_from(sorted(_DAMAGES)), _PLACES, _PLACES), min_size=1, max_size=5
)


def damaged(body: bytes, damages: list[Damage]) -> bytes:
    for how, at, n in damages:
        if body:
            body = _DAMAGES[how](body, at % len(body), n)
    return body


def spliced(one: bytes, at: int, other: bytes, n: int) -> bytes:
    return one[: at % (len(one) + 1)] + other[n % (len(other) + 1) :]


@cache
def any_shipped() -> list[bytes]:
    """Return the bundled bodies of all dialects; not read at import, which each process does."""
    return sorted({body for dialect in DIALECTS for body in bodies(dialect)})


@each_dialect
@given(data=st.data(), damages=_DAMAGED)
def test_no_damage_to_what_ships_breaks_a_reader(
    dialect: str, data: st.DataObject, damages: list[Damage]
) -> None:
    body = data.draw(member_of(bodies(dialect) or any_shipped()))
    assert_reads_well(dialect, damaged(body, damages))


@each_dialect
@given(data=st.data(), at=_PLACES, n=_PLACES)
def test_no_splice_of_two_bodies_breaks_a_reader(
    dialect: str, data: st.DataObject, at: int, n: int
) -> None:
    own = bodies(dialect) or tuple(any_shipped())
    other = data.draw(member_of(own) | member_of(any_shipped()))
    assert_reads_well(dialect, spliced(data.draw(member_of(own)), at, other, n))


@cache
def streams() -> list[Interaction]:
    """Return the recorded streams of the corpus that are not too long."""
    every = (each.interaction for each in recorded(files()))
    return [each for each in every if 0 < len(each.body) <= _LONGEST_RECORDED]


@needs_corpus
@each_dialect
@given(data=st.data(), damages=_DAMAGED)
def test_no_damage_to_a_recorded_stream_breaks_a_reader(
    dialect: str, data: st.DataObject, damages: list[Damage]
) -> None:
    own = [each for each in streams() if each.dialect == dialect]
    assert_reads_well(dialect, damaged(data.draw(member_of(own or streams())).body, damages))


# The damages themselves


@each_row("how", sorted(_DAMAGES))
def test_each_damage_changes_something(how: str) -> None:
    body = b'data: {"a": 1}\n\ndata: {"b": 2}\n\ndata: {"c": 3}\n\n'
    assert any(damaged(body, [(how, at, n)]) != body for at in range(9) for n in range(9))


def test_a_splice_is_the_start_of_one_and_the_end_of_the_other() -> None:
    assert spliced(b"abc", 1, b"xyz", 2) == b"az"


@each_dialect
def test_there_is_something_to_damage(dialect: str) -> None:
    body = bodies(dialect)[0]
    assert b"".join(events(body)) == body
    assert keys(dialect)
