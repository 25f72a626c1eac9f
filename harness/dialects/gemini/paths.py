"""A JSON path of a partial argument -> its steps; only what names one place is a path.

Wildcards, slices, filters and `..` name many places, or none yet: they are refused.
Source: RFC 9535, "JSONPath: Query Expressions for JSON" (normalized paths, shorthand names).
"""

import json
import re
from functools import lru_cache
from typing import Final, TypeAlias

Step: TypeAlias = str | int

# More steps than this are refused: writing the value of a path goes down as deep.
MAX_STEPS: Final = 100

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]*]+)
    |\[(?P<index>[0-9]{1,9})\]
    |\['(?P<single>(?:[^'\\]|\\.)*)'\]
    |\["(?P<double>(?:[^"\\]|\\.)*)"\]""",
    re.VERBOSE | re.DOTALL,
)
# Names that need no brackets in any reader of paths.
_SHORT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATHS_KEPT = 64
_MOST_CHARACTERS = 4096


@lru_cache(_PATHS_KEPT)
def steps_of(path: str) -> tuple[Step, ...]:
    """Return the steps from the arguments down to one value; () where `path` is no such path."""
    at = 1
    steps: list[Step] = []
    if len(path) > _MOST_CHARACTERS or not path.startswith("$"):
        return ()
    while at < len(path) and len(steps) <= MAX_STEPS:
        match = _STEP.match(path, at)
        step = None if match is None else _step(match)
        if match is None or step is None:
            return ()
        steps.append(step)
        at = match.end()
    return tuple(steps) if len(steps) <= MAX_STEPS else ()


def path_of(steps: tuple[Step, ...]) -> str:
    """Return the path of `steps`, in shorthand where the names allow it."""
    return "$" + "".join(map(_spelled, steps))


def _step(match: re.Match[str]) -> Step | None:
    kind, text = match.lastgroup, match[match.lastgroup or 0]
    if kind == "name":
        return text
    if kind == "index":
        return int(text)
    return _unescaped(text if kind == "double" else _requoted(text))


def _requoted(text: str) -> str:
    """Return the content of a single-quoted name as that of a double-quoted one."""
    return re.sub(r'\\.|"', lambda m: {"\\'": "'", '"': '\\"'}.get(m[0], m[0]), text)


def _unescaped(text: str) -> str | None:
    try:
        name = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return None
    return name if isinstance(name, str) else None


def _spelled(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _SHORT.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
