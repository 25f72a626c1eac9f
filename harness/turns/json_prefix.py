"""Find out whether a text is one JSON value, may still become one, or cannot become one.

It follows RFC 8259 strictly: no NaN, no single quotes, no trailing comma, no raw control character
in a string. It stores one byte for each open bracket, so time is linear and a million brackets do
not recurse. It builds no value and never raises, whatever the text.
"""

import re
from enum import StrEnum

import msgspec


class PrefixState(StrEnum):
    """How a text relates to one JSON value.

    COMPLETE: it is one. PREFIX: it may become one. TRAILING: other text follows the value.
    INVALID: it cannot become one.
    """

    COMPLETE = "complete"
    PREFIX = "prefix"
    TRAILING = "trailing"
    INVALID = "invalid"


class Scan(msgspec.Struct, frozen=True):
    """Describes how far a text is valid JSON. Offsets count characters from its start.

    Fields:
        state: COMPLETE or TRAILING if a first value is complete, else PREFIX or INVALID.
        end: the offset just after the first value; -1 if no value is complete.
        offset: where reading stopped: at the end of the text, at the first character that cannot
            be there, or after the first value.
        expected: what could have followed at `offset`, as text for a message.
        depth: the highest number of open brackets.
    """

    state: PrefixState
    end: int
    offset: int
    expected: str
    depth: int


# Plain numbers, because an enum member costs more to look up than a token to read.
# What must come next; the stack holds what must follow the value inside each open bracket.
_END, _VALUE, _FIRST_ITEM, _NEXT_ITEM, _FIRST_KEY, _KEY, _COLON, _NEXT_MEMBER = range(8)
# What a token does to the stack, if it does more than decide what must come next.
_DONE, _OPEN_OBJECT, _OPEN_ARRAY, _CLOSE = range(8, 12)

_SPACE = r"[ \t\n\r]*+"
_CONTENT = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+'
# A number takes all it can: `1.x` and `01` are broken numbers, not a number and a rest.
_NUMBER = r"(?>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9.eE])"

_TOKEN = re.compile(
    rf'{_SPACE}(?:("{_CONTENT}")|({_NUMBER}|true|false|null)|(\{{)|(\[)|(\}})|(\])|(:)|(,))',
)
_BLANK = re.compile(_SPACE)
_OPEN_STRING = re.compile(rf'"{_CONTENT}')
_CUT_STRING = re.compile(rf'"{_CONTENT}(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?')
_CUT_SCALAR = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][+-]?|-?(?:0|[1-9][0-9]*)\.|-"
    r"|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?",
)

# The groups of _TOKEN, by number.
_T_STRING, _T_SCALAR, _T_OBJECT, _T_ARRAY, _T_OBJECT_END, _T_ARRAY_END, _T_COLON, _T_COMMA = range(
    1,
    9,
)
_VALUE_STEPS: dict[int | None, int] = {
    _T_STRING: _DONE,
    _T_SCALAR: _DONE,
    _T_OBJECT: _OPEN_OBJECT,
    _T_ARRAY: _OPEN_ARRAY,
}
_STEPS: dict[int, dict[int | None, int]] = {
    _VALUE: {**_VALUE_STEPS},
    _FIRST_ITEM: {**_VALUE_STEPS, _T_ARRAY_END: _CLOSE},
    _NEXT_ITEM: {_T_COMMA: _VALUE, _T_ARRAY_END: _CLOSE},
    _FIRST_KEY: {_T_STRING: _COLON, _T_OBJECT_END: _CLOSE},
    _KEY: {_T_STRING: _COLON},
    _COLON: {_T_COLON: _VALUE},
    _NEXT_MEMBER: {_T_COMMA: _KEY, _T_OBJECT_END: _CLOSE},
}
_WORDS = {
    _END: "the end of the text",
    _VALUE: "a value",
    _FIRST_ITEM: "a value or ']'",
    _NEXT_ITEM: "',' or ']'",
    _FIRST_KEY: "a key in double quotes or '}'",
    _KEY: "a key in double quotes",
    _COLON: "':'",
    _NEXT_MEMBER: "',' or '}'",
}


def prefix_state(text: str) -> PrefixState:
    """Return whether `text` is, may become or cannot become one JSON value.

    Blank text is a PREFIX.
    """
    return scan(text).state


def scan(text: str, start: int = 0) -> Scan:
    """Describe how far `text` is one JSON value from offset `start` on, in linear time."""
    stack = bytearray((_END,))
    need, position, depth = _VALUE, start, 1
    token, steps = _TOKEN.match, _STEPS
    while need != _END:
        match = token(text, position)
        step = None if match is None else steps[need].get(match.lastindex)
        if match is None or step is None:
            return _stopped(text, position, need, depth - 1)
        position = match.end()
        if step < _DONE:
            need = step
        elif step == _DONE:
            need = stack[-1]
        elif step == _CLOSE:
            stack.pop()
            need = stack[-1]
        else:
            is_object = step == _OPEN_OBJECT
            stack.append(_NEXT_MEMBER if is_object else _NEXT_ITEM)
            need = _FIRST_KEY if is_object else _FIRST_ITEM
            depth = max(depth, len(stack))
    rest = _skip_blank(text, position)
    state = PrefixState.COMPLETE if rest == len(text) else PrefixState.TRAILING
    return Scan(state, position, rest, _WORDS[_END], depth - 1)


def _stopped(text: str, position: int, need: int, depth: int) -> Scan:
    """Return PREFIX if the text ends inside a valid token at `position`, or INVALID otherwise."""
    start = _skip_blank(text, position)
    expected = _WORDS[need]
    allowed = _STEPS[need]
    if start == len(text):
        return Scan(PrefixState.PREFIX, -1, start, expected, depth)
    if _T_STRING in allowed and (opened := _OPEN_STRING.match(text, start)) is not None:
        is_cut = _CUT_STRING.fullmatch(text, start) is not None
        offset = len(text) if is_cut else opened.end()
        expected = "the rest of a string (no raw control character, only JSON's escapes)"
    else:
        is_cut = _T_SCALAR in allowed and _CUT_SCALAR.fullmatch(text, start) is not None
        offset = len(text) if is_cut else start
    return Scan(PrefixState.PREFIX if is_cut else PrefixState.INVALID, -1, offset, expected, depth)


def _skip_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return position if match is None else match.end()
