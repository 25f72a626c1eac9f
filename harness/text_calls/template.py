"""Load a response template: a parser of replies that a model declares in its tokenizer config.

A template lists fields. Each is a region of the reply between delimiters, which are literal texts
or patterns, and has a kind of content. The region without an opening delimiter is all other text.
The owner of a model writes its template. So all of it is checked, and its patterns get a
limited time for each response. Source: the page on response parsing of the documentation of
transformers, which defines the keys, and its module `chat_parsing`, which reads them.
"""

import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

import msgspec

from harness.errors import UnreadableError, UsageError

# What the members of a message are called, in the order in which templates prefer them.
CONTENT: Final = "content"
REASONING: Final = ("thinking", "reasoning_content", "reasoning")
CALLS: Final = "tool_calls"
Content: TypeAlias = Literal[
    "text", "int", "float", "bool", "json", "xml-inline", "kv-lines", "python-call-list"
]
# With less time, `regex` would search without a limit.
_LEAST_SECONDS: Final = 1e-6
_MOST_FIELDS: Final = 64
_LONGEST_PATTERN: Final = 4_000
_DEEPEST: Final = 32


class ValueParser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Says how a value inside a region is read: the kind of content, and its arguments."""

    name: Content = "text"
    args: dict[str, Any] = {}


class _FieldFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    open: str | list[str] | None = None
    open_pattern: str | None = None
    close: str | list[str] | None = None
    close_pattern: str | None = None
    content: Content = "text"
    content_args: dict[str, Any] = {}
    repeats: bool = False
    join: str | None = None
    optional: bool = True
    transform: Any = None
    transform_each: bool = False


class _TemplateFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fields: dict[str, _FieldFile]
    version: Literal[1] = 1
    defaults: dict[str, Any] = {}
    start_anchor: str | list[str] | None = None
    start_anchor_pattern: str | None = None


class Delimiter(msgspec.Struct, frozen=True):
    """Begins or ends a region.

    Fields:
        pattern: the compiled pattern.
        literal: it matches only literal texts.
        may_continue: a literal text begins another, so that a match may become longer.
    """

    pattern: Any
    literal: bool
    may_continue: bool


class TemplateField(msgspec.Struct, frozen=True):
    """One field of a template; see the page on response parsing for its keys."""

    name: str
    opens: Delimiter | None
    closes: Delimiter | None
    parser: ValueParser
    join: str
    transform: Any
    transform_each: bool


class ResponseTemplate(msgspec.Struct, frozen=True):
    """A parser of replies that a model declares.

    Fields:
        source: the file that contains it.
        fields: the fields that have delimiters, and the one that has none, if there is one.
        implicit: the field of all text outside of regions; None if such text is not shown.
        anchor: matches where the reply begins in a prompt.
        seconds: the time that all patterns may take for one response.
    """

    source: str
    fields: tuple[TemplateField, ...]
    implicit: TemplateField | None
    anchor: Delimiter
    seconds: float = 2.0

    def reply_start(self, prompt: str, budget: "PatternBudget") -> str:
        """Return what the prompt contains of the reply: the text after the last anchor."""
        end = 0
        for match in budget.finditer(self.anchor.pattern, prompt):
            end = match.end()
        return prompt[end:]


class PatternBudget:
    """Limits the time that the patterns of a template take for one response.

    Args:
        source: the file that contains the template.
        seconds: the time for all of them.
    """

    def __init__(self, source: str, seconds: float) -> None:
        self._source = source
        self._left = seconds

    def search(self, pattern: Any, text: str, at: int, *, partial: bool) -> Any:  # noqa: ANN401
        """Return the first match from `at` on; with `partial`, also one that may be completed.

        Raises:
            UnreadableError: the time is over.
        """
        return self._timed(lambda left: pattern.search(text, at, partial=partial, timeout=left))

    def match(self, pattern: Any, text: str, at: int) -> Any:  # noqa: ANN401
        """Return the match at `at`; None if there is none. For errors, see `search`."""
        return self._timed(lambda left: pattern.match(text, at, timeout=left))

    def finditer(self, pattern: Any, text: str) -> Iterator[Any]:  # noqa: ANN401
        """Yield all matches. For errors, see `search`."""
        found = self._timed(lambda left: list(pattern.finditer(text, timeout=left)))
        yield from found

    def _timed(self, find: Any) -> Any:  # noqa: ANN401
        start = time.perf_counter()
        try:
            return find(max(self._left, _LEAST_SECONDS))
        except TimeoutError:
            raise UnreadableError(
                "the patterns of the response template take too long for this response",
                where=self._source,
                hint="Do not use the template: a pattern of it needs time without a limit.",
            ) from None
        finally:
            self._left -= time.perf_counter() - start


def load_response_template(data: bytes, where: str) -> ResponseTemplate:
    """Return the response template in a tokenizer config, or in a file that contains only it.

    Args:
        data: the content of the file.
        where: its name, for messages.

    Raises:
        UnreadableError: the file has no template, or one that is not valid.
        UsageError: the module `regex` is not installed.
    """
    try:
        config = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableError(f"not JSON: {error}", where=where) from None
    if isinstance(config, Mapping) and "fields" not in config:
        if "response_template" not in config:
            older = "response_schema" in config
            hint = "Its `response_schema` is an older form, which transformers ignores." * older
            raise UnreadableError("there is no `response_template`", where=where, hint=hint)
        config = config["response_template"]
    if _depth(config) > _DEEPEST:
        raise UnreadableError("the response template is nested too deep", where=where)
    try:
        return _template(msgspec.convert(config, _TemplateFile), where)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"the response template is not valid: {error}", where=where) from None


def _template(file: _TemplateFile, where: str) -> ResponseTemplate:
    if not file.fields or len(file.fields) > _MOST_FIELDS:
        raise UnreadableError(f"expected 1 to {_MOST_FIELDS} fields", where=where)
    anchor = _delimiter(file.start_anchor, file.start_anchor_pattern, f"{where}: start_anchor")
    if anchor is None:
        raise UnreadableError("`start_anchor` or `start_anchor_pattern` is missing", where=where)
    fields = tuple(_field(name, each, where) for name, each in file.fields.items())
    implicit = [each for each in fields if each.opens is None]
    if len(implicit) > 1:
        names = ", ".join(each.name for each in implicit)
        raise UnreadableError(f"several fields have no opening delimiter: {names}", where=where)
    return ResponseTemplate(where, fields, implicit[0] if implicit else None, anchor)


def _field(name: str, file: _FieldFile, where: str) -> TemplateField:
    place = f"{where}: fields.{name}"
    if file.transform_each and file.transform is None:
        raise UnreadableError("`transform_each` without `transform`", where=place)
    if file.join is not None and not file.repeats:
        raise UnreadableError("`join` without `repeats`", where=place)
    parser = _checked(ValueParser(file.content, file.content_args), place)
    return TemplateField(
        name,
        _delimiter(file.open, file.open_pattern, f"{place}.open"),
        _delimiter(file.close, file.close_pattern, f"{place}.close"),
        parser,
        file.join or "",
        file.transform,
        file.transform_each,
    )


# The arguments of each kind of content, with their types.
_ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "text": {"strip": bool},
    "json": {
        "unquoted_keys": bool,
        "string_delims": list[tuple[str, str]],
        "allow_non_json": bool,
    },
    "xml-inline": {"tag_pattern": str, "value_parser": ValueParser, "merge_duplicates": bool},
    "kv-lines": {"line_sep": str, "kv_sep": str, "strip": bool, "value_parser": ValueParser},
}


def _checked(parser: ValueParser, where: str) -> ValueParser:
    """Return the parser with its arguments in their types, and patterns compiled.

    Raises:
        UnreadableError: an argument is unknown, or has another type.
    """
    known = _ARGUMENTS.get(parser.name, {})
    args: dict[str, Any] = {}
    for key, value in parser.args.items():
        if key not in known:
            raise UnreadableError(f"{parser.name!r} has no argument {key!r}", where=where)
        try:
            args[key] = msgspec.convert(value, known[key])
        except msgspec.ValidationError as error:
            raise UnreadableError(f"{key}: {error}", where=where) from None
    if "value_parser" in args:
        args["value_parser"] = _checked(args["value_parser"], where)
    if parser.name == "xml-inline":
        tag = _delimiter(None, args.get("tag_pattern"), f"{where}.tag_pattern")
        if tag is None or "key" not in tag.pattern.groupindex:
            raise UnreadableError("`tag_pattern` needs a group `key`", where=where)
        args["tag_pattern"] = tag.pattern
    if "" in (args.get("line_sep"), args.get("kv_sep")):
        raise UnreadableError("a separator is empty", where=where)
    return ValueParser(parser.name, args)


def _delimiter(text: str | list[str] | None, pattern: str | None, where: str) -> Delimiter | None:
    regex = _regex()
    if text is not None and pattern is not None:
        raise UnreadableError("a literal text and a pattern are given", where=where)
    if text is not None:
        texts = [text] if isinstance(text, str) else text
        if not texts or "" in texts:
            raise UnreadableError("expected texts that are not empty", where=where)
        alternatives = "|".join(map(regex.escape, sorted(texts, key=len, reverse=True)))
        grows = any(one != each and each.startswith(one) for one in texts for each in texts)
        return Delimiter(
            regex.compile(alternatives, regex.DOTALL), literal=True, may_continue=grows
        )
    if pattern is None:
        return None
    if len(pattern) > _LONGEST_PATTERN:
        raise UnreadableError(f"more than {_LONGEST_PATTERN} characters", where=where)
    try:
        return Delimiter(regex.compile(pattern, regex.DOTALL), literal=False, may_continue=True)
    except regex.error as error:
        raise UnreadableError(f"not a pattern: {error}", where=where) from None


def _regex() -> ModuleType:
    try:
        return import_module("regex")  # only templates need it
    except ImportError:
        raise UsageError(
            "a response template needs the module `regex`",
            hint="Install the extra: pip install 'harness[templates]'",
        ) from None


def _depth(value: object) -> int:
    """Return how deeply lists and objects are nested, up to one more than is allowed."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        level = [
            child
            for each in level
            if isinstance(each, Mapping | list)
            for child in (each.values() if isinstance(each, Mapping) else each)
        ]
        depth += 1
    return depth
