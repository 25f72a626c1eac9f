"""The fragments of one call's arguments -> the text to append, whatever the provider repeats.

Most providers append. Some send all the text so far each time, or all of it once more at the
end, or `{}` before the real object. Such a fragment starts with the whole text before it, and
appending it mostly cannot be JSON: that, and nothing weaker, is taken as the sign.
Quirks: ARGS-CUMULATIVE, ARGS-REPEATED-AT-END, ARGS-EMPTYOBJ-THEN-REAL.
"""

from harness.turns.arguments import same_value
from harness.turns.json_prefix import PrefixState, prefix_state

_PLACEHOLDER = "{}"


class Fragments:
    """Takes fragments as streamed; gives back what is to be appended."""

    __slots__ = ("_cumulative", "_doubtful", "_held", "_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._cumulative = False
        self._held = False  # the text so far is a `{}` that was not given on yet
        self._doubtful = ""  # a fragment that may replace the text or extend it

    @property
    def size(self) -> int:
        """Number of characters so far."""
        return self._size

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def append(self, fragment: str) -> str:
        """Take a fragment that is to be appended in any case."""
        self._pieces.append(fragment)
        self._size += len(fragment)
        return fragment

    def take(self, fragment: str) -> str:
        """Take a fragment; return what is new, which may be nothing yet."""
        if self._doubtful:
            return self._settle(fragment)
        size = self._size
        if size == 0:
            return self._first(fragment)
        if self._held:
            return self._after_placeholder(fragment)
        if len(fragment) >= size or self._cumulative:
            return self._long(fragment)
        if fragment[0] == "{" and self._repeats(fragment):
            return ""
        return self.append(fragment)

    def close(self) -> str:
        """Return what was held back, now that the call is over."""
        if self._held:
            self._held = False
            return self.text
        if not self._doubtful:
            return ""
        doubtful, self._doubtful = self._doubtful, ""
        appended = prefix_state(self.text + doubtful) is PrefixState.COMPLETE
        if not appended and prefix_state(doubtful) is PrefixState.COMPLETE:
            return self._replace(doubtful)
        return self.append(doubtful)

    def complete(self) -> bool:
        """Whether the text so far is one whole JSON value."""
        return prefix_state(self.text) is PrefixState.COMPLETE

    def _first(self, fragment: str) -> str:
        self.append(fragment)
        self._held = fragment.strip() == _PLACEHOLDER
        return "" if self._held else fragment

    def _after_placeholder(self, fragment: str) -> str:
        if fragment.strip() in ("", _PLACEHOLDER):
            return ""
        self._held = False
        if not fragment.lstrip().startswith("{"):
            return self.text + self.append(fragment)
        self._pieces.clear()
        self._size = 0
        return self.append(fragment)

    def _long(self, fragment: str) -> str:
        """Take a fragment at least as long as the text before it, or of a cumulative call."""
        text = self.text
        if self._cumulative and text.startswith(fragment):
            return ""
        if not fragment.startswith(text) or not text.strip():
            return "" if fragment[0] == "{" and self._repeats(fragment) else self.append(fragment)
        if self._cumulative:
            return self._replace(fragment)
        state = prefix_state(text + fragment)
        if state is PrefixState.PREFIX or state is PrefixState.COMPLETE:
            self._doubtful = fragment
            return ""
        if prefix_state(fragment) in (PrefixState.INVALID, PrefixState.TRAILING):
            return self.append(fragment)
        self._cumulative = True
        return self._replace(fragment)

    def _settle(self, fragment: str) -> str:
        """Decide about a doubtful fragment by the one that follows it."""
        doubtful, self._doubtful = self._doubtful, ""
        if fragment.startswith(doubtful):
            self._cumulative = True
            return self._replace(doubtful) + self.take(fragment)
        return self.append(doubtful) + self.take(fragment)

    def _replace(self, fragment: str) -> str:
        new = fragment[self._size :]
        self._pieces = [fragment]
        self._size = len(fragment)
        return new

    def _repeats(self, fragment: str) -> bool:
        """Whether a whole object comes once more, perhaps in another spelling."""
        if not self._pieces[-1].rstrip().endswith("}") or not fragment.rstrip().endswith("}"):
            return False
        return self.complete() and same_value(self.text, fragment)
