"""Find the end of an action of ReAct: after the object that is its input, or before the next label.

A label, such as `Observation:`, counts at the start of a line. In strict JSON no string contains a
line end, so an object that contains a label is broken there. An observation that the model
generated belongs to the action, with all text after it, because none of it may be used or shown
(quirk REACT-FAKE-OBSERVATION).
"""

import re
from collections.abc import Callable
from typing import Final

from harness.text_calls.boundaries import MORE, Ending, end_of
from harness.text_calls.context import FENCES
from harness.text_calls.json_end import JsonEnd

THOUGHT: Final = "Thought:"
ACTION: Final = "Action:"
INPUT: Final = "Action Input:"
ANSWER: Final = "Final Answer:"

STOPS: Final = re.compile(
    r"\n[ \t]{0,8}(?:\*\*)?(?:(Observation)|Thought|Final Answer|Action)(?:\*\*)?[ \t]?:"
)
_STOP_SPAN = 32
_LABEL = r"(?:\*\*)?Action Input(?:\*\*)?[ \t]?:"
INPUT_LABEL: Final = re.compile(rf"\s*+{_LABEL}(?:\*\*)?")
NO_ACTION: Final = re.compile(
    r"[ \t]*+(?:none|n/a|null|no tool)(?:[ \t]+(?:is[ \t]+)?(?:needed|required|necessary))?\.?"
    r"[ \t]*+(?:\([^\n(){}]{0,80}\))?[ \t]*+\r?\Z",
    re.IGNORECASE,
)
# How many characters the marks of a code block and the word after them may have.
_MOST_MARKS = 9
_MARKS = re.compile(rf"`{{1,{_MOST_MARKS}}}|~{{1,{_MOST_MARKS}}}")
_MOST_WORD = 20
_INFO = re.compile(rf"[\w+.\-]{{0,{_MOST_WORD}}}")

_LINE_END = re.compile(r"[{\n]")
_INPUT = re.compile(rf"\n[ \t]{{0,8}}(?P<label>{_LABEL})|(?P<object>\{{)|{STOPS.pattern}")
_WORD = re.compile(r"\S")
# White space between the object and what closes it, or the next label.
_GAP = re.compile(r"\s{0,80}+")
_AFTER = re.compile(
    rf"{_GAP.pattern}"
    r"(?:((?:\*\*)?Observation(?:\*\*)?[ \t]?:)|(?=(?:\*\*)?Action(?:\*\*)?:))"
)
_NEXT: Final = ("Observation :", "**Observation :", "**Observation** :")
_NEXT_ACTION: Final = (ACTION, "**Action:", "**Action**:")


def _parts(word: str) -> str:
    return "|".join(re.escape(word[:size]) for size in range(len(word) - 1, 0, -1))


_MAY_COME = re.compile(rf"{_GAP.pattern}(?:{'|'.join(map(_parts, (*_NEXT, *_NEXT_ACTION)))})?\Z")
_STAY: Final = -2


class ActionEnd(Ending):
    """Finds the end of the block that `Action:` began.

    Each step looks at a bounded tail of the text.
    """

    def __init__(self) -> None:
        self._step: Callable[[str, int], int] = self._line
        self._json: JsonEnd  # of the object, and where it begins in the block
        self._json_base: int
        # What must still close what the object is in: parentheses, a code block.
        self._closer = ""
        # What came before and is still looked at, and the offset of its start in the block.
        self._rest = ""
        self._base: int
        self._taken = 0
        # Offset from which on the text is new.
        self._fresh: int
        self._end = MORE  # of the block, once it is known

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        self._fresh = len(self._rest)
        buffer = self._rest + text[start:]
        self._taken += len(text) - start
        self._base = self._taken - len(buffer)
        at = 0
        while at >= 0:
            at = self._step(buffer, at)
        return self._end if at == MORE else MORE

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        if self._step == self._swallow:
            return self._taken
        return self._end

    def _over(self, at: int) -> int:
        """End the block at index `at` of the buffer."""
        self._end = self._base + at
        return MORE

    def _keep(self, buffer: str, at: int) -> int:
        self._rest = buffer[at:]
        return _STAY

    def _keep_tail(self, buffer: str, at: int) -> int:
        """Keep the end of the buffer that may be the start of a label."""
        return self._keep(buffer, max(at, len(buffer) - _STOP_SPAN))

    def _line(self, buffer: str, at: int) -> int:
        """Read the line of the action, up to its end or to an object in it."""
        match = _LINE_END.search(buffer, at)
        if match is None:
            return self._keep(buffer, at)
        line = buffer[at : match.start()].lstrip()
        if not line or line.startswith(FENCES):
            self._step = self._input
            return at
        if match[0] == "{":
            self._closer = ")" if "(" in line else ""
            return self._open(match)
        if NO_ACTION.match(line):
            return self._over(match.start())
        self._step = self._label
        return match.start()

    def _label(self, buffer: str, at: int) -> int:
        """Read up to the label of the input, or to an object without a label."""
        match = _INPUT.search(buffer, at)
        if match is None:
            return self._keep_tail(buffer, at)
        if match["object"]:
            return self._open(match)
        if not match["label"]:
            return self._stopped(match, match.start())
        self._step = self._bold
        return match.end()

    def _bold(self, buffer: str, at: int) -> int:
        """Read the end of a label in bold."""
        if buffer[at:] in ("", "*"):
            return self._keep(buffer, at)
        self._step = self._input
        return at + 2 * buffer.startswith("**", at)

    def _input(self, buffer: str, at: int) -> int:
        """Decide by the first character whether the input is an object, a code block, or text."""
        match = _WORD.search(buffer, at)
        if match is None:
            return self._keep_tail(buffer, at)
        if match[0] in "`~":
            self._step = self._marks
            return match.start()
        if match[0] in "{[":
            return self._open(match)
        self._step = self._text
        return at

    def _marks(self, buffer: str, at: int) -> int:
        """Read the marks that begin a code block or a code span."""
        end = end_of(_MARKS, buffer, at)
        if end == len(buffer):
            return self._keep(buffer, at)
        self._closer = buffer[at:end]
        self._step = self._word if self._closer.startswith(FENCES) else self._input
        return end

    def _word(self, buffer: str, at: int) -> int:
        """Read the word after the marks of a code block."""
        end = end_of(_INFO, buffer, at)
        if end == len(buffer):
            return self._keep(buffer, at)
        self._step = self._input
        return end

    def _text(self, buffer: str, at: int) -> int:
        match = STOPS.search(buffer, at)
        if match is None:
            return self._keep_tail(buffer, at)
        return self._stopped(match, match.start())

    def _open(self, match: "re.Match[str]") -> int:
        at = match.end()
        self._json = JsonEnd(match[0])
        self._step = self._object
        self._fresh = at
        self._json_base = self._base + at
        return at

    def _object(self, buffer: str, at: int) -> int:
        """Read up to the end of the object, or to a label after the point where it is broken."""
        end = self._json.feed(buffer, self._fresh)
        offset = self._json_base - self._base
        if end != MORE:
            end += offset
        elif self._json.broken:
            stop = STOPS.search(buffer, max(at, offset + self._json.string_end))
            if stop is not None:
                return self._stopped(stop, stop.start())
        if end == MORE:
            return self._keep_tail(buffer, at)
        self._end = self._base + end
        self._step = self._after
        return end

    def _after(self, buffer: str, at: int) -> int:
        """Decide whether a generated observation or the next action follows the object."""
        if self._closer:
            start = end_of(_GAP, buffer, at)
            rest = buffer[start : start + len(self._closer)]
            if rest == self._closer:
                at = start + len(rest)
                self._end = self._base + at
            elif self._closer.startswith(rest):
                return self._keep(buffer, at)
            self._closer = ""
        match = _AFTER.match(buffer, at)
        if match:
            return self._stopped(match, match.end())
        if _MAY_COME.match(buffer, at):
            return self._keep(buffer, at)
        return MORE

    def _stopped(self, match: "re.Match[str]", at: int) -> int:
        """Process a label: it ends the block, or the rest of the text if it is an observation."""
        if match.lastindex:
            self._step = self._swallow
            return _STAY
        return self._over(at)

    def _swallow(self, buffer: str, at: int) -> int:
        del buffer, at
        return _STAY
