"""Classify an argument text that is not a usable JSON object, and explain the fault in a sentence.

A person or a model reads the sentence. No result depends on it, except for the text of an error.
The functions never raise, whatever the text. Their time is linear in its length.
Source: quirks ARGS-* of the catalogue; RFC 8259.
"""

import ast
import re
from collections.abc import Callable
from enum import StrEnum

from harness.turns.json_prefix import PrefixState, Scan, scan
from harness.turns.strict_json import Reading, read_json
from harness.wire.payload import MAX_DEPTH

# A longer text is not tried as Python: its compiler is slow and deep, and a dict of that
# size is not clearer for having its class named.
MAX_PYTHON_CHARACTERS = 10_000

_FENCE_OPEN = re.compile(r"(`{3}|~{3})[ \t]*[\w+.-]*")

_SINGLE_QUOTED = r"[rRuU]?'(?:[^'\\\n]|\\.)*+'"
_DOUBLE_QUOTED = r'[rRuU]?"(?:[^"\\\n]|\\.)*+"'
# No sign may follow a number, so that no chain of operators reaches Python's compiler.
_PYTHON_NUMBER = r"[+-]?(?:[0-9][0-9_]*+(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?!\s*+[+-])"
_PYTHON_TOKENS = re.compile(
    rf"(?:{_SINGLE_QUOTED}|{_DOUBLE_QUOTED}|{_PYTHON_NUMBER}|True|False|None|[\[\]{{}}(),:\s])*+",
)
_JSON_STRING = re.compile(_DOUBLE_QUOTED)
_PYTHON_ONLY = re.compile(r"'|\b(?:True|False|None)\b")
# Escapes that Python warns about; the first group is those that it knows.
_ESCAPE = re.compile(r"(\\[\\'\"abfnrtvxNuU0-3])|\\.")

_NOT_PROSE_START = frozenset("{}[],:\"-0123456789'`</#\\=$@|&%^~+;")
# Call or assignment syntax, markup of an XML-like call, or a constant of another language.
_CODE = re.compile(
    r"[A-Za-z_$][A-Za-z0-9_.$]*+[(\[{=<]|(?:NaN|Infinity|undefined|None|True|False)\Z",
)
_LETTER = re.compile(r"[^\W\d_]")


def is_fenced(text: str) -> bool:
    """Return whether exactly one Markdown fence encloses all of `text`."""
    whole = text.strip()
    opened = _FENCE_OPEN.match(whole)
    if opened is None:
        return False
    mark = opened.group(1)
    inside = whole[opened.end() :].removesuffix(mark)
    if not whole[opened.end() :].endswith(mark):
        return False
    # A mark inside a line may belong to a JSON string; one that starts a line may not.
    return re.search(rf"(?m)^[ \t]*+{mark}" if "\n" in inside else mark, inside) is None


def is_python_dict(text: str) -> bool:
    """Return whether `text` is a Python dict with notation that JSON lacks, such as single quotes.

    A text without single quotes, `True`, `False` and `None` counts as faulty JSON and not as
    Python, so `{"a": 1,}` is not one. Python itself refuses more than 200 open brackets.
    """
    whole = text.strip()
    if len(whole) > MAX_PYTHON_CHARACTERS or _PYTHON_TOKENS.fullmatch(whole) is None:
        return False
    if _PYTHON_ONLY.search(_JSON_STRING.sub("", whole)) is None:
        return False
    known = _ESCAPE.sub(lambda match: match[1] or "_", whole)
    try:
        return isinstance(ast.literal_eval(known), dict)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False


def is_prose(text: str) -> bool:
    """Return whether `text` consists of words of a language, without a start of JSON or code."""
    whole = text.strip()
    start = whole[:1]
    if not start.isprintable() or start in _NOT_PROSE_START or _CODE.match(whole) is not None:
        return False
    return _LETTER.search(whole) is not None


_SHOWN_CHARACTERS = 20
_JSON_SPACE = " \t\n\r"


class ArgumentClass(StrEnum):
    """Names what an argument text is: a usable object, empty, truncated, prose and so on."""

    OBJECT = "object"
    VALUE = "value"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    CONCATENATED = "concatenated"
    DOUBLE_ENCODED = "double_encoded"
    FENCED = "fenced"
    PROSE = "prose"
    PYTHON_LITERAL = "python_literal"
    DUPLICATE_KEYS = "duplicate_keys"
    NOT_JSON = "not_json"


_TOO_DEEP = f"brackets that are nested more than {MAX_DEPTH} deep"
_KIND_WORDS = {
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def explain(text: str) -> tuple[ArgumentClass, str]:
    """Classify an argument text that is neither blank nor a usable object, and say why."""
    reading = read_json(text)
    kind, found = _wrong_text(text) if reading is None else _wrong_value(text, reading)
    return kind, f"expected one JSON object, found {found}"


def _wrong_value(text: str, reading: Reading) -> tuple[ArgumentClass, str]:
    """Return the class and a description of a text whose syntax is one JSON value."""
    value = reading.value
    if reading.too_deep:
        return ArgumentClass.NOT_JSON, _TOO_DEEP
    if reading.unusable_number:
        found = f"a number that is too large to hold: {_shown(reading.unusable_number)}"
        return ArgumentClass.NOT_JSON, found
    if isinstance(value, dict):
        return ArgumentClass.DUPLICATE_KEYS, f"the key {reading.repeated_key!r:.40} twice"
    start = _start(text)
    if isinstance(value, str) and _holds_object(value):
        found = f"a string that holds one (encoded twice) at offset {start}"
        return ArgumentClass.DOUBLE_ENCODED, found
    return ArgumentClass.VALUE, f"{_KIND_WORDS[type(value)]} at offset {start}"


def _wrong_text(text: str) -> tuple[ArgumentClass, str]:
    """Return the class and a description of a text that is not one readable JSON value."""
    seen = scan(text)
    if seen.depth > MAX_DEPTH:
        return ArgumentClass.NOT_JSON, _TOO_DEEP
    match seen.state:
        case PrefixState.COMPLETE:
            found = "a JSON value for which this process has no stack left"
            return ArgumentClass.NOT_JSON, found
        case PrefixState.PREFIX:
            where = f"at offset {seen.offset}, where {seen.expected} was to follow"
            return ArgumentClass.TRUNCATED, f"the end of the text {where}"
        case PrefixState.TRAILING:
            return _wrong_rest(text, seen)
        case PrefixState.INVALID:
            return _wrong_syntax(text, seen)


def _wrong_rest(text: str, seen: Scan) -> tuple[ArgumentClass, str]:
    count = _count_objects(text)
    if count:
        found = f"{count} objects in a row, the second at offset {seen.offset}"
        return ArgumentClass.CONCATENATED, found
    more = _shown(text, seen.offset)
    found = f"a value that ends at offset {seen.end}, and then {more} at offset {seen.offset}"
    return ArgumentClass.NOT_JSON, found


def _wrong_syntax(text: str, seen: Scan) -> tuple[ArgumentClass, str]:
    start = _start(text)
    for kind, is_kind, name in _FOREIGN:
        if is_kind(text):
            found = f"{name} at offset {start}: {_shown(text, start)}"
            return kind, found
    here = _shown(text, seen.offset)
    found = f"{here} at offset {seen.offset}, where {seen.expected} was to follow"
    return ArgumentClass.NOT_JSON, found


_FOREIGN: tuple[tuple[ArgumentClass, Callable[[str], bool], str], ...] = (
    (ArgumentClass.FENCED, is_fenced, "a Markdown fence around the whole text"),
    (ArgumentClass.PYTHON_LITERAL, is_python_dict, "a dict in Python's notation"),
    (ArgumentClass.PROSE, is_prose, "prose instead of JSON"),
)


def _holds_object(text: str) -> bool:
    inner = read_json(text) if text.lstrip(_JSON_SPACE).startswith("{") else None
    return inner is not None and isinstance(inner.value, dict)


def _count_objects(text: str) -> int:
    """Return how many consecutive JSON objects `text` consists of; 0 if it is anything else."""
    count, position = 0, _start(text)
    while text.startswith("{", position):
        seen = scan(text, position)
        if seen.end < 0 or seen.depth > MAX_DEPTH:
            return 0
        count, position = count + 1, seen.offset
    return count if position == len(text) else 0


def _start(text: str) -> int:
    return len(text) - len(text.lstrip())


def _shown(text: str, offset: int = 0) -> str:
    """Return the `repr` of the first characters from `offset` on, for an error message."""
    return repr(text[offset : offset + _SHOWN_CHARACTERS])
