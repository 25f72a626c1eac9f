"""Turn the `functionCall` parts of a generateContent response into calls, by contract.

A part is a complete call, whose arguments are an object or are missing. A part with
`willContinue` is continued by the next parts without a name, up to the first part without it.
Any other form makes the calls ambiguous, and the oracle does not guess.
Source: Gemini API and Vertex AI API references, `FunctionCall`, `PartialArg`.
"""

import json
import math
import re
from typing import Any

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.reading import Notes, OpenCall
from harness.dialects.kit.oracle.values import member_text, text_or_empty
from harness.turns.oracle_reading import CallReading

PARTIAL = "GEM-PARTIAL-ARGS"
_PATH = re.compile(r"\$(?:\.[A-Za-z_]\w*|\[[0-9]{1,4}\])+", re.ASCII)
_STEP = re.compile(r"\.(\w+)|\[([0-9]+)\]")
_KINDS = frozenset(("stringValue", "numberValue", "boolValue", "nullValue"))
_MOST_STEPS = 50
# More digits than every reader of doubles keeps.
_MOST_DIGITS = 15


class _Call(OpenCall):
    """Collects the parts of one call."""

    def __init__(self, call: Json, arguments: str, offset: int) -> None:
        super().__init__(offset, text_or_empty(call.get("id")), text_or_empty(call.get("name")))
        self.fragments = [arguments]
        self.tree: Json = {}
        self.strings: dict[str, list[str]] = {}  # path -> pieces of a string that goes on
        self.pieces = 0


class CallList:
    """Collects the calls of one candidate."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: list[_Call] = []
        self._growing: _Call | None = None

    def __len__(self) -> int:
        return len(self._calls)

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls in the order of their parts."""
        return tuple(call.reading() for call in self._calls)

    def add(self, call: object, text: str, offset: int) -> None:
        """Process one `functionCall`, whose JSON text is `text`."""
        if not isinstance(call, dict):
            self._notes.ambiguous("EVENT-GLUED", offset, calls=True)
            return
        if any(name in call for name in ("partial_args", "will_continue")):
            self._notes.ambiguous("GEM-SNAKE-CASE", offset, calls=True)
        growing = self._growing
        if growing is None:
            self._begin(call, text, offset)
        elif call.get("name") or call.get("id") or call.get("args"):
            self._notes.ambiguous(PARTIAL, offset, calls=True)
        else:
            self._grow(growing, call, offset)

    def conclude(self) -> None:
        """Note a call that is still open at the end of the response.

        A client cannot use such a call. But if each of its values has ended, it may also count as
        complete.
        """
        call = self._growing
        if call is None:
            return
        text = _arguments_text(call.tree)
        if call.strings or not call.pieces or text is None:
            self._notes.ambiguous(PARTIAL, call.offset, calls=True)
            return
        call.fragments = [text]
        if self._notes.policy_choice(PARTIAL, call.offset, "reject", "use") == "reject":
            call.rejected = "the response ended before its last part, without `willContinue`, came"

    def _begin(self, call: Json, text: str, offset: int) -> None:
        args = call.get("args")
        arguments = member_text(text, "args") if isinstance(args, dict) else ""
        if args is not None and not isinstance(args, dict):
            self._notes.ambiguous("ARGS-OBJECT", offset, calls=True)
        if not text_or_empty(call.get("name")):
            self._notes.harmless("NAME-EMPTY", offset)
        if self._calls and self._calls[-1].offset != offset:
            self._notes.harmless("GEM-PARALLEL-SEPARATE-CHUNKS", offset)
        made = _Call(call, arguments, offset)
        self._check_id(made, offset)
        self._calls.append(made)
        partial = call.get("willContinue") or call.get("partialArgs")
        if args is None and not partial:
            self._notes.harmless("GEM-ARGS-MISSING", offset)
        if partial:
            self._notes.harmless(PARTIAL, offset)
            if args:
                self._notes.ambiguous(PARTIAL, offset, calls=True)
            self._growing = made
            self._grow(made, call, offset)

    def _check_id(self, made: _Call, offset: int) -> None:
        if not made.id:
            self._notes.harmless("GEM-NO-ID", offset)
        twins = [call for call in self._calls[-8:] if call.name == made.name]
        if made.id and any(call.id == made.id for call in self._calls):
            self._notes.harmless("GEM-SIGNATURE-OVERWRITTEN", offset)
        elif not made.id and any(call.arguments == made.arguments for call in twins):
            # Two equal calls, or one call that came twice.
            self._notes.ambiguous("GEM-SIGNATURE-OVERWRITTEN", offset, calls=bool(made.arguments))

    # Arguments in parts

    def _grow(self, call: _Call, part: Json, offset: int) -> None:
        pieces = part.get("partialArgs") or []
        for piece in pieces if isinstance(pieces, list) else [None]:
            call.pieces += 1
            if not _put(call, piece):
                self._notes.ambiguous(PARTIAL, offset, calls=True)
        if part.get("willContinue"):
            return
        self._growing = None
        if call.strings:
            self._notes.ambiguous(PARTIAL, offset, calls=True)
        if call.pieces:
            text = _arguments_text(call.tree)
            if text is None:
                self._notes.ambiguous(PARTIAL, offset, calls=True)
            call.fragments = [text or ""]


def _put(call: _Call, piece: object) -> bool:
    """Add one partial argument at its path; return whether it has exactly one meaning."""
    if not isinstance(piece, dict):
        return False
    path, kinds = piece.get("jsonPath"), [kind for kind in _KINDS if kind in piece]
    if not isinstance(path, str) or not _PATH.fullmatch(path) or len(kinds) != 1:
        return False
    value = piece[kinds[0]]
    if kinds[0] == "nullValue":
        value = None
    if kinds[0] != "stringValue":
        fits = value is None or isinstance(value, bool) == (kinds[0] == "boolValue")
        usable = fits and isinstance(value, int | float | None) and len(str(value)) < _MOST_DIGITS
        usable = usable and value not in (math.inf, -math.inf)  # too large to be read
        return usable and not piece.get("willContinue") and _place(call.tree, path, value)
    if not isinstance(value, str):
        return False
    pieces = call.strings.get(path)
    if pieces is None:
        pieces = call.strings[path] = []
        if not _place(call.tree, path, pieces):
            return False
    pieces.append(value)
    if not piece.get("willContinue"):
        del call.strings[path]
    return True


def _place(tree: Json, path: str, value: object) -> bool:
    """Set `value` at `path` and return True; False if the path is used or too long.

    Arrays are objects with indexes as keys here.
    """
    steps = [name or int(place) for name, place in _STEP.findall(path)]
    node: dict[Any, Any] = tree
    if len(steps) > _MOST_STEPS:
        return False
    for step in steps[:-1]:
        node = node.setdefault(step, {})
        if not isinstance(node, dict):
            return False
    if steps[-1] in node:
        return False
    node[steps[-1]] = value
    return True


def _arguments_text(tree: Json) -> str | None:
    """Return the arguments as JSON text; None if they are not an object, or an array has a gap."""
    try:
        value = _value(tree)
    except ValueError:
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else None


def _value(node: object) -> object:
    if isinstance(node, list):
        return "".join(node)
    if not isinstance(node, dict):
        return node
    if all(isinstance(key, str) for key in node):
        return {key: _value(child) for key, child in node.items()}
    if sorted(node, key=str) != sorted(range(len(node)), key=str):
        raise ValueError("an array with a gap, or an object with places")
    return [_value(node[place]) for place in range(len(node))]
