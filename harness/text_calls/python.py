r"""Read Python calls with literal arguments as calls with JSON arguments, without evaluating them.

`get_weather(city="Paris", days=2)` has keyword arguments only. Their values are strings, numbers,
`True`, `False`, `None` (or JSON's names for them), lists and dicts. Each token becomes the
JSON token with the same meaning and digits, and the result must be one JSON value. So an
expression, a tuple, a name or a positional argument is an error. Time is linear and nothing
recurses. Source: Python's lexical analysis; quirk TEXT-PYTHONIC.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import msgspec

from harness.text_calls.boundaries import BRACKETS, end_of
from harness.text_calls.dialect import WrittenCall
from harness.turns.exact_json import write_exactly
from harness.turns.json_prefix import PrefixState, scan

CALL: Final = re.compile(r"\s*+([^\W\d][\w.\-]*+)[ \t]*+\(")

STRING: Final = (
    r"(?P<prefix>[a-zA-Z]{0,2})(?P<string>"
    r"'''(?:[^'\\]++|\\.|'(?!''))*+'''|"
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"""|'
    r"'(?!'')(?:[^'\\\n]++|\\.)*+'|"
    r'"(?!"")(?:[^"\\\n]++|\\.)*+")'
)
_NUMBER = (
    r"(?P<number>[+-]?(?:[0-9](?:_?[0-9])*+(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)"
    r"(?![\w.])"
)
_TOKEN = re.compile(
    rf"\s*+(?:{STRING}|{_NUMBER}|(?P<word>[^\W\d]\w*+)|(?P<sign>\*\*|[\[\]{{}}(),:=]))", re.DOTALL
)
_KEYWORD = re.compile(r"\s*+(?:([^\W\d][\w.\-]*+)\s*+=(?!=)|(\*\*))")
# A string whose end is missing is looked at no further: all after it may belong to it.
_SKIM = re.compile(rf"{STRING}|(?P<cut>['\"])|[()\[\]{{}}]", re.DOTALL)
_SPACE = re.compile(r"\s*+")
_NAMES: Final = {"true": "True", "false": "False", "null": "None"}
# Of Python, and of JSON -> of JSON.
WORDS: Final = {word: name for name in _NAMES for word in (name, _NAMES[name])}
_ESCAPE = re.compile(
    r"\\(?:(?P<line>\r?\n)|(?P<plain>[\\'\"abfnrtv])|(?P<octal>[0-7]{1,3})|N\{(?P<name>[^{}]{1,99})\}"
    r"|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<other>.))",
    re.DOTALL,
)
_PLAIN: Final = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))
_SHOWN_CHARACTERS = 20


class PythonCalls(msgspec.Struct, frozen=True):
    """The calls that were found in a text, and where the search stopped.

    Fields:
        calls: the usable and the broken ones, in order.
        stop: offset of the first character, apart from white space, that belongs to no call.
    """

    calls: tuple[WrittenCall, ...]
    stop: int


class _WrongError(Exception):
    """The arguments are not literals. The text of the exception says why."""


def read_python_calls(text: str, at: int = 0, separators: tuple[str, ...] = (",",)) -> PythonCalls:
    """Return the calls from offset `at` on.

    White space and at most one of `separators` may be between two calls.
    """
    calls: list[WrittenCall] = []
    while match := CALL.match(text, at):
        call, at = _call(text, match)
        calls.append(call)
        at = end_of(_SPACE, text, at)
        if text.startswith(separators, at):
            at = end_of(_SPACE, text, at + 1)
    return PythonCalls(tuple(calls), at)


def read_python_literal(text: str) -> str | None:
    """Return one Python literal as JSON text; None if `text` is not exactly one literal."""
    try:
        value, end = _value(text, 0)
    except _WrongError:
        return None
    # A comma after it makes it a tuple.
    return value if end == len(text) and not text.endswith(",") else None


def _call(text: str, match: "re.Match[str]") -> tuple[WrittenCall, int]:
    """Return the call that begins at `match`, and the offset after it."""
    name, start = match[1], match.end()
    stop = _closing(text, start)
    if stop is None:
        return WrittenCall(name, error="the text ended inside the call"), len(text)
    try:
        return WrittenCall(name, _arguments(text[start : stop - 1])), stop
    except _WrongError as error:
        return WrittenCall(name, error=str(error)), stop


def _closing(text: str, at: int) -> int | None:
    """Return the offset after the parenthesis that closes the call; None if it is missing."""
    depth = 1
    for match in _SKIM.finditer(text, at):
        if match["cut"]:
            return None
        if match["string"]:
            continue
        depth += BRACKETS[match[0]]
        if depth == 0:
            return match.end()
    return None


def _arguments(text: str) -> str:
    """Return the keyword arguments in `text` as a JSON object.

    Raises:
        _WrongError: an argument is not a keyword with a literal.
    """
    members: list[str] = []
    at = end_of(_SPACE, text, 0)
    while at < len(text):
        match = _KEYWORD.match(text, at)
        if match is None:
            raise _WrongError(f"{shown(text, at)} is not a keyword argument")
        value, at = _value(text, match.end())
        if match[2]:
            members += _unpacked(value)
        else:
            members.append(f"{write_exactly(match[1])}: {value}")
        at = end_of(_SPACE, text, at)
    return "{" + ", ".join(members) + "}"


def _unpacked(value: str) -> list[str]:
    """Return the JSON members of the dict in `**{...}`, for names that Python forbids."""
    if not value.startswith("{"):
        raise _WrongError("only a dict can follow `**`")
    inside = value[1:-1].strip()
    return [inside] if inside else []


def _value(text: str, at: int) -> tuple[str, int]:
    """Return one literal as JSON, and the offset after it and its comma.

    Raises:
        _WrongError: there is not a literal at `at`.
    """
    start, depth, parts = at, 0, list[str]()
    scalar = False
    while match := _TOKEN.match(text, at):
        sign = match["sign"]
        at = match.end()
        if sign == "," and depth == 0:
            break
        if scalar and not sign:
            raise _WrongError(f"{shown(text, start)} is not a literal")
        scalar = not sign
        step = BRACKETS.get(sign, 0)
        depth += step
        if step < 0 and _is_spare_comma(parts):
            parts.pop()
        parts.append(_written(match))
    value = "".join(parts)
    if scan(value).state is not PrefixState.COMPLETE:
        raise _WrongError(f"{shown(text, start)} is not a literal")
    return value, at


def _is_spare_comma(parts: list[str]) -> bool:
    """Return whether a comma follows the last item, which Python permits and JSON does not."""
    return parts[-1:] == [", "] and parts[-2] not in ("[", "{")


def _written(match: "re.Match[str]") -> str:
    """Return the JSON token with the same meaning as a Python token.

    Raises:
        _WrongError: the token is a name, and not a literal.
    """
    if match["string"]:
        return _string(match)
    if match["number"]:
        return _number(match["number"])
    word = match["word"]
    if not word:
        return {",": ", ", ":": ": "}.get(match["sign"], match["sign"])
    if word not in WORDS:
        raise _WrongError(f"{word!r} is a name and not a literal"[:80])
    return WORDS[word]


def _number(digits: str) -> str:
    """Return a Python number as JSON, with the same digits and a digit on both sides of a point."""
    literal = digits.replace("_", "").removeprefix("+")
    sign = "-" if literal.startswith("-") else ""
    literal = literal.removeprefix("-")
    literal = f"0{literal}" if literal.startswith(".") else literal
    return sign + re.sub(r"\.(?![0-9])", ".0", literal)


def _string(match: "re.Match[str]") -> str:
    prefix, literal = match["prefix"].lower(), match["string"]
    if prefix not in ("", "r", "u"):
        raise _WrongError(f"{shown(match[0].strip(), 0)} is not a string")
    size = 3 if literal[:3] in ("'''", '"""') else 1
    inside = literal[size:-size]
    return write_exactly(inside if prefix == "r" else _ESCAPE.sub(_unescaped, inside))


def _unescaped(match: "re.Match[str]") -> str:
    kind = str(match.lastgroup)
    literal = match[kind]
    if kind == "line":
        return ""
    if kind == "plain":
        return _PLAIN[literal]
    if kind == "octal":
        return chr(int(literal, 8))
    if kind == "other":
        return _unknown_escape(literal)
    try:
        return unicodedata.lookup(literal) if kind == "name" else chr(int(literal, 16))
    except (KeyError, ValueError):
        raise _WrongError(f"{match[0]!r} is not a character") from None


def read_escape(text: str, at: int) -> tuple[str, int] | None:
    """Return what the escape at `at` stands for and the index after it; None if it is none."""
    match = _ESCAPE.match(text, at)
    try:
        return (_unescaped(match), match.end()) if match else None
    except _WrongError:
        return None


def _unknown_escape(letter: str) -> str:
    """Return the backslash and a letter that is not an escape, such as d, as Python does."""
    if letter in "xuUN":
        raise _WrongError(f"'\\\\{letter}' begins an escape that is not whole")
    return "\\" + letter


def shown(text: str, at: int) -> str:
    """Return a few characters of `text` from `at` on, for an error message."""
    return repr(text[at : at + _SHOWN_CHARACTERS].strip())


# Back to Python

_JSON_TOKEN = re.compile(r'("(?:[^"\\]++|\\.)*+")|(true|false|null)|([^"tfn]++)', re.DOTALL)
_IDENTIFIER = re.compile(r"[^\W\d]\w*+")


def write_python_calls(calls: Sequence[WrittenCall]) -> list[str]:
    """Return each call as Python; arguments that are not keywords are in `**{...}`."""
    return [f"{call.name}({_written_arguments(call.arguments)})" for call in calls]


def _written_arguments(arguments: str) -> str:
    raw: dict[str, msgspec.Raw] = msgspec.json.decode(
        arguments or "{}", type=dict[str, msgspec.Raw]
    )
    members = {key: _written_value(bytes(value).decode()) for key, value in raw.items()}
    plain = [f"{key}={value}" for key, value in members.items() if _IDENTIFIER.fullmatch(key)]
    other = [f"{key!r}: {v}" for key, v in members.items() if not _IDENTIFIER.fullmatch(key)]
    return ", ".join([*plain, *([f"**{{{', '.join(other)}}}"] if other else [])])


def _written_value(text: str) -> str:
    def token(match: "re.Match[str]") -> str:
        if match[1]:
            return repr(json.loads(match[1]))
        return _NAMES.get(match[0], match[0])

    return _JSON_TOKEN.sub(token, text)
