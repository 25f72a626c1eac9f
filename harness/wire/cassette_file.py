"""Load cassettes of vcrpy and of this harness, and save cassettes that vcrpy can replay.

The loader checks all values of a file. A missing label becomes "unknown", and missing reads become
one read for each event. It repairs nothing silently. A file is written completely or not at all.
"""

from pathlib import Path
from typing import Final, TypeVar, get_args

import msgspec

from harness.errors import UnreadableError
from harness.files import yaml_text
from harness.files.kept import kept_while_unchanged
from harness.files.load import read_file, refuse_bom
from harness.files.typed import (
    expect_list,
    expect_mapping,
    expect_text,
    refuse_type,
    refuse_unknown_keys,
)
from harness.files.write import write_file
from harness.providers import UNKNOWN, provider_of
from harness.wire import prompt_tools
from harness.wire import reads as reads_text
from harness.wire.cassette import Cassette, Origin, OriginKind
from harness.wire.cassette_text import cassette_lines, digest, frames_digest
from harness.wire.decompress import decode_body, decode_body_if_possible
from harness.wire.interaction import Due, Ended, Headers, Interaction, Read, Request
from harness.wire.session import Session
from harness.wire.session_file import read_session
from harness.wording import nearest_name

T = TypeVar("T")

_ORIGIN_KEYS: Final = Origin.__struct_fields__
_HARNESS_KEYS: Final = (
    *("origin", "provider", "model", "prompt", "dialect", "due", "tools", "body_sha256"),
    "frames_sha256",
)
_TOP_KEYS: Final = frozenset({"harness", "interactions", "session", "version"})
VCRPY: Final = "vcrpy"
_VCRPY_ORIGIN: Final = Origin("imported", by=VCRPY, kept="bodies and headers; no reads")
_RESTORE_HINT: Final = "Restore the file from version control, or record it again."
_EDITED_HINT: Final = (
    "Restore the file from version control. If you edited the body on purpose, run "
    "`harness cassettes --accept-edits FILE`."
)
_OTHER_TOOL_HINT: Final = "Convert a recording of another tool with `harness import FILE`."


def cassette_from_data(
    document: object, cassette_id: str, where: str, *, keep_encoded: bool = False
) -> Cassette:
    """Return the cassette that `document` contains.

    Args:
        document: plain data, as `load_yaml` returns it.
        cassette_id: the id of the new cassette.
        where: the file's name, for messages.
        keep_encoded: if the content encoding of a body cannot be removed, keep the body and its
            headers unchanged, instead of refusing the cassette.

    Raises:
        UnreadableError: `document` is not a vcrpy cassette, or one of its values is wrong.
    """
    if not isinstance(document, dict) or "interactions" not in document:
        refuse_type(
            "a vcrpy cassette with the key 'interactions'", document, where, _OTHER_TOOL_HINT
        )
    _check_top_keys(document, where)
    items = expect_list(document["interactions"], f"{where}: interactions")
    interactions = tuple(
        _interaction(item, f"{where}: interactions[{n}]", keep_encoded=keep_encoded)
        for n, item in enumerate(items)
    )
    if "harness" in document:
        session = _session(document, interactions, where)
        return _own(document["harness"], interactions, cassette_id, f"{where}: harness", session)
    providers = {provider_of(interaction.request.uri) for interaction in interactions}
    provider = providers.pop() if len(providers) == 1 else UNKNOWN
    return Cassette(cassette_id, interactions, _VCRPY_ORIGIN, provider=provider)


def _check_top_keys(document: dict[object, object], where: str) -> None:
    """Refuse a misspelled key `harness`; accept the keys that other tools add."""
    strange = [key for key in document if isinstance(key, str) and key not in _TOP_KEYS]
    if key := nearest_name("harness", strange, cutoff=0.8):
        raise UnreadableError(f"unknown key {key!r}", where=where, hint="Did you mean 'harness'?")


def _session(
    document: dict[object, object], interactions: tuple[Interaction, ...], where: str
) -> Session | None:
    """Return the session of a cassette, which then has no interaction besides it."""
    if "session" not in document:
        return None
    if interactions:
        raise UnreadableError(
            "expected interactions or a session, found both",
            where=where,
            hint="The responses of a session are found in its frames: empty `interactions`.",
        )
    return read_session(document["session"], f"{where}: session", headers_of)


def _own(
    value: object,
    interactions: tuple[Interaction, ...],
    cassette_id: str,
    where: str,
    session: Session | None = None,
) -> Cassette:
    fields = expect_mapping(value, where)
    refuse_unknown_keys(fields, _HARNESS_KEYS, where)
    if session is not None:
        interactions = session.interactions()
        stated = expect_text(fields.get("frames_sha256"), f"{where}.frames_sha256")
        _check_digest(stated, frames_digest(session), "frames", f"{where}.frames_sha256")
    _check_digests(fields.get("body_sha256"), interactions, f"{where}.body_sha256")
    named = {
        key: expect_text(fields.get(key), f"{where}.{key}") or UNKNOWN
        for key in ("provider", "model", "prompt")
    }
    origin = _origin(fields.get("origin"), f"{where}.origin")
    dialect = expect_text(fields.get("dialect"), f"{where}.dialect") or UNKNOWN
    tools = prompt_tools.read_prompt_tools(fields.get("tools"), f"{where}.tools")
    found = Cassette(cassette_id, interactions, origin, **named, session=session)
    due = _one_of(get_args(Due), fields.get("due"), f"{where}.due")
    return found.with_each(dialect=dialect, tools=tools, due=due)


def _origin(value: object, where: str) -> Origin:
    fields = expect_mapping(value, where)
    refuse_unknown_keys(fields, _ORIGIN_KEYS, where)
    stated = {key: expect_text(item, f"{where}.{key}") for key, item in fields.items()}
    _one_of(get_args(OriginKind), fields.get("kind"), f"{where}.kind")
    return msgspec.convert(stated, Origin)


def _check_digests(value: object, interactions: tuple[Interaction, ...], where: str) -> None:
    digests = expect_list([] if value is None else value, where)
    if len(digests) != len(interactions):
        raise UnreadableError(
            f"expected {len(interactions)} digests, one for each interaction, found {len(digests)}",
            where=where,
            hint=_EDITED_HINT,
        )
    for n, (stated, interaction) in enumerate(zip(digests, interactions, strict=True)):
        _check_digest(stated, digest(interaction.body), "a body", f"{where}[{n}]")


def _check_digest(stated: object, found: str, what: str, where: str) -> None:
    if stated != found:
        raise UnreadableError(
            f"expected {what} with SHA-256 {stated}, found {found}: an editor or a git filter "
            f"changed {'the body' if what == 'a body' else 'them'}",
            where=where,
            hint=_EDITED_HINT,
        )


def _interaction(value: object, where: str, *, keep_encoded: bool) -> Interaction:
    fields = expect_mapping(value, where)
    response = expect_mapping(fields.get("response"), f"{where}.response")
    if not response:
        refuse_type("a response", fields.get("response"), f"{where}.response")
    headers = headers_of(response.get("headers"), f"{where}.response.headers")
    place = f"{where}.response.body"
    stored = _response_body(response, place)
    body, headers = (
        decode_body_if_possible(stored, headers)
        if keep_encoded
        else decode_body(stored, headers, place)
    )
    kept, reads = _reads(response, body, f"{where}.response.reads")
    return Interaction(
        request=_request(fields.get("request"), f"{where}.request"),
        status=_status(response, f"{where}.response.status"),
        headers=headers,
        body=body,
        reads=reads,
        reads_kept=kept,
        dialect=UNKNOWN,
        ended=_one_of(
            get_args(Ended), response.get("ended"), f"{where}.response.ended", "complete"
        ),
        encoding=expect_text(response.get("encoding"), f"{where}.response.encoding"),
    )


def _one_of(choices: tuple[T, ...], value: object, where: str, default: str = "") -> T:
    """Return the member of `choices` that equals `value`, or the default if `value` is missing."""
    stated = expect_text(value, where) or default
    found = next((choice for choice in choices if choice == stated), None)
    if found is None:
        refuse_type(f"one of {', '.join(filter(None, map(str, choices)))}", value, where)
    return found


def _request(value: object, where: str) -> Request:
    fields = expect_mapping(value, where)
    body = fields.get("body")
    if body is None and "parsed_body" in fields:
        body = msgspec.json.encode(fields["parsed_body"])
    return Request(
        method=expect_text(fields.get("method"), f"{where}.method") or "POST",
        uri=expect_text(fields.get("uri"), f"{where}.uri"),
        headers=headers_of(fields.get("headers"), f"{where}.headers"),
        body=_bytes(body, f"{where}.body"),
    )


def _response_body(response: dict[str, object], where: str) -> bytes:
    """Return the body of a response, whether this vcrpy, an older one or another tool stored it."""
    body = response.get("body", response.get("content"))
    if isinstance(body, dict):
        body = body.get("string", body.get("base64_string"))
    if body is None and "parsed_body" in response:
        body = msgspec.json.encode(response["parsed_body"])
    return _bytes(body, where)


def _bytes(value: object, where: str) -> bytes:
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode("utf-8")
    if not isinstance(value, bytes):
        refuse_type("text or bytes", value, where, "Store the body as one string or as !!binary.")
    return value


def _status(response: dict[str, object], where: str) -> int:
    status = response.get("status", response.get("status_code"))
    code = status.get("code") if isinstance(status, dict) else status
    if not isinstance(code, int) or isinstance(code, bool) or not 0 <= code <= 999:  # noqa: PLR2004 - HTTP has three digits
        refuse_type("a status code", status, where, _OTHER_TOOL_HINT)
    return code


def headers_of(value: object, where: str) -> Headers:
    """Return the headers in a mapping from a name to one value or to a list of values.

    Raises:
        UnreadableError: `value` is not such a mapping.
    """
    return tuple(
        (name, item if isinstance(item, str) else header_text(item, f"{where}.{name}"))
        for name, items in expect_mapping(value, where).items()
        for item in (items if isinstance(items, list) else [items])
    )


def header_text(value: object, where: str) -> str:
    """Return the value of one header as text; recorders also store numbers or bytes."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict | list):
        refuse_type("text", value, where)
    return "" if value is None else str(value)


def _reads(response: dict[str, object], body: bytes, where: str) -> tuple[bool, tuple[Read, ...]]:
    stated = response.get("reads", reads_text.SYNTHETIC)
    if stated == reads_text.SYNTHETIC:
        return False, reads_text.synthetic_reads(body)
    reads = reads_text.parse_reads(stated) if isinstance(stated, str) else None
    if reads is None:
        refuse_type(
            "reads such as \"0:412 31:598\" (milliseconds:bytes), or 'synthetic'", stated, where
        )
    total = sum(read.size for read in reads)
    if total != len(body):
        raise UnreadableError(
            f"expected reads that add up to the body's {len(body)} bytes, found {total}",
            where=where,
            hint=_EDITED_HINT,
        )
    return True, reads


# Tags that older vcrpy wrote for plain text, and tags before the class of a kind of text, such as
# the header names of aiohttp. No class is loaded: the text under the tag counts.
_VCRPY_TAGS = {
    f"tag:yaml.org,2002:python/{name}": str
    for name in ("str", "unicode", "object/apply:", "object/new:")
}


def load_cassette(path: Path, root: Path | None = None) -> Cassette:
    """Return the cassette in the file `path`. A file that did not change is read only once.

    Args:
        path: a YAML file.
        root: the folder to which the cassette's id is relative. Without it, the id is the file
            name without suffix.

    Raises:
        UnreadableError: the file cannot be read, is damaged or hostile YAML, is not a cassette, or
            has a body that does not match its digest or its reads.
    """
    return msgspec.structs.replace(_read_cassette(path), id=_id(path, root))


@kept_while_unchanged
def _read_cassette(path: Path) -> Cassette:
    data = read_file(
        path,
        problem="expected a file that can be read",
        hint="Check the path and its permissions.",
        too_large_hint="Split the cassette.",
    )
    refuse_bom(data, str(path))
    return parse_cassette(data, path.stem, where=str(path))


def parse_cassette(
    data: bytes, cassette_id: str, *, where: str, keep_encoded: bool = False
) -> Cassette:
    """Return the cassette in `data`, the bytes of a cassette file, as `load_cassette` does.

    With `keep_encoded`, a body whose content encoding cannot be removed stays unchanged.
    """
    return cassette_from_data(
        load_vcrpy(data, where), cassette_id, where, keep_encoded=keep_encoded
    )


def load_vcrpy(data: bytes, where: str) -> object:
    """Return the document in YAML of vcrpy as plain data; tags of texts are left out."""
    return yaml_text.load_yaml(data, where, tags=_VCRPY_TAGS)


def save_cassette(cassette: Cassette, path: Path) -> None:
    """Write `cassette` to `path`, and create missing folders; replace an old file at once."""
    write_file(path, (line.encode() for line in cassette_lines(cassette)))


def _id(path: Path, root: Path | None) -> str:
    if root is not None and path.is_relative_to(root):
        return path.relative_to(root).with_suffix("").as_posix()
    return path.stem
