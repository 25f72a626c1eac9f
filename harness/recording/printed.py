"""Read the values that a program printed in a text: JSON, Python literals, `repr()` of objects.

A value may span lines. Nothing is evaluated: the `repr()` of an object becomes a mapping of its
keyword arguments, and one with other arguments becomes None. Time and depth are bounded.
"""

import ast
import base64
import json
import re
import warnings
from contextlib import suppress
from typing import Any, Final

import msgspec

_MOST_DEPTH: Final = 64
_LONGEST_STRING: Final = 16_000_000
# All attempts that fail may read so many times the length of the text.
_MOST_TIMES: Final = 8
_LEAST_BUDGET: Final = 100_000
_MOST_BUDGET: Final = 20_000_000
_COST_OF_ATTEMPT: Final = 100
_COST_OF_DEPTH: Final = 20_000
_LONGEST_QUICK: Final = 1 << 16
_QUOTED: Final = (
    r"'''(?:[^\\]|\\.){0,100000}?'''"
    r'|"""(?:[^\\]|\\.){0,100000}?"""'
    r"|'(?:[^'\\\n]|\\.)*'"
    r'|"(?:[^"\\\n]|\\.)*"'
)
_TOKEN: Final = re.compile(
    rf"""\s*(?:
        (?P<text>[bBuU]?(?:{_QUOTED}))
      | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.]))
      | <[\w.]+:\ (?P<member>{_QUOTED}|-?[0-9]+)>
      | (?P<opaque><[^<>\n]{{0,300}}>|\.\.\.)
      | (?P<object>[A-Za-z_][\w.]*\()
      | (?P<key>[A-Za-z_]\w*)=
      | (?P<name>[A-Za-z_][\w.]*)
      | (?P<mark>[\[\](){{}},:])
    )""",
    re.VERBOSE | re.DOTALL,
)
_NAMES: Final = {"None": None, "null": None, "True": True, "true": True, "False": False}
_NAMES_OF_VALUES: Final = {**_NAMES, "false": False}
_ENDS: Final = {"{": "}", "[": "]", "(": ")"}
# Google's SDK names members in Python's way, and adds members that the API does not send.
_SNAKE_CASE_OBJECTS: Final = frozenset({"GenerateContentResponse"})
_SNAKE: Final = re.compile(r"_([a-z0-9])")
_OF_SDK: Final = frozenset({"sdk_http_response", "automatic_function_calling_history", "parsed"})
# The one member that servers send as null in each chunk.
_NULL_IS_SENT: Final = "finish_reason"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_JSON: Final = json.JSONDecoder(parse_constant=_refuse)


class PrintedValue(msgspec.Struct, frozen=True):
    """A value in a text.

    Fields:
        start, end: where it is in the text.
        data: the value as JSON, unchanged if the text has JSON.
        complete: False if the value does not close. Then `data` has the part that was read.
    """

    start: int
    end: int
    data: bytes
    complete: bool = True


class _TooDeep(Exception):  # noqa: N818 - a fact about the text, caught by `value_at`
    """Reports a value that is nested too deeply."""


class Printed:
    """Finds the printed values in one text, within a limit of its total work."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._budget = min(_MOST_TIMES * len(text) + _LEAST_BUDGET, _MOST_BUDGET)
        self._keywords_end = 0

    def value_at(self, start: int) -> PrintedValue | None:
        """Return the mapping or list that begins at `start`; None if there is none."""
        if self._budget < 0:
            return None
        # The decoder of JSON is quick, but its errors cost time by the length of the text.
        line = self.text[start : min(self._end_of_line(start), start + _LONGEST_QUICK)]
        with suppress(ValueError, RecursionError):
            _, size = _JSON.raw_decode(line)
            return PrintedValue(start, start + size, encoded(line[:size]))
        reader = _ValueReader(self.text, start)
        try:
            complete = reader.read()
        except _TooDeep:
            self._budget -= _COST_OF_DEPTH
            return PrintedValue(start, self._end_of_line(start), b"", complete=False)
        if not complete:
            self._budget -= max(self._end_of_line(reader.end) - start, _COST_OF_ATTEMPT)
            return PrintedValue(start, reader.end, _as_json(reader.value()), complete=False)
        written = self.text[start : reader.end]
        with suppress(ValueError, RecursionError):
            json.loads(written, parse_constant=_refuse)
            return PrintedValue(start, reader.end, encoded(written))
        return PrintedValue(start, reader.end, _as_json(reader.value()))

    def keywords_at(self, start: int) -> PrintedValue | None:
        """Return the object that begins at `start`, printed as `name=value name=value`.

        None if there is none, or if `start` is inside an object that was returned.
        """
        if self._budget < 0 or start < self._keywords_end:
            return None
        end, found = start, {}
        while (match := _TOKEN.match(self.text, end)) and match["key"]:
            if "\n" in self.text[end : match.end()]:
                break
            reader = _ValueReader(self.text, match.end())
            with suppress(_TooDeep):
                if not reader.read():
                    break
            found[match["key"]] = reader.value()
            end = reader.end
        self._budget -= end - start
        self._keywords_end = end
        return PrintedValue(start, end, _as_json(_without_none(found))) if found else None

    def _end_of_line(self, start: int) -> int:
        end = self.text.find("\n", start)
        return len(self.text) if end < 0 else end


class _Open(msgspec.Struct):
    """A collection that is being read.

    Fields:
        mark: `{`, `[`, `(`, or the name of an object's class with `(`.
        key: the key that the next value belongs to; None if a key is expected.
        has_arguments: whether an object has arguments without a name.
    """

    mark: str
    items: list[Any] = msgspec.field(default_factory=list)
    members: dict[str, Any] = msgspec.field(default_factory=dict)
    key: str | None = None
    after_value: bool = False
    has_arguments: bool = False
    has_comma: bool = False

    @property
    def closes_with(self) -> str:
        return _ENDS[self.mark[-1]]

    @property
    def is_object(self) -> bool:
        return len(self.mark) > 1


class _ValueReader:
    """Reads one value, token by token, without recursion."""

    def __init__(self, text: str, start: int) -> None:
        self.end = start
        self._text = text
        self._stack: list[_Open] = []
        self._done: list[Any] = []

    def read(self) -> bool:
        """Read the value; return whether it is complete."""
        while not self._done:
            match = _TOKEN.match(self._text, self.end)
            if match is None or not self._take(match):
                return False
            self.end = match.end()
        return True

    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the value, or the part of it that was read."""
        while self._stack:
            self._close()
        return self._done[0] if self._done else None

    def _take(self, match: re.Match[str]) -> bool:
        """Add a token; return False if it cannot follow the tokens before it."""
        kind, top = match.lastgroup, self._stack[-1] if self._stack else None
        token = match[kind] if kind else ""
        match kind:
            case "object":
                return self._open(token)
            case "mark" if token in _ENDS:
                return self._open(token)
            case "mark":
                return top is not None and self._punctuation(top, token)
            case "key":
                return top is not None and top.is_object and self._key(top, token)
            case "name" if token not in _NAMES_OF_VALUES and not (top and top.is_object):
                return False
            case _:
                return self._add(_scalar(kind or "", token))

    def _open(self, mark: str) -> bool:
        top = self._stack[-1] if self._stack else None
        if top is not None and (top.after_value or (top.mark == "{" and top.key is None)):
            return False
        if len(self._stack) == _MOST_DEPTH:
            raise _TooDeep
        self._stack.append(_Open(mark))
        return True

    def _key(self, top: _Open, key: str) -> bool:
        if top.after_value or top.key is not None:
            return False
        top.key = key
        return True

    def _punctuation(self, top: _Open, mark: str) -> bool:
        if mark == top.closes_with and (top.after_value or top.key is None):
            self._close()
            return True
        if mark == ":" and top.mark == "{" and top.after_value and top.key is None:
            top.key, top.after_value = str(top.items.pop()), False
            return True
        is_item = top.mark != "{" or top.key is not None
        if mark != "," or not top.after_value or not is_item:
            return False
        top.key, top.after_value, top.has_comma = None, False, True
        return True

    def _add(self, value: Any) -> bool:  # noqa: ANN401 - any JSON
        if not self._stack:
            self._done.append(value)
            return True
        top = self._stack[-1]
        if top.after_value:  # literals next to each other are one text, as pprint prints long ones
            return isinstance(value, str) and _extend(top, value)
        top.after_value = True
        if top.key is not None:
            top.members[top.key] = value
        else:
            top.items.append(value)
            top.has_arguments = top.is_object
        return True

    def _close(self) -> None:
        top = self._stack.pop()
        value: Any = top.items
        if top.is_object:
            value = None if top.has_arguments else _members_of(top)
        elif top.mark == "{":
            value = top.members
        elif top.mark == "(" and len(top.items) == 1 and not top.has_comma:
            value = top.items[0]
        self._add(value)


def _extend(top: _Open, text: str) -> bool:
    if top.key is not None and isinstance(top.members.get(top.key), str):
        top.members[top.key] += text
        return True
    if top.key is None and top.items and isinstance(top.items[-1], str):
        top.items[-1] += text
        return True
    return False


def _members_of(top: _Open) -> dict[str, Any]:
    """Return the members of an object. None is left out, because most SDKs set it for absence."""
    members = _without_none(top.members)
    if top.mark[:-1].rpartition(".")[2] not in _SNAKE_CASE_OBJECTS:
        return members
    kept = {key: value for key, value in members.items() if key not in _OF_SDK}
    return {key: value for key, value in _in_camel_case(kept).items() if value is not None}


def _without_none(members: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in members.items() if value is not None or key == _NULL_IS_SENT
    }


def _in_camel_case(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return `value` with the names that the API has; arguments and results stay unchanged."""
    if isinstance(value, list):
        return [_in_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        _SNAKE.sub(lambda match: match[1].upper(), key): (
            item if key in ("args", "response") else _in_camel_case(item)
        )
        for key, item in value.items()
        if key != _NULL_IS_SENT or item is not None
    }


def _scalar(kind: str, token: str) -> Any:  # noqa: ANN401 - any JSON
    if kind == "text" or (kind == "member" and token[-1:] in "'\""):
        return literal_text(token)
    if kind in ("number", "member"):
        return float(token) if any(mark in token for mark in ".eE") else _integer(token)
    return _NAMES_OF_VALUES.get(token) if kind == "name" else None


def _integer(token: str) -> int | float:
    with suppress(ValueError):  # Python refuses more than 4,300 digits
        return int(token)
    return float(token)


def literal_value(token: str) -> str | bytes:
    """Return the content of a literal of Python or JSON; "" if it is invalid."""
    value: Any = None
    if len(token) > _LONGEST_STRING:
        return ""
    with suppress(ValueError):
        value = json.loads(token)
    with suppress(ValueError, SyntaxError), warnings.catch_warnings(action="ignore"):
        value = ast.literal_eval(token) if value is None else value
    return value if isinstance(value, str | bytes) else ""


def literal_text(token: str) -> str:
    """Return the text of a literal of Python or JSON; bytes that are not UTF-8 become base64."""
    value = literal_value(token)
    if isinstance(value, str):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def _as_json(value: object) -> bytes:
    with suppress(ValueError):
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    with suppress(ValueError):
        return json.dumps(value, allow_nan=False).encode()
    return b""


def encoded(text: str) -> bytes:
    """Return the bytes of a text that was decoded with `surrogateescape`.

    A literal in it may contain half a surrogate pair, which becomes `?`.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
