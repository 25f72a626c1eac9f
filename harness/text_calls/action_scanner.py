"""Read a reply in the action protocol as it arrives: emit reasoning and the answer, find calls.

A taught prompt describes this protocol: the reply is one JSON object with the key `action`. The
scanner emits `reasoning` while the string is still arriving, and also `content` if the action is
known to be `finish`. Before that, `content` may be a draft, so the scanner holds it back. It holds
a reply in a code block until the text ends, because a code block before prose is an example. If the
text is not a reply in the protocol, the scanner of the other text dialects reads it from its
beginning. The result does not depend on where the text was split, because no decision uses more
than the characters so far.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from harness.text_calls.action_object import ActionObject
from harness.text_calls.boundaries import end_of
from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.dialects.action_protocol import (
    ACTION_PROTOCOL,
    CALLS_KEY,
    FINISH,
    ActionReply,
    read_reply,
)
from harness.text_calls.found import Found, check_call
from harness.text_calls.json_scan import JsonString
from harness.text_calls.policy import TextPolicy
from harness.text_calls.scanner import Scanner
from harness.turns.json_prefix import PrefixState, scan

_SPACE = re.compile(r"[ \t\n\r\ufeff]*+")
# White space before the reply or after it. What is longer is not held before it, and dropped after.
_SPACE_CHARACTERS: Final = 224
_FENCE = re.compile(r"```(?:json|JSON)?[ \t]{0,8}\r?\n[ \t\n\r\ufeff]{0,224}+")
_CUT_FENCE = re.compile(r"`{1,3}|```(?:j|js|jso|json|J|JS|JSO|JSON)?[ \t]{0,8}\r?")
_FENCE_MARK: Final = "```"
_THINK: Final = {"<think>": "</think>", "<thinking>": "</thinking>"}
# What a reply begins with that is inside a string.
_WRAPPED_BEGINS: Final = '{"`'
# Words after a code block.
_WORDS_FOLLOW = re.compile(r"```\s*[^\s`]")
_LISTED: Final = f'"{CALLS_KEY}"'
_FOLLOWED: Final = "text follows the reply's JSON"


class ActionScanner:
    """Scans the visible text of one response for a reply in the action protocol.

    It has the same methods as `Scanner`.

    Fields:
        found: the calls so far.
    """

    def __init__(self, offered: Offered, policy: TextPolicy) -> None:
        self._emitted: list[tuple[bool, str]] = []
        self._offered = offered
        self._other = Scanner(offered, policy)
        # One list for both: what follows in the text may change what was found before.
        self.found: list[Found] = self._other.found
        self._phase: Callable[[str, int], int] = self._head
        self._replies = {"{": self._in_object, '"': self._in_string}
        self._held = ""  # what is too short to decide
        self._before = ""  # white space before the reply, and its fence
        self._fenced: bool
        self._fence: str  # what must still close it
        self._late: list[tuple[bool, str]] = []  # what a reply in a code block contains
        self._example: list[str] = []  # its raw text, if it is one
        self._closer: str  # of the reasoning in tags that we are in
        self._object = ActionObject()
        self._string = JsonString()
        self._raw: list[str] = []  # of a reply in a string, or of one that was truncated
        self._begun = False  # the string holds more than white space

    @property
    def blank(self) -> bool:
        """Whether no visible text, no call and no reply has arrived."""
        return self._phase in (self._thinking, self._others) and self._other.blank

    def begin_prompt(self, prompt_end: str) -> None:
        """Read what the prompt contains of the reply."""
        self.feed(prompt_end)

    def begin_reply(self) -> str:
        """Mark all text so far as part of the prompt; return the part that may still be emitted."""
        self._emitted.clear()
        raw = self._object.raw + "".join(self._raw)
        return self._before + raw + self._held + self._other.begin_reply()

    def take(self) -> list[tuple[bool, str]]:
        """Return (whether it is reasoning, text) for everything emitted since the last call."""
        emitted, self._emitted = self._emitted, []
        return emitted

    def passes(self, text: str) -> bool:
        """Return True if the caller may emit `text` unchanged; False if `feed` must get it."""
        return self._phase == self._others and self._other.passes(text)

    def feed(self, text: str) -> None:
        """Read the next part of the reply, which may end anywhere.

        What it completes is in `found`, and the text that may be shown is returned by `take`.
        """
        text, self._held = self._held + text, ""
        at = 0
        while at < len(text):
            at = self._phase(text, at)

    def settle(self) -> None:
        """Emit white space, as `Scanner.settle` does, unless the reply is in the protocol."""
        if self._phase == self._others:
            self._other.settle()
            self._take_other()

    def stop(self, token: str) -> None:
        """Process the stop token that the server removed, unless the reply is in the protocol."""
        if self._phase == self._others:
            self._other.stop(token)
            self._take_other()

    def close(self, *, with_native_calls: bool, cut: bool) -> None:
        """Process the end of the text. The arguments are those of `Scanner.close`."""
        if self._phase == self._thinking:
            self._emit(self._held, reasoning=True)
        elif self._phase in (self._in_object, self._in_broken):
            self._broken_off()
        elif self._phase in (self._head, self._in_string):
            self._pass_on(self._before + "".join(self._raw) + self._held)
        for reasoning, piece in self._late:
            self._emit(piece, reasoning=reasoning)
        self._other.close(with_native_calls=with_native_calls, cut=cut)

    def resolve(self, *, count: bool) -> None:
        """Add the calls that were undecided to `found` if `count`; otherwise emit their text."""
        self._other.resolve(count=count)
        self._take_other()

    # Before the reply

    def _head(self, text: str, at: int) -> int:
        """Decide from the start of the text how the reply is wrapped; return where to continue."""
        excess = end_of(_SPACE, text, at) - _SPACE_CHARACTERS
        if excess > at:
            self._emit(text[at:excess], reasoning=False)
            return excess
        head = text[at:]
        start = self._begin(head)
        if start is None:
            self._held = head
            return len(text)
        if self._phase == self._head:
            self._phase = self._others
            return at
        if self._phase != self._thinking:
            self._before = head[:start]
        return at + start

    def _begin(self, head: str) -> int | None:
        """Choose the next parsing step by the start of the text.

        Returns:
            the index at which to continue, or None if the decision needs more text.
        """
        start = end_of(_SPACE, head, 0)
        fence = _FENCE.match(head, start)
        if fence:
            start = fence.end()
        elif _may_begin(head[start:]):
            return None
        if start == len(head):
            return None
        opener = next((it for it in _THINK if not fence and head.startswith(it, start)), "")
        if opener:
            self._phase, self._closer = self._thinking, _THINK[opener]
        elif head[start] in self._replies:
            self._phase = self._replies[head[start]]
            self._fenced = fence is not None
            self._fence = _FENCE_MARK if fence else ""
        return start + len(opener)

    def _thinking(self, text: str, at: int) -> int:
        """Read reasoning in tags that precedes the reply; return where to continue."""
        thought, closer, _ = text[at:].partition(self._closer)
        if closer:
            self._emit(thought, reasoning=True)
            self._phase = self._head
            return at + len(thought) + len(closer)
        stop = thought.rfind("<")
        if not self._closer.startswith(thought[stop:]):
            stop = len(thought)
        self._emit(thought[:stop], reasoning=True)
        self._held = thought[stop:]
        return len(text)

    # The reply

    def _in_object(self, text: str, at: int) -> int:
        at += self._object.feed(text[at:])
        emitted, self._object.emitted = self._object.emitted, []
        for reasoning, piece in emitted:
            self._emit_reply(piece, reasoning=reasoning)
        if self._object.whole:
            raw = self._object.raw
            reply = read_reply(raw)
            if reply is not None:
                self._replied(reply, raw)
            elif scan(raw).state is PrefixState.COMPLETE:
                self._pass_on(self._before + raw)
            else:
                self._broke()
        elif self._object.stuck:
            self._broke()
        return at

    def _in_string(self, text: str, at: int) -> int:
        """Read a reply that is a JSON string. Hold it until it is complete or cannot be a reply."""
        piece, stop = self._string.feed(text, at if self._raw else at + len('"'))
        self._raw.append(text[at:stop])
        lead = piece[end_of(_SPACE, piece, 0) :]
        foreign = lead and not self._begun and lead[0] not in _WRAPPED_BEGINS
        self._begun = self._begun or bool(lead)
        if self._string.broken or foreign:
            self._pass_on(self._before + "".join(self._raw))
        elif self._string.ended:
            raw = "".join(self._raw)
            reply = read_reply(raw)
            if reply is None:
                self._pass_on(self._before + raw)
            else:
                self._replied(reply, raw)
        return stop

    def _replied(self, reply: ActionReply, raw: str) -> None:
        """Emit the rest of a complete reply, and store its calls in `found`."""
        if not self._object.reasoned:
            self._emit_reply(reply.reasoning, reasoning=True)
        self._emit_reply(reply.draft, reasoning=True)
        if not self._object.answered:
            self._emit_reply(reply.answer, reasoning=False)
        self._example = [self._before, raw]
        for entry in reply.entries:
            call = check_call(entry.call, self._offered)
            self.found.append(Found(call, ACTION_PROTOCOL, entry.raw or raw, closed=True))
        self._phase = self._after

    # A reply that is not JSON

    def _broke(self) -> None:
        """Choose how to read a reply that is not strict JSON, by what has been parsed so far."""
        begun = self._object
        if not begun.committed:
            self._pass_on(self._before + begun.raw)
        elif begun.action == FINISH and self._fenced:
            self._late = []
            self._pass_on(self._before + begun.raw)
        elif begun.action == FINISH:
            self._phase = self._plain
            if not begun.answered:
                self._plain(begun.raw, 0)
            elif begun.stuck:
                self._plain(begun.rest, 0)
        else:
            self._phase = self._in_broken

    def _in_broken(self, text: str, at: int) -> int:
        self._raw.append(text[at:])
        return len(text)

    def _broken_off(self) -> None:
        """Process a text that ended inside the reply: reject its calls, or emit the rest."""
        begun, more = self._object, "".join(self._raw)
        raw = begun.raw + more
        example = self._fenced and _WORDS_FOLLOW.search(more) is not None
        if example or not begun.committed:
            self._late = []
            self._pass_on(self._before + raw)
        elif begun.action != FINISH and (
            begun.lists or _LISTED in raw or begun.action or not (begun.stuck or begun.draft)
        ):
            raw = raw.rstrip().removesuffix(_FENCE_MARK).rstrip()
            call = WrittenCall("", error=_why_broken(raw))
            self.found.append(Found(call, ACTION_PROTOCOL, raw, closed=True))
        else:
            self._emit_reply("" if begun.answered else begun.draft, reasoning=False)
            self._emit_reply(begun.rest + more if begun.stuck else "", reasoning=False)

    # After the reply

    def _after(self, text: str, at: int) -> int:
        """Check that only the end of the code block follows the reply. Otherwise no call counts."""
        gap = end_of(_SPACE, text, at)
        space, rest = text[at:gap][:_SPACE_CHARACTERS], text[gap:]
        if self._fence and rest.startswith(self._fence):
            self._example.append(space + self._fence)
            self._fence = ""
            return gap + len(_FENCE_MARK)
        if self._fence.startswith(rest):
            self._held = space + rest
        elif self._fenced:
            self._late = []
            self.found.clear()
            self._pass_on("".join(self._example) + space + rest)
        else:
            for found in self.found:
                error = found.call.error or _FOLLOWED
                found.call = msgspec.structs.replace(found.call, error=error)
            self._emit(space, reasoning=False)
            self._phase = self._plain
            return gap
        return len(text)

    def _plain(self, text: str, at: int) -> int:
        self._emit(text[at:], reasoning=False)
        return len(text)

    # Text that is not a reply in the protocol

    def _pass_on(self, text: str) -> None:
        self._phase = self._others
        self._others(text, 0)

    def _others(self, text: str, at: int) -> int:
        self._other.feed(text[at:])
        self._take_other()
        return len(text)

    def _take_other(self) -> None:
        self._emitted += self._other.take()

    def _emit_reply(self, text: str, *, reasoning: bool) -> None:
        """Emit `text` of a reply at once. If the reply may be an example, keep it for later."""
        if not self._fenced:
            self._emit(text, reasoning=reasoning)
        elif text:
            self._late.append((reasoning, text))

    def _emit(self, text: str, *, reasoning: bool) -> None:
        if text:
            self._emitted.append((reasoning, text))


def _may_begin(head: str) -> bool:
    """Return whether `head` is an incomplete fence or tag that more text may complete."""
    return _CUT_FENCE.fullmatch(head) is not None or any(tag.startswith(head) for tag in _THINK)


def _why_broken(raw: str) -> str:
    found = scan(raw)
    if found.state is PrefixState.PREFIX:
        return "the text ended inside the reply's JSON"
    return f"the reply is not JSON at offset {found.offset}: expected {found.expected}"
