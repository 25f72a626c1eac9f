"""YAML text -> plain data, within limits and without surprises; and data -> YAML scalars."""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn

import msgspec
import yaml
from yaml import CSafeLoader

from harness.errors import UnreadableError

MAX_BYTES: Final = 256 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_VALUES: Final = 2_000_000

TagReader = Callable[[str], object]

_CORE = "tag:yaml.org,2002:"
_ALLOWED_TAGS = frozenset({"!", *(_CORE + name for name in ("str", "binary", "map", "seq"))})

# YAML 1.2 core schema. The bounded lengths keep a hostile number from costing quadratic time.
_RESOLVERS: Final = (
    ("null", r"^(?:~|null|Null|NULL|)$", ("~", "n", "N", "")),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", tuple("tTfF")),
    ("int", r"^[-+]?(?:0|[1-9][0-9]{0,300}|0x[0-9a-fA-F]{1,300})$", tuple("-+0123456789")),
    (
        "float",
        (
            r"^[-+]?(?:[0-9]{1,300}\.[0-9]{0,300}(?:[eE][-+]?[0-9]{1,4})?"
            r"|[0-9]{1,300}[eE][-+]?[0-9]{1,4}|\.[0-9]{1,300}(?:[eE][-+]?[0-9]{1,4})?"
            r"|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$"
        ),
        tuple("-+0123456789."),
    ),
    ("merge", r"^<<$", ("<",)),
)


def load_yaml(
    text: bytes | str, where: str, *, tags: Mapping[str, TagReader] | None = None
) -> object:
    """Return the one document that `text` holds; None if it is empty.

    Args:
        text: YAML, as UTF-8 bytes or text.
        where: the file's name, for messages.
        tags: local tags that are allowed on scalars, such as `!binary`, each with the
            function that turns the scalar's text into a value.

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
    """Return all documents that `text` holds, as `load` returns one; at most `most`."""
    if len(text) > MAX_BYTES:
        raise UnreadableError(
            f"expected at most {MAX_BYTES} bytes of YAML, found {len(text)}",
            where=where,
            hint="Split the file.",
        )
    extra = dict(tags or {})
    try:
        _walk(text, _Walk(where, _ALLOWED_TAGS | extra.keys(), most))
        return tuple(yaml.load_all(text, Loader=_loader(tuple(extra.items()))))
    except yaml.YAMLError as error:
        raise _damaged(error, where) from None
    except (ValueError, OverflowError) as error:  # bad base64, lone surrogates
        raise UnreadableError(
            f"expected YAML text, found a value that cannot be read: {error}",
            where=where,
            hint=_FIX_HINT,
        ) from None


_FIX_HINT: Final = "Fix the file, or restore it from where it came from."


class _PlainLoader(CSafeLoader):
    """libyaml's safe loader with the core schema of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own class attribute


for _name, _pattern, _first in _RESOLVERS:
    _PlainLoader.add_implicit_resolver(_CORE + _name, re.compile(_pattern), list(_first))


@lru_cache(maxsize=16)
def _loader(tags: tuple[tuple[str, TagReader], ...]) -> type[_PlainLoader]:
    class TaggedLoader(_PlainLoader):
        """A separate class, because PyYAML stores constructors on the class."""

    for tag, reader in tags:
        TaggedLoader.add_constructor(tag, _constructor(reader))
    return TaggedLoader


def _constructor(reader: TagReader) -> Callable[[_PlainLoader, yaml.Node], object]:
    def construct(loader: _PlainLoader, node: yaml.Node) -> object:
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(
                None, None, f"expected a scalar under {node.tag}", node.start_mark
            )
        return reader(str(loader.construct_scalar(node)))

    return construct


class _Open(msgspec.Struct):
    """A collection that is being read, and the totals from before it began."""

    anchor: str | None
    before: tuple[int, int]
    is_map: bool
    at_key: bool
    keys: set[str] = msgspec.field(default_factory=set)


class _Walk:
    """One pass over the events, which refuses what must not be built.

    Totals count values and characters as if each alias were written out.
    """

    def __init__(self, where: str, tags: frozenset[str], most_documents: int) -> None:
        self._where = where
        self._tags = tags
        self._documents_left = most_documents
        self._stack: list[_Open] = []
        self._anchored: dict[str, tuple[int, int]] = {}
        self._values = 0
        self._chars = 0

    def document(self, event: yaml.DocumentStartEvent) -> None:
        """Note the start of a document; aliases do not reach over it."""
        self._anchored.clear()
        if self._documents_left == 0:
            self._refuse(event, "expected one document, found another one after `---`")
        self._documents_left -= 1

    def opened(self, event: yaml.CollectionStartEvent) -> None:
        """Go into a mapping or sequence."""
        self._check_tag(event, event.tag)
        if self._stack and self._stack[-1].at_key:
            self._refuse(event, "expected a text key, found a collection as a key")
        if len(self._stack) == MAX_DEPTH:
            self._refuse(event, f"expected at most {MAX_DEPTH} levels, found deeper nesting")
        if event.anchor is not None:  # until it is finished nothing may refer to it
            self._anchored.pop(event.anchor, None)
        before = (self._values, self._chars)
        is_map = isinstance(event, yaml.MappingStartEvent)
        self._stack.append(_Open(event.anchor, before, is_map, is_map))

    def closed(self, event: yaml.CollectionEndEvent) -> None:
        """Come out of a mapping or sequence."""
        done = self._stack.pop()
        self._add(event, 1, 0)
        if done.anchor is not None:
            values, chars = done.before
            self._anchored[done.anchor] = (self._values - values, self._chars - chars)

    def scalar(self, event: yaml.ScalarEvent) -> None:
        """Count a scalar, as a key or as a value."""
        self._check_tag(event, event.tag)
        if self._stack and self._stack[-1].at_key:
            self._check_key(event)
        self._add(event, 1, len(event.value))
        if event.anchor is not None:
            self._anchored[event.anchor] = (1, len(event.value))

    def alias(self, event: yaml.AliasEvent) -> None:
        """Count what the alias represents again."""
        name = str(event.anchor)
        size = self._anchored.get(name)
        if size is None:
            self._refuse(event, f"alias *{name[:80]} names no finished value before it")
        if self._stack and self._stack[-1].at_key:
            self._refuse(event, f"expected a text key, found the alias *{name[:80]}")
        self._add(event, *size)

    def _check_key(self, event: yaml.ScalarEvent) -> None:
        keys = self._stack[-1].keys
        if event.value in keys:
            self._refuse(event, f"key {event.value[:80]!r} occurs twice in one mapping")
        keys.add(event.value)

    def _check_tag(self, event: yaml.Event, tag: str | None) -> None:
        if tag is not None and tag not in self._tags:
            self._refuse(event, f"expected plain data, found the tag {tag[:80]!r}")

    def _add(self, event: yaml.Event, values: int, chars: int) -> None:
        self._values += values
        self._chars += chars
        if self._stack:
            around = self._stack[-1]
            around.at_key = around.is_map and not around.at_key
        if self._values > MAX_VALUES or self._chars > MAX_BYTES:
            self._refuse(
                event,
                f"expected at most {MAX_VALUES} values and {MAX_BYTES} characters, with aliases "
                "written out, found more",
            )

    def _refuse(self, event: yaml.Event, what: str) -> NoReturn:
        mark = event.start_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        raise UnreadableError(what, where=self._where + line, hint=_FIX_HINT)


_HANDLERS: Final[dict[type[yaml.Event], Callable[[_Walk, Any], None]]] = {
    yaml.DocumentStartEvent: _Walk.document,
    yaml.MappingStartEvent: _Walk.opened,
    yaml.SequenceStartEvent: _Walk.opened,
    yaml.MappingEndEvent: _Walk.closed,
    yaml.SequenceEndEvent: _Walk.closed,
    yaml.ScalarEvent: _Walk.scalar,
    yaml.AliasEvent: _Walk.alias,
}


def _walk(text: bytes | str, walk: _Walk) -> None:
    for event in yaml.parse(text, Loader=CSafeLoader):
        handle = _HANDLERS.get(type(event))
        if handle is not None:
            handle(walk, event)


def _damaged(error: yaml.YAMLError, where: str) -> UnreadableError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    facts = [getattr(error, "context", None), getattr(error, "problem", None)]
    found = ", ".join(fact for fact in facts if fact) or str(error)
    line = f":{mark.line + 1}" if mark is not None else ""
    return UnreadableError(f"expected YAML, {found[:300]}", where=where + line, hint=_FIX_HINT)


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


def format_scalar(text: str) -> str:
    """Return `text` as a scalar on one line: unchanged if no reader mistakes it.

    Lone surrogates, as in file names that are not UTF-8, become their escapes as text.
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return f'"{_escaped(text)}"'


def format_flow(value: object) -> str:
    """Return any JSON value on one line, in brackets as in JSON, texts as `word` has them.

    Raises:
        ValueError: a number that JSON does not have.
    """
    if isinstance(value, str):
        return format_scalar(value)
    if isinstance(value, dict):
        members = (f"{format_scalar(key)}: {format_flow(item)}" for key, item in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(format_flow, value)) + "]"
    number = json.dumps(value, allow_nan=False)
    # An exponent without a point before it makes a text of the number in YAML 1.1.
    whole = isinstance(value, float) and "." not in number
    return number.replace("e", ".0e") if whole else number


def format_block(text: str, indent: int) -> str:
    """Return `text` as the value of a key that is at column `indent`.

    It holds no newline after its end; the caller adds one.
    """
    if text.strip("\n") and _LITERAL.fullmatch(text):
        return _literal(text, indent)
    return _quoted(text, indent)


def _literal(text: str, indent: int) -> str:
    """Write a literal block; readers would mistake white space at its start for indentation."""
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
