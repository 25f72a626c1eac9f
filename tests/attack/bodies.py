"""Damaged bodies through the readers, the oracles, the text scanners and the importers.

An attempt takes a body, a text or a file that is well formed, damages it, and reads it. It must
give a turn, a reading or cassettes, or one of the harness's own errors, within a few seconds; a
turn must not depend on where the network cut the body.
"""

import json
import random
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePath
from time import process_time
from typing import Any, Final

import yaml

from harness.dialects.table import DIALECTS, oracle_reading
from harness.errors import HarnessError, StreamError, UnreadableError
from harness.files.yaml_text import load_yaml_documents
from harness.normalizers import reference
from harness.recording.importing import Labels, import_file
from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.text_calls.dialect import WrittenCall
from harness.turns.deltas import Delta, Finish, FinishReason, ReasoningDelta, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from harness.wire.cassette_file import load_cassette, parse_cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.cuts import each_byte, seams, split
from harness.wire.interaction import Interaction, Read
from tests.attack.attack import Attack
from tests.dialects.openai_chat_streams import assert_protocol
from tests.dialects.shipped_bodies import events
from tests.recording import test_recording_importers as containers
from tests.recording import test_recording_new_importers as new_containers
from tests.recording.format_fixtures import FIXTURES, FORMATS
from tests.recording.recording_samples import flow, flows

# Far more than the slowest attempt takes, of CPU time: a machine with other work fails nothing.
_MOST_SECONDS: Final = 5.0
_CASSETTES: Final = Path(__file__).parents[2] / "cassettes"
_LARGEST_FILE, _LARGEST_BODY = 6_000, 2_500
_LONGEST_EACH_BYTE: Final = 500
_MOST_DAMAGES: Final = 4
_MOST_REPEATED: Final = 1_500

_NAMES: Final = sorted(DIALECTS)
_TOOLS: Final = (
    Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}}),
    Tool("search", "", {"type": "object", "properties": {"query": {"type": "string"}}}),
)
_POLICIES: Final = (
    reference.POLICY,
    TextPolicy(dialects=frozenset(TEXT_DIALECTS), bare="anywhere"),
    *(TextPolicy(dialects=frozenset({name})) for name in sorted(TEXT_DIALECTS)),
)
# What parsers of numbers, of nesting, of text and of framing stumble over.
_HOSTILE: Final = (
    *(b"9" * 400, b"1e999", b"-", b"-0", b"1e-999", b"0" * 60, b"18446744073709551616"),
    *(b"[" * 1_200, b'{"a":' * 900, b"]" * 50, b"}" * 50, b'"', b"\\", b"\\u", b"\\ud83d"),
    *(b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\x00", b"\xef\xbb\xbf", b"\x85"),
    *(b"\r", b"\n", b"\r\n\r\n", b"\n\n", b"data:", b"data: [DONE]\n\n", b"event: error\n", b":"),
    *(b"null", b"true", b"[]", b"{}", b'""', b"NaN", b'"index":-1,', b'"index":99999999999,'),
    *(b"Content-Length: -1\r\n", b"ffffffffffffffff\r\n", b"!!binary ", b"&a *a ", b"<<: ", b"- "),
    *(b"\x1f\x8b\x08\x00", b"\x00\x00\x00\x10", b"https://[/", b":99999999/", b"@", b"%", b"?"),
    *(b"</s>", b"<think>", b"```json\n", b"<tool_call>", b"[TOOL_CALLS]", b"<|", b"|>", b"("),
)


def attempt(number: int) -> Sequence[str]:
    """Damage a body, a text or a file, and read it."""
    drawn = random.Random(number)  # noqa: S311 - an equal number attacks in an equal way
    kind = _KINDS[number % len(_KINDS)]
    start = process_time()
    try:
        wrong = list(kind(drawn))
    except Exception:  # noqa: BLE001 - this is what an attack looks for
        wrong = [f"{kind.__name__}: {traceback.format_exc(limit=-4)}"]
    spent = process_time() - start
    if spent > _MOST_SECONDS:
        wrong.append(f"{kind.__name__}: {spent:.1f} seconds")
    return wrong


# What is read


def _stream(drawn: random.Random) -> Iterator[str]:
    """Read a body as a client does, whole and cut."""
    interaction = _interaction(drawn)
    whole = _turn(interaction, [interaction.body])
    cut = _turn(interaction, list(_cut(interaction.body, drawn)))
    if whole != cut:
        yield f"{interaction.dialect}: cut, {interaction.body!r} gives {cut}, not {whole}"


def _turn(interaction: Interaction, reads: list[bytes]) -> Turn | None:
    """Return what `reference` makes of `reads`; None if they exceed a limit of the framing."""
    try:
        deltas = list(reference.normalize(interaction, iter(reads)))
    except StreamError:
        return None
    assert_protocol(deltas)
    return fold(deltas)


def _oracle(drawn: random.Random) -> Iterator[str]:
    """Read a body by the contract of its API."""
    oracle_reading(_interaction(drawn))
    yield from ()


def _text(drawn: random.Random) -> Iterator[str]:
    """Look for calls in a text, whole and cut."""
    text = _damaged(drawn.choice(_texts()), _texts(), drawn).decode("utf-8", "replace")
    policy, kind = drawn.choice(_POLICIES), drawn.choice((TextDelta, TextDelta, ReasoningDelta))
    cuts = sorted(drawn.sample(range(len(text) + 1), min(len(text), drawn.choice((1, 3, 9, 99)))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, cut = (_calls(map(kind, given), policy) for given in ([text], pieces))
    if whole != cut:
        yield f"cut at {cuts}, {text!r} gives {cut}, not {whole}; {policy}"


def _calls(deltas: Iterator[Delta], policy: TextPolicy) -> Turn:
    finish = Finish(FinishReason.STOP, "stop")
    return fold(read_text_calls([*deltas, finish], _TOOLS, policy))


def _container(drawn: random.Random) -> Iterator[str]:
    """Import a file; what it gives can be stored and read again."""
    yield from _imported(_damaged(drawn.choice(_files()), _files(), drawn))


def _structure(drawn: random.Random) -> Iterator[str]:
    """Import a file that is well formed, and some of whose values are of a wrong type."""
    value, write = drawn.choice((*_documents(), *_FLOWS * (len(_documents()) // 6)))
    for _ in range(drawn.randint(1, _MOST_DAMAGES)):
        value = _replaced(value, drawn)
    yield from _imported(write(value))


def _imported(data: bytes) -> Iterator[str]:
    dialect = DIALECTS if len(data) % 7 == 0 else ("",)  # some are read as one dialect
    labels = Labels(dialect=sorted(dialect)[len(data) % len(dialect)])
    try:
        found = import_file(PurePath("a.x"), data, "a.x", labels)
    except UnreadableError:
        return
    for cassette in found.cassettes:
        stored = format_cassette(cassette).encode()
        again = parse_cassette(stored, cassette.id, where="a.x")
        if [it.body for it in again.interactions] != [it.body for it in cassette.interactions]:
            yield f"bodies change when they are stored: {data!r}"


def _cassette(drawn: random.Random) -> Iterator[str]:
    """Read a cassette of this project."""
    data = _damaged(drawn.choice(_cassette_files()), _cassette_files(), drawn)
    try:
        parse_cassette(data, "a", where="a.yaml")
    except HarnessError:
        return
    yield from ()


# Each kind as often as it stands here.
_KINDS: Final = (
    *(_stream, _text, _stream, _container, _oracle, _text, _stream),
    *(_oracle, _text, _container, _stream, _text, _structure, _stream, _cassette),
)


# What is damaged


def _interaction(drawn: random.Random) -> Interaction:
    dialect = drawn.choice(_NAMES)
    interaction = drawn.choice(_interactions(dialect))
    body = _damaged(interaction.body, _bodies(), drawn)
    other = Interaction(
        interaction.request, 200, interaction.headers, body, (Read(len(body)),), dialect=dialect
    )
    return other if body else interaction


@cache
def _shipped() -> tuple[Interaction, ...]:
    """Return the short interactions of the bundled cassettes, always in the same order."""
    paths = sorted(_CASSETTES.rglob("*.yaml"))
    short = (path for path in paths if path.stat().st_size <= _LARGEST_FILE)
    found = (each for path in short for each in load_cassette(path, _CASSETTES).interactions)
    return tuple(each for each in found if 0 < len(each.body) <= _LARGEST_BODY)


@cache
def _interactions(dialect: str) -> tuple[Interaction, ...]:
    return tuple(each for each in _shipped() if each.dialect == dialect) or _shipped()


@cache
def _bodies() -> tuple[bytes, ...]:
    return tuple(each.body for each in _shipped())


@cache
def _texts() -> tuple[bytes, ...]:
    """Return calls as models write them in each text dialect, with text around them."""
    calls = (
        WrittenCall("get_weather", '{"city": "Oslo"}', "call_1"),
        WrittenCall("search", '{"query": "a}</tool_call>`b"}'),
    )
    found: list[str] = []
    for dialect in TEXT_DIALECTS.values():
        both = dialect.write(calls)
        found += [dialect.write(calls[:1]), both, f"Sure.\n{both}\nDone.", f"<think>{both}</think>"]
        found += [f"```\n{both}\n```", f'"{both}"', *dialect.openers, both * 3]
    return tuple(text.encode("utf-8", "replace") for text in found if text)


@cache
def _files() -> tuple[bytes, ...]:
    """Return a file of each container that can be imported."""
    groups = (containers.WITH_REQUEST, containers.WITHOUT_REQUEST)
    found = [data for group in groups for several in group.values() for data in several]
    formats = [(FORMATS / name).read_bytes() for name in FIXTURES]
    small = [data for data in formats if len(data) <= _LARGEST_FILE]
    return (*found, *small, *new_containers.SAMPLES.values(), *_cassette_files()[::40])


_Document = tuple[object, Callable[[Any], bytes]]
# A file of flows has few bytes that can be damaged and leave it well formed: it comes more often.
_FLOWS: Final[tuple[_Document, ...]] = (
    (flow(containers.STREAM), flows),
    ([flow(containers.STREAM, version=4), flow(None)], lambda value: flows(*_listed(value))),
)


@cache
def _documents() -> tuple[_Document, ...]:
    """Return the data of containers, each with what writes it."""
    found: list[_Document] = []
    for data in _files():
        try:
            found.append((json.loads(data), _as_json))
        except ValueError:
            with suppress(HarnessError):
                documents = [*load_yaml_documents(data, "a")]
                if isinstance(documents[0], dict):
                    found.append((documents, _as_yaml))
    return tuple(found)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _as_json(value: object) -> bytes:
    return json.dumps(value, default=repr).encode()


def _as_yaml(value: object) -> bytes:
    return yaml.safe_dump_all(_listed(value)).encode()


_ODD: Final[tuple[object, ...]] = (
    *(None, True, False, -1, 0, 1, 65_536, 10**30, -0.5, 1e308, "", "a", "\x00", "-1", "443"),
    *(b"", b"\xff", b"{}", [], {}, [[]], [{}], {"": ""}, {"a": []}, ["a", "b", "c"], "é\u2028"),
    *("gzip", "chunked", "base64", "https://[/", "https://a:99999/b", "a" * 3_000, [[1, 2]]),
)


def _replaced(value: Any, drawn: random.Random) -> Any:  # noqa: ANN401 - any data of a file
    """Return `value` with one value somewhere in it replaced, put in or left out."""
    if isinstance(value, dict) and value and drawn.randrange(5):
        key = drawn.choice([*value])
        if drawn.randrange(9) == 0:
            return {each: value[each] for each in value if each != key}
        return {**value, key: _replaced(value[key], drawn)}
    if isinstance(value, list | tuple) and value and drawn.randrange(5):
        at = drawn.randrange(len(value))
        new = _replaced(value[at], drawn)
        kept = [*value[:at], new, *value[at + 1 :]]
        return drawn.choice((kept, kept, [*kept, new], [*value[:at], *value[at + 1 :]]))
    return drawn.choice(_ODD)


@cache
def _cassette_files() -> tuple[bytes, ...]:
    paths = sorted(_CASSETTES.rglob("*.yaml"))
    return tuple(path.read_bytes() for path in paths if path.stat().st_size <= _LARGEST_BODY)


# How it is damaged


def _damaged(data: bytes, others: Sequence[bytes], drawn: random.Random) -> bytes:
    for _ in range(drawn.randint(1, _MOST_DAMAGES)):
        at = drawn.randrange(len(data) + 1)
        data = drawn.choice(_DAMAGES)(data, at, others, drawn)
    return data


def _flip(data: bytes, at: int, _others: Sequence[bytes], drawn: random.Random) -> bytes:
    return (
        data[:at]
        + bytes(byte ^ (1 << drawn.randrange(8)) for byte in data[at : at + 1])
        + (data[at + 1 :])
    )


def _replace(data: bytes, at: int, _others: Sequence[bytes], drawn: random.Random) -> bytes:
    return data[:at] + drawn.randbytes(1) + data[at + 1 :]


def _cut_out(data: bytes, at: int, _others: Sequence[bytes], drawn: random.Random) -> bytes:
    return data[:at] + data[at + drawn.randint(1, 60) :]


def _truncate(data: bytes, at: int, _others: Sequence[bytes], _drawn: random.Random) -> bytes:
    return data[:at]


def _repeat(data: bytes, at: int, _others: Sequence[bytes], drawn: random.Random) -> bytes:
    piece = data[at : at + drawn.choice((1, 2, 8, 40, 200))]
    times = min(drawn.choice((2, 3, 20, 400)), _MOST_REPEATED // (len(piece) + 1))
    return data[:at] + piece * times + data[at:]


def _insert(data: bytes, at: int, _others: Sequence[bytes], drawn: random.Random) -> bytes:
    return data[:at] + drawn.choice(_HOSTILE) + data[at:]


def _overwrite(data: bytes, at: int, _others: Sequence[bytes], drawn: random.Random) -> bytes:
    """Replace a number, a word or a string, so that the rest stays what it was."""
    stop = at
    while stop < len(data) and (data[stop : stop + 1].isalnum()):
        stop += 1
    return data[:at] + drawn.choice(_HOSTILE) + data[stop:]


def _splice(data: bytes, at: int, others: Sequence[bytes], drawn: random.Random) -> bytes:
    other = drawn.choice(others)
    return data[:at] + other[drawn.randrange(len(other) + 1) :]


def _enclose(data: bytes, at: int, others: Sequence[bytes], drawn: random.Random) -> bytes:
    other = drawn.choice(others)
    start = drawn.randrange(len(other) + 1)
    return data[:at] + other[start : start + drawn.randint(1, 200)] + data[at:]


def _shuffle(data: bytes, _at: int, _others: Sequence[bytes], drawn: random.Random) -> bytes:
    pieces = events(data)
    drawn.shuffle(pieces)
    return b"".join(pieces)


_Damage = Callable[[bytes, int, Sequence[bytes], random.Random], bytes]
_DAMAGES: Final[tuple[_Damage, ...]] = (
    *(_flip, _replace, _cut_out, _truncate, _repeat, _insert, _overwrite, _splice, _enclose),
    *(_shuffle, _insert, _overwrite, _flip),
)


def _cut(body: bytes, drawn: random.Random) -> Iterator[bytes]:
    """Yield the body as a hostile network delivers it."""
    way = drawn.randrange(3)
    if way == 0 and len(body) <= _LONGEST_EACH_BYTE:
        return split(body, each_byte(body))
    if way == 1:
        return split(body, seams(body))
    most = min(len(body) - 1, drawn.choice((1, 2, 5, 40)))
    return split(body, tuple(sorted(drawn.sample(range(1, len(body)), most))) if most > 0 else ())


ATTACK = Attack(attempt, full=5_000_000, part=4_000, block=2_000)
