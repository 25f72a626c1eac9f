"""Split text that arrives in parts into visible text, reasoning and the calls in it.

The scanner emits text that cannot be the start of markup at once. Only the line ends at the end of
the text wait, because a template writes them before a call. A marker opens a block or a section; in
an example, or if `starts` refuses it, it is shown as text. Each character is looked at a bounded
number of times, and the result does not depend on where the text was split.
"""

import re
from typing import Final

from harness.text_calls.block import (
    GAP,
    WAIT,
    Block,
    Opening,
    Place,
    new_block,
    opening_of,
    trailing,
)
from harness.text_calls.boundaries import end_of
from harness.text_calls.channel import NEVER, Channel
from harness.text_calls.dialect import RawBlock, TextDialect
from harness.text_calls.dialects.bare_json import BARE_JSON
from harness.text_calls.dialects.think import THINK
from harness.text_calls.found import (
    Found,
    Pending,
    all_undeclared,
    check_call,
    close_calls,
    note_leftover,
    raw_text,
    void_calls,
)
from harness.text_calls.stray import is_stray, line_over, over_in

_SEPARATORS = re.compile(r"[\s;,]{0,224}")
_HELD: Final = -1
# What follows the name of a tag in a sentence, and no end of thoughts.
_AFTER_NAMES: Final = " \t,.;:!?)]"


class Scanner(Channel):
    """Finds the calls in the text or the reasoning (a channel) of one response."""

    def feed(self, text: str) -> None:
        """Process the next part of the text."""
        buffer, self._held = self._held + text, ""
        self._scan(buffer, final=False)

    def stop(self, token: str) -> None:
        """Process the stop token that the server removed, if it is a known marker."""
        if self._markup.is_marker(token):
            self.feed(token)

    def close(self, *, with_native_calls: bool, cut: bool) -> None:
        """Process the end of the text and emit what was held back; `resolve` decides pending calls.

        Args:
            with_native_calls: the response also has calls in the API's field, so that a marker that
                opens nothing here is left over from one of them.
            cut: the reply was truncated, perhaps after the start of markup.
        """
        self._leftovers, self._cut = with_native_calls, cut
        self._scan(self._held, final=True)
        self._transcript.output.end()

    def _scan(self, buffer: str, *, final: bool) -> None:
        at = 0
        while True:
            if self._block is not None:
                buffer, at = self._in_block(self._block, buffer, at, final=final)
            if at >= len(buffer):
                break
            if self._block is None:
                at = self._step(buffer, at, final=final)
                if at == _HELD:
                    return
        if final and self._section is None and not self._pending.thought:
            self.resolve(count=True)

    def _step(self, buffer: str, at: int, *, final: bool) -> int:
        """Continue at `at` outside a block; return the next index, or `_HELD` to wait for text."""
        if self._after is not None:
            return self._trailers(self._after, buffer, at, final=final)
        if self._pending.raw:
            return self._between(buffer, at, final=final)
        if self._transcript.in_fence(buffer[at]):
            return self._transcript.emit_code(buffer, at)
        start = self._at_start
        match = self._markup.search(buffer, at, start=start)
        if match and match.start() == at:
            return self._marker(buffer, at, match[0], final=final)
        stop = found = match.start() if match else len(buffer)
        if not final and len(buffer) - found < self._markup.longest:
            # The marker that was found may be part of a longer one that began before it.
            stop = min(found, self._markup.held_from(buffer, at, start=start))
        self._transcript.emit(buffer[at:stop])
        return self._hold(buffer, stop) if stop < found else stop

    def _hold(self, buffer: str, at: int) -> int:
        self._held = buffer[at:]
        return _HELD

    def _marker(self, buffer: str, at: int, marker: str, *, final: bool) -> int:
        """Process the marker at `at`; return the next index, or `_HELD` to wait for text."""
        if self._markup.may_begin(buffer, at, final=final, start=self._at_start):
            return self._hold(buffer, at)
        opening = None
        # Inside a section such as a Harmony message, most markers are text.
        if self._transcript.takes(marker):
            if self._section is not None and marker in self._section.closers:
                self._enter(None)
                return at + len(marker)
            # Several text dialects share markers such as `<tool_call>`; what follows decides.
            opening = self._opening(buffer, at, final=final)
            if opening is WAIT:
                return self._hold(buffer, at)
        if opening is None:
            return self._no_opener(marker, buffer, at, final=final)
        return self._open(opening, at)

    def _opening(
        self, buffer: str, at: int, only: TextDialect | None = None, *, final: bool
    ) -> Opening | None:
        """Return the block that opens at `at`, `WAIT` if the decision needs more text, or None."""
        owners, here, start = self._markup.owners(buffer, at), self._transcript, self._at_start
        place = Place(buffer, at, self._offered, final, self._cut)
        return opening_of(owners, place, here, start=start, only=only)

    def _no_opener(self, marker: str, buffer: str, at: int, *, final: bool) -> int:
        """Process a marker that opens nothing: an end token, a rest of a call, or ordinary text."""
        stop = at + len(marker)
        stray = self._is_stray(marker, buffer, stop, final=final)
        if stray is None:
            return self._hold(buffer, at)
        if stray:
            self._transcript.hide()
            self._transcript.output.meet(*self._markup.line_ends(marker))
            return stop
        self._shown = self._shown or marker in self._markup.explicit
        if marker in THINK.openers:
            self._think_shown = len(self.found)
        self._transcript.show(marker, word=marker in BARE_JSON.openers)
        return stop

    def _is_stray(self, marker: str, buffer: str, stop: int, *, final: bool) -> bool | None:
        """Process a marker that opens nothing; return whether to hide it, None to wait."""
        markup, here = self._markup, self._transcript.here
        if section := self._transcript.message:
            stray, ends = over_in(marker, here, markup, buffer, stop, section=section, final=final)
            if ends:
                self._enter(None)
            return stray
        text_call = self._shown and not self._offered
        if self._section is not None or self._transcript.example or text_call:
            # An end token ends thoughts that were never closed, too.
            ends = self._section is not None and marker in markup.noise
            return ends and line_over(markup, buffer, stop, final=final)
        # The engine parsed the call and left its closing marker in the text.
        if self._leftovers and marker in markup.explicit:
            return True
        if marker in THINK.closers:
            return self._end_of_thoughts(buffer[stop : stop + 1], final=final)
        closers = bool(self._offered) and not self._shown
        stray = is_stray(marker, here, markup, buffer, stop, closers=closers, final=final)
        if stray and marker not in markup.noise:
            note_leftover(self.found, markup.orphans[marker], marker)
        return stray

    def _open(self, opening: Opening, at: int) -> int:
        dialect, opener = opening.dialect, opening.start.opener
        at += len(opener)
        if opening.named:
            rest = dialect.rest_of_tag(opening.start)
            self._transcript.show(opener + rest)
            self._shown = self._transcript.here.naming = True
            return at + len(rest)
        if opening.cut:
            self._transcript.hide()
            return at + len(opening.start.head)
        section = dialect.section(opening.start)
        if self._section is not None and opener in self._section.ended_by:
            self._enter(None)
        quoted = self._transcript.quotation
        example = self._transcript.example and not (quoted and section is None)
        if example or not (section or self._offered):
            # In code the next marker is an example too, so that no block need be followed.
            self._shown = True
            self._transcript.show(opener)
            return at
        if section is None:
            if not quoted:
                self._transcript.hide()
            drafts = self._section if self._policy.reasoning == "drafts" else None
            self._block = block = new_block(dialect, opener, drafts, shown=quoted)
            if self._early and not (quoted or self._waits(block) or dialect in self._voids):
                block.early = self._early
                block.stream = self._early.stream(dialect, opener, self._offered)
            return at
        self._enter(section)
        if section.voids and dialect not in self._voids:
            self._voids[dialect] = section.voids
            void_calls(self.found, dialect, section.voids)
        return at + section.header

    def _end_of_thoughts(self, following: str, *, final: bool) -> bool | None:
        """Process a `</think>` without a start; return whether to hide it, None to wait."""
        if self._transcript.visible.sets_apart and not self.found:
            if following and following in _AFTER_NAMES:
                return False
            if not following and not final:
                return None
        return self._end_of_drafts()

    def _end_of_drafts(self) -> bool:
        """Make drafts of calls before a `</think>` without a start; return whether to hide it."""
        emitted, self._think_shown = self._think_shown, NEVER
        blank = self._transcript.visible.blank
        # The template may have opened the reasoning in the prompt, so `</think>` comes alone.
        if self._policy.reasoning == "drafts":
            drafts = self.found[max(emitted, 0) :]
            del self.found[max(emitted, 0) :]
            if emitted == NEVER and blank:
                # Nothing but calls: the answer, if nothing follows.
                self._pending = Pending(drafts, [raw_text(drafts)], thought=True)
            else:
                self._transcript.emit(raw_text(drafts), as_reasoning=True)
        # If the text is blank, its start was emitted as reasoning.
        return emitted == NEVER or blank

    def _in_block(self, block: Block, buffer: str, at: int, *, final: bool) -> tuple[str, int]:
        """Feed the open block; return the remaining text, and the index at which to continue."""
        buffer, at = block.read(buffer, at, final=final)
        if block.over:
            self._finish(block)
        return buffer, at

    def _finish(self, block: Block) -> None:
        self._block = None
        dialect, raw, closed = block.dialect, "".join(block.pieces), block.closed
        if block.named:
            self.resolve(count=False)
            self._transcript.emit(block.opener + raw)
            return
        if block.shown:
            self._shown = True
            unclosed = not dialect.explicit and raw[-1:].isspace()
            self._transcript.show(block.opener + raw, word=unclosed)
            return
        whole = RawBlock(block.opener, raw, self._offered, closed)
        calls = dialect.calls(whole)
        if calls is None:
            as_reasoning, shown = dialect.shown(whole)
            self.resolve(count=False)
            self._transcript.emit(shown, as_reasoning=as_reasoning)
            return
        raw = block.opener + raw
        if all_undeclared(calls, self._offered, self._policy):
            self._shown = True
            self._transcript.emit(raw)
            return
        closed = closed and not dialect.closed_by_trailer
        self._last = found = [
            Found(check_call(call, self._offered), dialect, raw, closed) for call in calls
        ]
        if dialect in self._voids:
            void_calls(found, dialect, self._voids[dialect])
        self._after = dialect
        self._transcript.output.meet(dialect.line_ends, dialect.line_ends)
        if self._waits(block):
            self._pending.found += found
            self._pending.raw.append(raw)
            self._pending.dialect = dialect
            return
        self.found += found
        if self._early:
            self._early.finish(block.stream, found)

    def _trailers(self, dialect: TextDialect, buffer: str, at: int, *, final: bool) -> int:
        """Hide the markers that close the block, and the white space before them."""
        next_ = trailing(dialect, self._section, buffer, at, final=final)
        if next_ is None:
            return self._hold(buffer, at)
        raw = buffer[at : next_.stop]
        if raw:
            self._pending.raw += [raw] if self._pending.raw else []
            close_calls(self._last, raw)
            if (token := raw.strip()) in self._markup.noise:
                self._transcript.output.meet(*self._markup.line_ends(token))
        if next_.over:
            self._after = None
        return next_.stop

    def _between(self, buffer: str, at: int, *, final: bool) -> int:
        """Continue after calls that count only if no text follows: with more calls, or text."""
        pending, section = self._pending, self._section
        separators = GAP if pending.thought else _SEPARATORS
        gap = end_of(separators, buffer, at)
        if gap == at:
            if self._markup.may_begin(buffer, at, final=final):
                return self._hold(buffer, at)
            noise = self._markup.noise_at(buffer, at)
            gap += len(noise) if section is None or noise not in section.closers else 0
        if gap > at:
            if not pending.thought:
                pending.raw.append(buffer[at:gap])
            return gap
        if not pending.thought:
            only = None if section else pending.dialect
            opening = self._opening(buffer, at, only, final=final)
            if opening is WAIT:
                return self._hold(buffer, at)
            if opening and not opening.named:
                return self._open(opening, at)
        self.resolve(count=False)
        return at
