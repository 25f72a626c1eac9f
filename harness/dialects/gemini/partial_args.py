"""Join the partial arguments of one call to the JSON text of its arguments.

Vertex AI streams arguments as values with JSON paths. A string may come in several parts. The paths
name the location of each value, and the values may come in any order, so the text is known only at
the end of the call. Values that contradict each other or leave a gap are a fault. The reader never
fills a gap.
Source: Vertex AI API reference, `FunctionCall.partialArgs`, `PartialArg`.
"""

import json
import re
from functools import lru_cache
from typing import Any, Final, TypeAlias

from harness.turns.exact_json import write_exactly

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
_CAPITAL = re.compile("[A-Z]")


def parse_path(path: str) -> tuple[Step, ...]:
    """Return the keys and indexes of a JSON path; () if `path` is not a valid path."""
    at = 1
    steps: list[Step] = []
    if not path.startswith("$"):
        return ()
    while at < len(path) and len(steps) <= MAX_STEPS:
        match = _STEP.match(path, at)
        step = None if match is None else _step(match)
        if match is None or step is None:
            return ()
        steps.append(step)
        at = match.end()
    return tuple(steps) if len(steps) <= MAX_STEPS else ()


def format_path(steps: tuple[Step, ...]) -> str:
    """Return the JSON path of these keys and indexes, in dot notation if the names permit it."""
    return "$" + "".join(map(_format_step, steps))


def _step(match: re.Match[str]) -> Step | None:
    kind, text = match.lastgroup, match[match.lastgroup or 0]
    if kind == "name":
        return text
    if kind == "index":
        return int(text)
    return _unescaped(text if kind == "double" else _requoted(text))


def _requoted(text: str) -> str:
    """Return the content of a single-quoted name with the escapes of double quotes."""
    return re.sub(r'\\.|"', lambda m: {"\\'": "'", '"': '\\"'}.get(m[0], m[0]), text)


def _unescaped(text: str) -> str | None:
    try:
        name = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return None
    return name if isinstance(name, str) else None


def _format_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _SHORT.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


_QUOTED = 80


class _Object(dict[Step, "_Node"]):
    """A JSON object so far, with members in the order in which they first arrived."""


class _Array(dict[Step, "_Node"]):
    """A JSON array so far, by index. Indexes may arrive in any order."""


class _Leaf:
    """A value that is neither object nor array. A string may still grow."""

    __slots__ = ("growing", "is_text", "pieces")

    def __init__(self, *, is_text: bool) -> None:
        self.is_text = is_text
        self.growing = True
        self.pieces: list[str] = []

    def text(self) -> str:
        joined = "".join(self.pieces)
        return json.dumps(joined, ensure_ascii=False) if self.is_text else joined


_Node: TypeAlias = _Object | _Array | _Leaf


class PartialArguments:
    """Joins the partial arguments of one call.

    Fields:
        fault: why the values cannot be arguments; "" if they can.
    """

    def __init__(self) -> None:
        self.fault = ""
        self._root = _Object()
        self._growing: set[tuple[Step, ...]] = set()  # places whose string is not complete

    def add(self, piece: object) -> None:
        """Add one partial argument, or set `fault` if it contradicts the others."""
        if self.fault:
            return
        if not isinstance(piece, dict):
            self.fault = "a partial argument is not an object"
            return
        path = member(piece, "jsonPath")
        steps = parse_path(path) if isinstance(path, str) else ()
        value = _value(piece)
        if not steps:
            self.fault = f"a partial argument has no usable path: {str(path)[:_QUOTED]!r}"
        elif value is None:
            self.fault = f"the partial argument at {path[:_QUOTED]!r} has no value"
        else:
            self._put(steps, value, more=bool(member(piece, "willContinue")))

    def text(self) -> str:
        """Return the arguments so far as JSON text. An array with a gap sets `fault`."""
        return self._written(self._root)

    def close(self) -> None:
        """Set `fault` if the call ends before a string in it has ended."""
        if self._growing and not self.fault:
            path = format_path(min(self._growing, key=str))[:_QUOTED]
            self.fault = f"the string at {path!r} never ended"

    def _put(self, steps: tuple[Step, ...], value: tuple[str, bool], *, more: bool) -> None:
        piece, is_text = value
        leaf = self._leaf(steps, is_text=is_text)
        if leaf is None or not leaf.growing or leaf.is_text != is_text:
            self.fault = f"two values contradict each other at {format_path(steps)[:_QUOTED]!r}"
            return
        leaf.pieces.append(piece)
        leaf.growing = is_text and more
        (self._growing.add if leaf.growing else self._growing.discard)(steps)

    def _leaf(self, steps: tuple[Step, ...], *, is_text: bool) -> _Leaf | None:
        """Return the value at this path; None if an object, array or other value is there."""
        node: _Node = self._root
        for position, step in enumerate(steps):
            if isinstance(node, _Leaf) or isinstance(step, int) != isinstance(node, _Array):
                return None
            child = node.get(step)
            if child is None:
                child = node[step] = _new(steps[position + 1 : position + 2], is_text=is_text)
            node = child
        return node if isinstance(node, _Leaf) else None

    def _written(self, node: _Node) -> str:
        if isinstance(node, _Leaf):
            return node.text()
        if isinstance(node, _Object):
            members = (
                f"{json.dumps(k, ensure_ascii=False)}: {self._written(node[k])}" for k in node
            )
            return "{" + ", ".join(members) + "}"
        if any(index not in node for index in range(len(node))):
            self.fault = self.fault or "an array of partial arguments has a gap"
        items = (self._written(node[index]) for index in sorted(node, key=int))
        return "[" + ", ".join(items) + "]"


def _new(following: tuple[Step, ...], *, is_text: bool) -> _Node:
    if not following:
        return _Leaf(is_text=is_text)
    return _Array() if isinstance(following[0], int) else _Object()


def _value(piece: dict[str, Any]) -> tuple[str, bool] | None:
    """Return the text that a partial argument adds, and whether it is part of a string.

    None if the partial argument has no value.
    """
    text = member(piece, "stringValue")
    if isinstance(text, str):
        return text, True
    number = member(piece, "numberValue")
    if isinstance(number, int | float) and not isinstance(number, bool):
        return write_exactly(number), False
    truth = member(piece, "boolValue")
    if isinstance(truth, bool):
        return json.dumps(truth), False
    is_null = "nullValue" in piece or "null_value" in piece  # its value may be null itself
    return ("null", False) if is_null else None


def member(holder: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - a provider's member may be anything
    """Return the member `name`, or the member with the snake_case name of Python clients."""
    return holder[name] if name in holder else holder.get(snake_case(name))


@lru_cache
def snake_case(name: str) -> str:
    """Return the snake_case name that Python clients use for a member of the API."""
    return _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name)
