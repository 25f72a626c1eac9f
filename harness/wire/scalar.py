"""Text -> one YAML scalar that every YAML 1.1 and 1.2 reader turns back into the same text.

A literal block where all its characters survive in one, so that a review can read it; else a
double-quoted scalar with escapes, broken after each newline. Nothing is ever folded.
"""

import json
import re
from typing import Final

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


def word(text: str) -> str:
    """Return `text` as a scalar on one line: as it is where no reader mistakes it.

    Lone surrogates, as in file names that are not UTF-8, become their escapes as text.
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return f'"{_escaped(text)}"'


def flow(value: object) -> str:
    """Return any JSON value on one line, in brackets as in JSON, texts as `word` has them.

    Raises:
        ValueError: a number that JSON does not have.
    """
    if isinstance(value, str):
        return word(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{word(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    spelled = json.dumps(value, allow_nan=False)
    # An exponent behind no point makes a text of the number in YAML 1.1.
    whole = isinstance(value, float) and "." not in spelled
    return spelled.replace("e", ".0e") if whole else spelled


def block(text: str, indent: int) -> str:
    """Return `text` as the value of a key that stands at column `indent`.

    It holds no newline after its end; the caller adds one.
    """
    if text.strip("\n") and _LITERAL.fullmatch(text):
        return _literal(text, indent)
    return _quoted(text, indent)


def _literal(text: str, indent: int) -> str:
    """Spell a literal block; readers would mistake white space at its start for indentation."""
    explicit = str(_STEP) if text[0] in " \t\n" else ""
    chomp = "-" if not text.endswith("\n") else "+" if text.endswith("\n\n") else ""
    margin = " " * (indent + _STEP)
    lines = text.removesuffix("\n").split("\n")
    return f"|{explicit}{chomp}\n" + "\n".join(margin + line if line else "" for line in lines)


def _quoted(text: str, indent: int) -> str:
    """Spell a double-quoted scalar, with an escaped line break after each newline."""
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
