"""Read `[TOOL_CALLS]` of Mistral's models: an array of calls, or a name and its arguments.

    v3 to v7: [TOOL_CALLS] [{"name": ..., "arguments": {...}, "id": ...}, ...]
    v11:      [TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{...}
    v13:      [TOOL_CALLS]NAME[ARGS]{...}, and without [ARGS] where an engine dropped it

The later formats have one marker for each call. Some replies have one marker for all calls, with
commas between them. The end token may follow text, too; it is text if HTML's tag of that name is
open. Source: Mistral's tokenizers and chat templates (mistral_common); quirk
TEXT-MISTRAL-ARGS-MARKER.
"""

import re
from collections.abc import Iterator
from typing import Final

from harness.text_calls.boundaries import MORE, Ending, Head, any_of, chosen_end, literal
from harness.text_calls.dialect import (
    HEAD_CHARACTERS,
    BlockStart,
    Offered,
    RawBlock,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.json_calls import read_marked_calls
from harness.text_calls.json_end import JsonEnd, headed_end
from harness.text_calls.streamed import BlockStream, ChosenStream, HeadedStream, JsonStream
from harness.turns.json_prefix import scan


class ListedEnd(Ending):
    """Finds the end of a block of several calls, each but the first with a name before it."""

    def __init__(self) -> None:
        # The part that continues, and where it began; None between two.
        self._current: Ending | None = _part_end()
        self._base = 0
        self._end: int  # of the last part
        self._rest = ""  # what came after it
        self._taken = 0

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        fresh = text[start:]
        buffer, offset = self._rest + fresh, self._taken - len(self._rest)
        self._taken += len(fresh)
        at, self._rest = 0, ""
        while True:
            if self._current is None:
                goes_on = self._goes_on(buffer[at : at + HEAD_CHARACTERS], final=False)
                if goes_on is None:
                    self._rest = buffer[at:]
                    return MORE
                if not goes_on:
                    return self._end
                self._current, self._base = _part_end(), offset + at
            end = self._current.feed(buffer, at)
            if end == MORE:
                return MORE
            at = self._base + end - offset
            if at < 0:
                return self._base + end
            self._current, self._end = None, self._base + end

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        cut = self._current is not None or self._goes_on(self._rest, final=True)
        return MORE if cut else self._end

    def _goes_on(self, rest: str, *, final: bool) -> bool | None:
        return any_of(lead.matches(rest, final=final) for lead in _LEADS)


_OPENER: Final = "[TOOL_CALLS]"
_CALL_ID: Final = "[CALL_ID]"
_ARGS: Final = "[ARGS]"
_END: Final = "</s>"
_AFTER_NAME: Final = (_ARGS, _CALL_ID, "{")
_NAME = re.compile(r"([\w./:-]+)\s*")
_CALL = re.compile(
    r"[\s,]*(?P<name>[^\s\[{]+)\s*(?:\[CALL_ID\]\s*(?P<id>[^\s\[{]*)\s*)?(?:\[ARGS\]\s*)?"
)
# Arguments without a name before them, or with words.
_NAMELESS: Final = Head(
    r"(?:[^\[{\n]{0,64}[^\w.\[{\n/:-][^\[{\n]{0,64}+)?+", *literal(_ARGS), commits=2
)
# How another call follows one after the same marker.
_LISTED: Final = (r"\s{0,24}+", r",", r"\s{0,24}+", r"[\w./:-]{1,128}+")
_LEADS: Final = (
    Head(*_LISTED, r"\{"),
    *(Head(*_LISTED, r"\s{0,24}+", *literal(it), commits=5) for it in (_ARGS, _CALL_ID)),
)


class MistralToolCalls(TextDialect):
    """Reads and writes calls after the marker `[TOOL_CALLS]`.

    `write` uses the format v11 for a call with an id, and v13 for other calls.
    """

    title = "[TOOL_CALLS] with an array, or with name, id and arguments (Mistral)"
    openers = (_OPENER,)
    noise = (_END,)
    markers = (_OPENER, _CALL_ID, _ARGS, _END)

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether JSON, a name and its arguments, or the end token follows the marker."""
        body = start.head.lstrip()
        if not body:
            return None
        if start.edge and (broken := _NAMELESS.matches(body, final=start.final)) is not False:
            return broken
        return self._follows(start, body)

    def _follows(self, start: BlockStart, body: str) -> bool | None:
        if body[0] == "[":
            first = body[1:].lstrip()
            return first[0] in "{]" if first else start.final or None
        name = _NAME.match(body)
        if name is None:
            return body[0] == "{"
        rest = body[name.end() :]
        if rest.startswith((*_AFTER_NAME, _END)):
            return name[1] in start.offered or not rest.startswith(_END)
        if not any(it.startswith(rest) for it in (*_AFTER_NAME, _END)):
            return False
        return (bool(rest) or start.offered.begins(name[1])) if start.final else None

    def in_sentence(self, start: BlockStart) -> bool | None:
        """Return whether arguments follow a name, and not words about the marker."""
        body = start.head.lstrip()
        call = _CALL.match(body)
        if call is None:
            return True
        rest = body[call.end() :]
        if not any(it.startswith(rest) for it in _AFTER_NAME):
            return rest.startswith(_AFTER_NAME)
        return start.final or (True if rest == "{" else None)

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` for the end of the JSON, or for the next marker if JSON is broken."""
        return chosen_end(_ending)

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the array, or the first name and its arguments."""
        return ChosenStream(
            offered,
            lambda first: (
                JsonStream(offered) if first == "{" else HeadedStream(self, opener, offered)
            ),
        )

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls of the array, or the calls whose names precede their arguments."""
        body = block.raw.strip()
        if body.startswith(("[", "{")) and not body.startswith((_ARGS, _CALL_ID)):
            error = "the JSON after the marker names no tool"
            return read_marked_calls(body, block.offered, error)
        named = tuple(_named(body))
        return named or (WrittenCall(error="no name is between the marker and the arguments"),)

    def write_call(self, call: WrittenCall) -> str:
        """Return the call with a marker before it."""
        call_id = _CALL_ID + call.id if call.id else ""
        return f"{_OPENER}{call.name}{call_id}{_ARGS}{call.arguments or '{}'}"


def _named(body: str) -> Iterator[WrittenCall]:
    """Yield the calls that follow one another, each as a name and its arguments."""
    at = 0
    while match := _CALL.match(body, at):
        found = scan(body, match.end()) if body.startswith("{", match.end()) else None
        # What is not a complete object continues to the end.
        at = found.end if found and found.end != -1 else len(body)
        arguments = body[match.end() : at]
        error = "" if arguments else "no arguments follow the name"
        yield WrittenCall(match["name"], arguments, match["id"] or "", error)


def _ending(first: str) -> Ending:
    return JsonEnd(closers=(_END,), openers=(_OPENER,)) if first == "[" else ListedEnd()


def _part_end() -> Ending:
    return headed_end((_END,), (_OPENER,), brackets=("{",))
