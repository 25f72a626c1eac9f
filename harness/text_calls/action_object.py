"""Parse the JSON object of a reply in the action protocol while its text is still arriving.

A taught prompt describes this protocol: the reply is one object with the key `action`. The parser
reads the top level of the object, one member after another. It emits `reasoning` as soon as it
arrives, and the answer once the action is `finish`. It checks no more of the JSON than this
requires. Another parser reads the complete object after its last brace. That parser decides
whether the object is strict JSON and what it means.
"""

import re

from harness.text_calls.boundaries import end_of
from harness.text_calls.dialects.action_protocol import (
    ACTION_KEY,
    ANSWER_KEYS,
    CALLS_KEY,
    FINISH,
    REASONING_KEY,
    TOOL_CALL,
)
from harness.text_calls.json_scan import MATTERS, PAIRS, JsonString

_SPACE = re.compile(r"[ \t\n\r]*+")
_SCALAR = re.compile(r"[-+.0-9A-Za-z]*+")


class ActionObject:
    """Parses one object of a reply, from its opening brace on.

    Fields:
        emitted: pairs (whether it is reasoning, text) since the last call of `take`, in order.
        action: the first value of the key `action`; "" before it arrives.
        reasoned, answered: whether the parser emitted reasoning, or the answer.
        lists: the key whose value lists the calls has arrived.
        whole: the last brace of the object has arrived.
        stuck: the next character cannot be JSON.
    """

    def __init__(self) -> None:
        self.emitted: list[tuple[bool, str]] = []
        self.action = ""
        self.reasoned = self.answered = self.lists = False
        self.whole = self.stuck = False
        self._raw: list[str] = []
        self._size = 0  # taken before the text at hand
        self._rest: int
        self._step = self._next_key
        # The steps that white space may precede.
        self._between = (self._next_key, self._colon, self._begin_value, self._comma)
        self._key: str
        self._string: JsonString
        self._value: list[str] = []
        self._draft: dict[str, list[str]] = {}
        self._stack: list[str] = []

    @property
    def committed(self) -> bool:
        """Whether the text so far can only be a reply in the protocol, even if it is truncated."""
        return self.reasoned or self.lists or self.action in (TOOL_CALL, FINISH)

    @property
    def draft(self) -> str:
        """The text that arrived before the action was known, and that may be the answer."""
        return next(("".join(pieces) for pieces in self._draft.values()), "")

    @property
    def raw(self) -> str:
        """All text of the object so far."""
        return "".join(self._raw)

    @property
    def rest(self) -> str:
        """The text of the object after the last text that was emitted."""
        return self.raw[self._rest :]

    def feed(self, text: str) -> int:
        """Parse `text` up to the end of the object; return the index at which parsing stopped."""
        at = 0 if self._raw else len("{")
        while at < len(text) and not (self.whole or self.stuck):
            if self._step in self._between:
                at = end_of(_SPACE, text, at)
            if at < len(text):
                at = self._step(text, at)
        self._raw.append(text[:at])
        self._size += at
        return at

    # One step after the other; each takes a character, chooses one that does, or gets stuck

    def _next_key(self, text: str, at: int) -> int:
        if text[at] != '"':
            return self._stop(at)
        self._begin_string()
        self._step = self._in_key
        return at + 1

    def _in_key(self, text: str, at: int) -> int:
        piece, at = self._string.feed(text, at)
        self._value.append(piece)
        if self._string.broken:
            return self._stop(at)
        if self._string.ended:
            self._key = "".join(self._value)
            self.lists = self.lists or self._key == CALLS_KEY
            self._step = self._colon
        return at

    def _colon(self, text: str, at: int) -> int:
        if text[at] != ":":
            return self._stop(at)
        self._step = self._begin_value
        return at + 1

    def _begin_value(self, text: str, at: int) -> int:
        sign = text[at]
        if sign == '"':
            self._begin_string()
            self._step = self._in_string
        elif sign in "{[":
            self._stack = [sign]
            self._step = self._nested
        else:
            self._step = self._scalar
            return at
        return at + 1

    def _in_string(self, text: str, at: int) -> int:
        piece, at = self._string.feed(text, at)
        self._take(piece)
        if self._string.broken:
            self._rest = self._offset(at) - len(self._string.held)
            return self._stop(at)
        if self._string.ended:
            self._end_string(at)
            self._step = self._comma
        return at

    def _scalar(self, text: str, at: int) -> int:
        at = end_of(_SCALAR, text, at)
        if at < len(text):
            self._step = self._comma
        return at

    def _nested(self, text: str, at: int) -> int:
        if not self._string.ended:
            _, at = self._string.feed(text, at)
            return self._stop(at) if self._string.broken else at
        match = MATTERS.search(text, at)
        if match is None:
            return len(text)
        sign = match[0]
        if sign == '"':
            self._string = JsonString()
        elif sign in "{[":
            self._stack.append(sign)
        elif self._stack[-1] != PAIRS.get(sign):
            return self._stop(match.start())
        else:
            self._stack.pop()
            self._step = self._step if self._stack else self._comma
        return match.end()

    def _comma(self, text: str, at: int) -> int:
        if text[at] == "}":
            self.whole = True
        elif text[at] == ",":
            self._step = self._next_key
        else:
            return self._stop(at)
        return at + 1

    def _stop(self, at: int) -> int:
        self.stuck = True
        return at

    # Strings of the top level

    def _begin_string(self) -> None:
        self._string, self._value = JsonString(), []

    def _take(self, piece: str) -> None:
        """Process the next characters of the current member's value."""
        if self._key == REASONING_KEY:
            self._emit(piece, reasoning=True)
        elif self._key == ACTION_KEY:
            self._value.append(piece)
        elif self._key in ANSWER_KEYS and not self.action:
            if piece:  # a key without text, emitted again and again, is kept nowhere
                self._draft.setdefault(self._key, []).append(piece)
        elif self._answers(self._key):
            self._emit(piece, reasoning=False)
            self._draft = {self._key: [piece]} if piece else self._draft

    def _end_string(self, at: int) -> None:
        shown = self._key == REASONING_KEY or self._answers(self._key)
        self._rest = self._offset(at) - shown
        if not self.action:
            self.action = "".join(self._value)
            if self.action == FINISH:
                self._emit(self.draft, reasoning=False)

    def _answers(self, key: str) -> bool:
        """Return whether the member `key` is the answer: the first answer key that has text."""
        emitted = next(iter(self._draft), key)
        return self.action == FINISH and key in ANSWER_KEYS and emitted == key

    def _offset(self, at: int) -> int:
        return self._size + at

    def _emit(self, text: str, *, reasoning: bool) -> None:
        if text:
            self.emitted.append((reasoning, text))
            self.reasoned = self.reasoned or reasoning
            self.answered = self.answered or not reasoning
