"""Text that is not JSON -> what a model wrote instead: a fence, a Python dict, a sentence.

It only names what it sees, for a report; nothing is unwrapped, evaluated or repaired. To be
asked after strict JSON has failed, since a fence or a quote inside a value is just a value.
"""

import ast
import re

# A longer text is not tried as Python: its compiler is slow and deep, and a dict of that
# size is no clearer for having its class named.
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
    """Return whether one Markdown fence, and no second one, encloses all of `text`."""
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
    """Return whether `ast.literal_eval` gives a dict that is spelled as only Python does.

    What needs no single quotes and no `True`, `False` or `None` is faulty JSON rather than
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
    """Return whether `text` reads as words of some language, with no start of JSON or code."""
    whole = text.strip()
    start = whole[:1]
    if not start.isprintable() or start in _NOT_PROSE_START or _CODE.match(whole) is not None:
        return False
    return _LETTER.search(whole) is not None
