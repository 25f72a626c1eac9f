"""Write a cassette as the text of its file: a vcrpy cassette with reads, digests and origin.

Equal cassettes give equal text. A body is a literal YAML block if a YAML parser returns the same
bytes for it. Otherwise it is quoted with escapes, or `!!binary` if it is not UTF-8.
"""

import base64
import gzip
from collections.abc import Iterable, Iterator
from hashlib import sha256
from http import HTTPStatus
from itertools import chain

import msgspec

from harness.files.yaml_text import format_block, format_key, format_scalar
from harness.wire import prompt_tools
from harness.wire.cassette import Cassette
from harness.wire.decompress import is_marked
from harness.wire.interaction import Headers, Interaction
from harness.wire.reads import SYNTHETIC, format_reads
from harness.wire.session import Session
from harness.wire.session_file import format_session

_BASE64_LINE = 76


def format_cassette(cassette: Cassette) -> str:
    """Return the YAML text of `cassette`, which `load_cassette` reads as an equal cassette.

    Raises:
        ValueError: as `cassette_lines`.
    """
    return "".join(cassette_lines(cassette))


def cassette_lines(cassette: Cassette) -> Iterator[str]:
    """Yield the text of `cassette` in pieces, of which the longest is a body.

    If the reads were not recorded, the text contains `synthetic` instead. The loader then makes
    one read for each event.

    Raises:
        ValueError: the reads of an interaction do not add up to its body, or the interactions
            differ in `tools` or `due`.
    """
    for name in ("tools", "due"):
        of_all = getattr(cassette, name)
        if any(getattr(interaction, name) != of_all for interaction in cassette.interactions):
            raise ValueError(f"expected the same `{name}` in all interactions of a cassette")
    for line in chain(_traffic(cassette), _harness(cassette), ["version: 1"]):
        yield f"{line}\n"


def _traffic(cassette: Cassette) -> Iterator[str]:
    """Yield the lines of the interactions, or of the session that contains them."""
    if cassette.session is not None:
        _check_derived(cassette, cassette.session)
        yield "interactions: []"
        yield from format_session(cassette.session, _body, _session_headers)
        return
    yield "interactions:" + ("" if cassette.interactions else " []")
    for interaction in cassette.interactions:
        yield from _interaction(interaction)


def _check_derived(cassette: Cassette, session: Session) -> None:
    bodies = [interaction.body for interaction in cassette.interactions]
    if bodies != [interaction.body for interaction in session.interactions()]:
        raise ValueError("expected the interactions that `session.turns` name")


def _session_headers(headers: Headers, key: str) -> Iterator[str]:
    if headers:
        yield f"  {key}:"
        yield from list(_headers(headers))[1:]


def digest(body: bytes) -> str:
    """Return the SHA-256 of a response body in hexadecimal, as a cassette file stores it."""
    return sha256(body).hexdigest()


def frames_digest(session: Session) -> str:
    """Return the SHA-256 of all frames of a session, with sender, opcode and length of each."""
    total = sha256()
    for frame in session.frames:
        total.update(f"{frame.side} {frame.opcode} {len(frame.data)}\n".encode() + frame.data)
    return total.hexdigest()


def _interaction(interaction: Interaction) -> Iterator[str]:
    request = interaction.request
    yield "- request:"
    yield f"    method: {format_scalar(request.method)}"
    yield f"    uri: {format_scalar(request.uri)}"
    yield from _headers(request.headers)
    yield f"    body: {_body(request.body, 4) if request.body else 'null'}"
    yield "  response:"
    yield f"    status: {{code: {interaction.status}, message: {_phrase(interaction.status)}}}"
    yield from _headers(interaction.headers)
    yield "    body:"
    yield f"      string: {_body(_stored(interaction.body), 6)}"
    yield f"    reads: {_reads(interaction)}"
    if interaction.ended != "complete":
        yield f"    ended: {interaction.ended}"
    if interaction.encoding:
        yield f"    encoding: {format_scalar(interaction.encoding)}"


def _headers(headers: Headers) -> Iterator[str]:
    grouped: dict[str, list[str]] = {}
    for name, value in headers:
        grouped.setdefault(name, []).append(value)
    yield "    headers:" + ("" if grouped else " {}")
    for name, values in grouped.items():
        items = ", ".join(format_scalar(value) for value in values)
        yield f"{format_key(name, '      ')} [{items}]"


def _stored(body: bytes) -> bytes:
    """Return a body as the file stores it: gzipped again if the loader would inflate it."""
    return gzip.compress(body, mtime=0) if is_marked(body) else body


def _body(body: bytes, indent: int) -> str:
    try:
        return format_block(body.decode("utf-8"), indent)
    except UnicodeDecodeError:
        return "!!binary |\n" + "\n".join(_base64_lines(body, indent + 2))


def _base64_lines(body: bytes, margin: int) -> Iterator[str]:
    text = base64.b64encode(body).decode("ascii")
    for start in range(0, len(text), _BASE64_LINE):
        yield " " * margin + text[start : start + _BASE64_LINE]


def _reads(interaction: Interaction) -> str:
    if not interaction.reads_kept:
        return SYNTHETIC
    total = sum(read.size for read in interaction.reads)
    if total != len(interaction.body) or any(read.size < 1 for read in interaction.reads):
        raise ValueError(
            f"expected reads of at least one byte that add up to {len(interaction.body)}, "
            f"found {total}"
        )
    return f'"{format_reads(interaction.reads)}"'


def _phrase(status: int) -> str:
    try:
        return format_scalar(HTTPStatus(status).phrase)
    except ValueError:  # a code that no standard names
        return '""'


def _harness(cassette: Cassette) -> Iterator[str]:
    yield "harness:"
    yield "  origin:"
    yield from _fields(msgspec.structs.asdict(cassette.origin).items(), "    ")
    names = ("provider", "model", "prompt", "dialect", "due")
    yield from _fields(((name, getattr(cassette, name)) for name in names), "  ")
    yield from prompt_tools.format_prompt_tools(cassette.tools, "  ")
    yield "  body_sha256:" + ("" if cassette.interactions else " []")
    for interaction in cassette.interactions:
        yield f'  - "{digest(interaction.body)}"'
    if cassette.session is not None:
        yield f'  frames_sha256: "{frames_digest(cassette.session)}"'


def _fields(fields: Iterable[tuple[str, str]], margin: str) -> Iterator[str]:
    for name, value in fields:
        if value:
            yield f"{margin}{name}: {format_scalar(value)}"
