"""Load YAML text as plain data, within limits and without implicit types; write YAML scalars."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import msgspec
import yaml
from yaml import CSafeLoader

from harness.errors import UnreadableError
from harness.files.yaml_scalars import MERGE, TagReader, resolved

MAX_BYTES: Final = 256 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_VALUES: Final = 2_000_000

_CORE = "tag:yaml.org,2002:"

_BINARY: Final = _CORE + "binary"
_COLLECTIONS: Final = {_CORE + "map": "a mapping", _CORE + "seq": "a sequence"}


def load_yaml(
    text: bytes | str, where: str, *, tags: Mapping[str, TagReader] | None = None
) -> object:
    """Return the one document in `text`; None if it is empty.

    Args:
        text: YAML, as UTF-8 bytes or text.
        where: the file's name, for messages.
        tags: local tags that are allowed on scalars, such as `!binary`, each with the
            function that turns the scalar's text into a value. A tag that ends in a colon is
            the start of the tags of objects: their sequence of one text is that text.

    Raises:
        UnreadableError: damaged, too large or hostile YAML, or several documents.
    """
    documents = load_yaml_documents(text, where, tags=tags, most=1)
    return documents[0] if documents else None


def load_yaml_documents(
    text: bytes | str,
    where: str,
    *,
    tags: Mapping[str, TagReader] | None = None,
    most: int = MAX_VALUES,
) -> tuple[object, ...]:
    """Return all documents in `text`, at most `most`, each loaded as by `load_yaml`."""
    if len(text) > MAX_BYTES:
        raise UnreadableError(
            f"expected at most {MAX_BYTES} bytes of YAML, found {len(text)}",
            where=where,
            hint="Split the file.",
        )
    builder = _Builder(where, tags or {}, most)
    try:
        # `yaml.parse` would ask twice for each event.
        for event in iter(CSafeLoader(text).get_event, None):
            handle = _HANDLERS.get(type(event))
            if handle is not None:
                handle(builder, event)
    except yaml.YAMLError as error:
        raise _damaged(error, where) from None
    except (ValueError, OverflowError) as error:  # bad base64, lone surrogates
        raise UnreadableError(
            f"expected YAML text, found a value that cannot be read: {error}",
            where=where,
            hint=_FIX_HINT,
        ) from None
    return tuple(builder.documents)


_FIX_HINT: Final = "Fix the file, or restore it from where it came from."


class _Open(msgspec.Struct):
    """A collection that is being built, and the totals of values and characters before it began.

    `wraps` says that it has a tag of an object, and stands for the one text in it.
    """

    anchor: str | None
    before: tuple[int, int]
    built: dict[object, object] | list[object]
    at_key: bool
    key: object = None
    keys: set[str] = msgspec.field(default_factory=set)
    merged: list[dict[object, object]] = msgspec.field(default_factory=list)
    wraps: bool = False


class _Builder:
    """Builds the documents in one pass over the events, and refuses hostile ones.

    Totals count values and characters as if each alias were written out.
    """

    def __init__(self, where: str, tags: Mapping[str, TagReader], most_documents: int) -> None:
        self.documents: list[object] = []
        self._where = where
        self._readers: dict[str, TagReader] = {_CORE + "str": str, **tags}
        self._wrappers = tuple(tag for tag in tags if tag.endswith(":"))
        self._most_documents = most_documents
        self._stack: list[_Open] = []
        self._anchors: set[str] = set()
        self._anchored: dict[str, tuple[int, int, object]] = {}
        self._values = 0
        self._chars = 0

    def document(self, event: yaml.DocumentStartEvent) -> None:
        """Note the start of a document, because aliases are valid within one document only."""
        self._anchors.clear()
        self._anchored.clear()
        if len(self.documents) == self._most_documents:
            self._refuse(event, "expected one document, found another one after `---`")

    def opened(self, event: yaml.CollectionStartEvent) -> None:
        """Begin a mapping or sequence."""
        is_map = isinstance(event, yaml.MappingStartEvent)
        wraps = not is_map and bool(self._wrappers) and str(event.tag).startswith(self._wrappers)
        known = ("!", _CORE + ("map" if is_map else "seq"))
        if event.tag is not None and event.tag not in known and not wraps:
            self._refuse_tag(event, event.tag)
        if self._stack and self._stack[-1].at_key and not wraps:
            self._refuse(event, "expected a text key, found a collection as a key")
        if len(self._stack) == MAX_DEPTH:
            self._refuse(event, f"expected at most {MAX_DEPTH} levels, found deeper nesting")
        if event.anchor is not None:
            self._note_anchor(event, event.anchor)
        before = (self._values, self._chars)
        self._stack.append(_Open(event.anchor, before, {} if is_map else [], is_map, wraps=wraps))

    def closed(self, event: yaml.CollectionEndEvent) -> None:
        """End a mapping or sequence, and add it to the collection that contains it."""
        done = self._stack.pop()
        if done.wraps:
            self._unwrapped(event, done)
            return
        built = done.built
        if isinstance(built, dict) and done.merged:
            built = {key: item for each in (*done.merged, built) for key, item in each.items()}
        self._add(event, 1, 0, built)
        if done.anchor is not None:  # until here nothing may refer to it
            values, chars = done.before
            self._anchored[done.anchor] = (self._values - values, self._chars - chars, built)

    def _unwrapped(self, event: yaml.CollectionEndEvent, done: _Open) -> None:
        """Add the one text in a tagged sequence, which a serializer wrote for a kind of text."""
        text = done.built[0] if isinstance(done.built, list) and len(done.built) == 1 else None
        if not isinstance(text, str):
            self._refuse(event, "expected one text under the tag of an object")
        if self._stack and self._stack[-1].at_key:
            self._check_key(event, text)
        self._add(event, 1, 0, text)
        if done.anchor is not None:
            self._anchored[done.anchor] = (1, len(text), text)

    def scalar(self, event: yaml.ScalarEvent) -> None:
        """Add a scalar to the current collection, as a key or as a value."""
        text, tag = event.value, event.tag
        if tag is None or tag == "!":
            value = resolved(text) if event.implicit[0] else text
        else:
            value = self._tagged_value(event, tag)
        if self._stack and self._stack[-1].at_key:
            self._check_key(event, event.value)
        elif value is MERGE:
            self._refuse(event, "expected a value, found the merge key `<<`")
        self._add(event, 1, len(text), value)
        if event.anchor is not None:
            self._note_anchor(event, event.anchor)
            self._anchored[event.anchor] = (1, len(text), value)

    def alias(self, event: yaml.AliasEvent) -> None:
        """Add the value that an alias such as `*name` refers to."""
        name = str(event.anchor)
        size = self._anchored.get(name)
        if size is None:
            self._refuse(event, f"alias *{name[:80]} names no finished value before it")
        if self._stack and self._stack[-1].at_key:
            # The serializer of an object that occurs twice as a key writes an alias.
            if not self._wrappers or not isinstance(size[2], str):
                self._refuse(event, f"expected a text key, found the alias *{name[:80]}")
            self._check_key(event, size[2])
        self._add(event, *size)

    def _tagged_value(self, event: yaml.ScalarEvent, tag: str) -> object:
        text = event.value
        if tag == _BINARY:
            try:
                return base64.decodebytes(text.encode("ascii"))
            except ValueError as error:
                self._refuse(event, f"expected base64, found text that cannot be read: {error}")
        read = self._readers.get(tag)
        if read is None and self._wrappers and tag.startswith(self._wrappers):
            return text
        if read is None:
            self._refuse_tag(event, tag)
        return read(text)

    def _note_anchor(self, event: yaml.NodeEvent, anchor: str) -> None:
        if anchor in self._anchors:
            self._refuse(event, f"anchor &{anchor[:80]} occurs twice in one document")
        self._anchors.add(anchor)

    def _check_key(self, event: yaml.Event, key: str) -> None:
        keys = self._stack[-1].keys
        if key in keys:
            self._refuse(event, f"key {key[:80]!r} occurs twice in one mapping")
        keys.add(key)

    def _add(self, event: yaml.Event, values: int, chars: int, value: object) -> None:
        self._values += values
        self._chars += chars
        if self._values > MAX_VALUES or self._chars > MAX_BYTES:
            self._refuse(
                event,
                f"expected at most {MAX_VALUES} values and {MAX_BYTES} characters, with aliases "
                "written out, found more",
            )
        if not self._stack:
            self.documents.append(value)
            return
        around = self._stack[-1]
        built = around.built
        if around.at_key:
            around.key, around.at_key = value, False
        elif isinstance(built, list):
            built.append(value)
        else:
            if around.key is MERGE:
                around.merged = self._mappings_to_merge(event, value)
            else:
                built[around.key] = value
            around.at_key = True

    def _mappings_to_merge(self, event: yaml.Event, value: object) -> list[dict[object, object]]:
        """Return the mappings under the key `<<`. If two have one key, the first one counts."""
        listed = value if isinstance(value, list) else [value]
        mappings = [each for each in reversed(listed) if isinstance(each, dict)]
        if len(mappings) < len(listed):
            self._refuse(event, "expected a mapping or a list of mappings for merging")
        return mappings

    def _refuse_tag(self, event: yaml.Event, tag: str) -> NoReturn:
        if tag == _BINARY or tag in self._readers or tag in _COLLECTIONS:
            wanted = _COLLECTIONS.get(tag, "a scalar")
            self._refuse(event, f"expected {wanted} under {tag}")
        self._refuse(event, f"expected plain data, found the tag {tag[:80]!r}")

    def _refuse(self, event: yaml.Event, what: str) -> NoReturn:
        mark = event.start_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        raise UnreadableError(what, where=self._where + line, hint=_FIX_HINT)


_HANDLERS: Final[dict[type[yaml.Event], Callable[[_Builder, Any], None]]] = {
    yaml.DocumentStartEvent: _Builder.document,
    yaml.MappingStartEvent: _Builder.opened,
    yaml.SequenceStartEvent: _Builder.opened,
    yaml.MappingEndEvent: _Builder.closed,
    yaml.SequenceEndEvent: _Builder.closed,
    yaml.ScalarEvent: _Builder.scalar,
    yaml.AliasEvent: _Builder.alias,
}


def _damaged(error: yaml.YAMLError, where: str) -> UnreadableError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    facts = [getattr(error, "context", None), getattr(error, "problem", None)]
    found = ", ".join(fact for fact in facts if fact) or str(error)
    line = f":{mark.line + 1}" if mark is not None else ""
    if "nesting depth" in found:  # the limit of libyaml, which looks ahead
        found = f"expected at most {MAX_DEPTH} levels, found deeper nesting"
        return UnreadableError(found, where=where + line)
    return UnreadableError(f"YAML syntax error: {found[:300]}", where=where + line, hint=_FIX_HINT)


_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./+-]*")
# Words that YAML 1.1 reads as booleans or null, which some reader of our files still does.
_RESERVED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

# No CR, NEL, LINE or PARAGRAPH SEPARATOR (readers make newlines of them), no byte order
# mark, no control or unassigned character (libyaml refuses them unescaped).
_LITERAL = re.compile(
    "[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
)
_TO_ESCAPE = re.compile(
    '["\\\\]|[^\x20-\x7e\xa1-\u1fff\u2010-\u2027\u2030-\ud7ff\ue000-\ufefe\uff00-\ufffd'
    "\U00010000-\U0010ffff]"
)
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_STEP = 2
# Parsers recognize a longer key only behind a question mark.
_LONGEST_KEY: Final = 1_000


def format_scalar(text: str) -> str:
    """Return `text` as a YAML scalar on one line, quoted unless all YAML readers read it as text.

    Lone surrogates, as in file names that are not UTF-8, become their escapes as text.
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return f'"{_escaped(text)}"'


def format_key(text: str, margin: str = "") -> str:
    """Return `text` as a YAML key with its colon: in flow style, or in block style with margin."""
    key = format_scalar(text)
    if len(key) <= _LONGEST_KEY:
        return f"{margin}{key}:"
    return f"{margin}? {key}\n{margin}:" if margin else f"? {key} :"


def format_flow(value: object) -> str:
    """Return any JSON value on one line, in brackets as in JSON, with texts as in `format_scalar`.

    Raises:
        ValueError: the value has a number that JSON does not have.
    """
    if isinstance(value, str):
        return format_scalar(value)
    if isinstance(value, dict):
        members = (f"{format_key(key)} {format_flow(item)}" for key, item in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(format_flow, value)) + "]"
    number = json.dumps(value, allow_nan=False)
    # An exponent without a point before it makes a text of the number in YAML 1.1.
    whole = isinstance(value, float) and "." not in number
    return number.replace("e", ".0e") if whole else number


def format_block(text: str, indent: int) -> str:
    """Return `text` as the value of a key that is at column `indent`.

    It has no newline at its end; the caller adds one.
    """
    if text.strip("\n") and _LITERAL.fullmatch(text):
        return _literal(text, indent)
    return _quoted(text, indent)


def _literal(text: str, indent: int) -> str:
    """Write a literal block (`|`). White space at its start needs an indentation indicator."""
    explicit = str(_STEP) if text[0] in " \t\n" else ""
    chomp = "-" if not text.endswith("\n") else "+" if text.endswith("\n\n") else ""
    margin = " " * (indent + _STEP)
    lines = text.removesuffix("\n").split("\n")
    return f"|{explicit}{chomp}\n" + "\n".join(margin + line if line else "" for line in lines)


def _quoted(text: str, indent: int) -> str:
    """Write a double-quoted scalar, with an escaped line break after each newline."""
    margin = " " * (indent + _STEP)
    pieces = [_escaped(line) for line in re.findall(r"[^\n]*\n|[^\n]+", text)]
    # White space at the start of a continued line would be dropped.
    safe = [pieces[0], *("\\" + p if p[0] == " " else p for p in pieces[1:])] if pieces else []
    return '"' + f"\\\n{margin}".join(safe) + '"'


def _escaped(text: str) -> str:
    return _TO_ESCAPE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    return _SHORT_ESCAPES.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")  # noqa: PLR2004 - the last Latin-1 character
