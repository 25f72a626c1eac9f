"""Collect emitted text, without the line ends that a template writes next to its markup.

A template writes a call on a separate line, and a blank line after reasoning. The model did not
choose these line ends, so they are not shown. Around a call they are shown again if text follows
it, because no template writes text there.
"""

import re
from typing import Final

# No template writes more: one ends a line, and the other is a blank line.
MOST_LINE_ENDS: Final = 2
_HELD: Final = re.compile(rf"(?:\r?\n){{0,{MOST_LINE_ENDS}}}\r?\Z")
_HELD_CHARACTERS: Final = 2 * MOST_LINE_ENDS + 1
_COUNTS: Final = range(MOST_LINE_ENDS + 1)
_LEADING: Final = tuple(re.compile(rf"(?:\r?\n){{0,{most}}}") for most in _COUNTS)
_TRAILING: Final = tuple(re.compile(rf"(?:\r?\n){{0,{most}}}\Z") for most in _COUNTS)


class Output:
    """Collects the text that a scanner emits, in order.

    Fields:
        held: line ends that are emitted next, unless markup follows.
    """

    def __init__(self) -> None:
        self.held = ""
        self._emitted: list[tuple[bool, str]] = []
        self._as_reasoning = False
        # How many line ends of the next text belong to the markup before it.
        self._skipped = 0
        # What was dropped around calls since the last words; None after the border of a section.
        self._dropped: str | None = ""
        # What divides two sections of reasoning, if nothing but markup is between them.
        self._divider = ""
        self._over = False

    def take(self) -> list[tuple[bool, str]]:
        """Return (whether it is reasoning, text) for everything emitted since the last call."""
        emitted, self._emitted = self._emitted, []
        return emitted

    def clear(self) -> None:
        """Forget the emitted text and all held line ends."""
        self._emitted.clear()
        self.held = ""
        self._dropped = self._dropped and ""

    def passes(self, text: str) -> bool:
        """Return whether `text` can be emitted unchanged, because no line end must wait."""
        waits = self.held or self._skipped or self._dropped
        return not waits and not text.endswith(("\n", "\r"))

    def emit(self, text: str, *, as_reasoning: bool) -> None:
        """Emit text, but hold back the line ends at its end."""
        if as_reasoning == self._as_reasoning and not self._divider and self.passes(text):
            self._dropped = ""
            self._emitted.append((as_reasoning, text))
            return
        if as_reasoning != self._as_reasoning:
            self._append(self.held)
            self.held, self._dropped = "", self._dropped and ""
            self._as_reasoning = as_reasoning
        text = self._without_leading(self.held + text)
        if self._divider and as_reasoning and text.strip():
            text, self._divider = self._divider + text, ""
        waiting = _HELD.search(text, max(0, len(text) - _HELD_CHARACTERS))
        stop = waiting.start() if waiting and not self._over else len(text)
        self.held = text[stop:]
        self._append(text[:stop])

    def _without_leading(self, text: str) -> str:
        leading = _LEADING[self._skipped].match(text)
        gap = leading[0] if leading else ""
        rest = text[len(gap) :]
        if rest in ("", "\r"):
            self._skipped -= gap.count("\n")
            if self._dropped is not None:
                self._dropped += gap
            return rest
        dropped, self._dropped, self._skipped = self._dropped, "", 0
        return rest if dropped is None else dropped + text

    def meet(self, before: int, after: int, *, section: bool = False) -> None:
        """Drop the line ends next to markup that follows the emitted text.

        Args:
            before: the maximum number of line ends that the template writes before the markup.
            after: the maximum number of line ends that the template writes after it.
            section: the markup begins or ends a section, so the line ends never come back.
        """
        trailing = _TRAILING[before].search(self.held)
        gap = trailing[0] if trailing else ""
        rest = self.held.removesuffix(gap)
        dropped = self._dropped or ""
        if rest:
            self._append(dropped + rest)
            dropped = ""
        self.held = ""
        if section and before and self._as_reasoning and not self._divider:
            self._divider = gap or "\n"
        self._dropped = None if section else dropped + gap
        self._skipped = after

    def end(self) -> None:
        """Emit the line ends that were held back, because the text ended."""
        self._over = True
        self._append(self.held)
        self.held = ""

    def _append(self, text: str) -> None:
        if text:
            self._emitted.append((self._as_reasoning, text))
            self._divider = self._divider if self._as_reasoning else ""
