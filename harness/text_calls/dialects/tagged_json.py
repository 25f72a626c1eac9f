"""Read `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`: Hermes, Qwen 2.5 and 3.

Each call is one JSON object in a tag. Some models write several objects in one tag, an array,
`parameters` for `arguments`, or the flat form of a prompt, `{"tool": NAME, ...}`. Taught prompts
use this format, too. The closing tag may be missing, and may be inside a string argument, where it
is data. A tag around a few words of anything else is a broken call. A tag that a space follows, or
that is not closed soon, is prose about the tag. Source: chat templates of Hermes 2 Pro and
Qwen2.5; quirks TEXT-HERMES, TEXT-UNCLOSED, TEXT-DELIMITER-IN-VALUE.
"""

import re
from typing import Final

from harness.text_calls.boundaries import MORE, Ending, chosen_end, end_of, literal_end
from harness.text_calls.dialect import BlockStart, Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import iter_values, read_json_calls, write_json_call
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.streamed import BlockStream, JsonStream

OPENER: Final = "<tool_call>"
CLOSER: Final = "</tool_call>"
# How far after the JSON a closing tag is looked for, white space included.
_SOON: Final = 512
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*+\n")
# How far a closing tag is looked for: up to the next call, or the next paragraph.
_STOP: Final = re.compile(rf"{OPENER}|{_BLANK_LINE.pattern}")
_BETWEEN: Final = re.compile(r"[ \t\n\r,;]*+")
_CODE_FENCE: Final = re.compile(r"[ \t\n\r]*+(?:`{3,}|~{3,})")


class TagEnd(Ending):
    """Finds the end of a block of JSON in a tag.

    Args:
        fenced: the JSON is in a code block inside the tag.
    """

    def __init__(self, *, fenced: bool) -> None:
        self._fenced = fenced
        self._json = JsonEnd(several=True, closers=(CLOSER,), openers=(OPENER,))
        self._json_end = MORE
        self._pieces: list[str] = []  # the block, until its JSON is over
        self._tail: str  # what follows the JSON, as much as matters

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        if self._json_end != MORE:
            self._tail = (self._tail + text[start : start + _SOON])[:_SOON]
            return self._behind(final=False)
        self._pieces.append(text[start:])
        end = self._json.feed(text, start)
        if end == MORE:
            return MORE
        whole = "".join(self._pieces)
        if self._json.broken:
            return end if whole.startswith(CLOSER, end) else self._before_blank(whole, end)
        self._json_end, self._tail = end, whole[end : end + _SOON]
        return self._behind(final=False)

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        if self._json_end != MORE:
            return self._behind(final=True)
        return self._before_blank("".join(self._pieces), self._json.close())

    def _behind(self, *, final: bool) -> int:
        """Return the end of the block, judged by the text after its JSON; `MORE` if undecided."""
        tail, at = self._tail, self._json_end
        fence = _CODE_FENCE.match(tail) if self._fenced else None
        own = fence.end() if fence else 0
        gap = end_of(_BETWEEN, tail, own)
        body = tail[gap:]
        if body.startswith(CLOSER):
            return at + gap
        if body.startswith(OPENER):
            return self._reopened(gap + len(OPENER), final=final)
        stop = _STOP.search(tail)
        before, closer, _ = tail[: stop.start() if stop else _SOON].partition(CLOSER)
        if closer:
            return at + len(before)
        if final or len(tail) == _SOON:
            return at + own
        begun = any(tag.startswith(body) for tag in (CLOSER, OPENER))
        return at + own if stop and not begun else MORE

    def _reopened(self, end: int, *, final: bool) -> int:
        """Return the end of the block before or after an opening tag; `MORE` if undecided.

        Such a tag begins another call, or the model wrote it instead of the closing tag.
        """
        if self._tail[end:].strip():
            return self._json_end
        return self._json_end + end if final else MORE

    def _before_blank(self, whole: str, end: int) -> int:
        """Return the index of the blank line near or after broken JSON, if it is before `end`."""
        at = self._json.broken_at
        if at == MORE:  # in a string, which may have blank lines
            return end
        line = whole.rfind("\n", 0, at)
        before = max(len(whole[: line + 1].rstrip()), self._json.string_end)
        blank = _BLANK_LINE.search(whole, before)
        return blank.start() if blank and (end == MORE or blank.start() < end) else end


# Around the tags of all calls, as in other families.
_WRAPPER: Final = "<tool_calls>"
_UNWRAPPER: Final = "</tool_calls>"
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*+\w*+\s*+")
_FENCE_MARKS: Final = ("`", "~")
_BRACKETS: Final = ("{", "[")
_OPENERS = re.compile(rf"(?:{OPENER}\s*+)*+")
_TAGS_AND_JSON = re.compile(rf"(?:{OPENER}\s*+)++[{{\[]")


class TaggedJson(TextDialect):
    """Reads and writes calls as JSON in `<tool_call>` tags."""

    title = "JSON in <tool_call> tags (Hermes, Qwen 2.5 and 3, taught by prompt)"
    line_ends = 1
    openers = (OPENER, _WRAPPER)
    trailers = (CLOSER, _UNWRAPPER)
    closed_by_trailer = True
    orphans = (CLOSER,)
    markers = (OPENER, CLOSER, _WRAPPER, _UNWRAPPER)

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a call follows the opening tag: JSON, also behind further tags or a fence.

        Other text counts as a damaged call if the closing tag comes soon after it.
        """
        body = start.head.lstrip()
        if not body:
            return None
        json = _json(body, final=start.final)
        if json is None or json:
            return json and start.opener == OPENER
        if start.head[0] == " ":
            return False
        if OPENER.startswith(body[: len(OPENER)]) or start.opener == _WRAPPER:
            return _tags_and_json(body)
        if body[0] in _FENCE_MARKS:
            return _fenced_json(body)
        return _garbage(body, final=start.final)

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return whether text precedes the closing tag.

        A sentence about the tags may show them side by side, and is not a call.
        """
        return not start.head.lstrip().startswith(CLOSER)

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` for the closing tag after the JSON, or the end of the JSON."""
        return literal_end(OPENER, inclusive=False) if opener == _WRAPPER else chosen_end(_ending)

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the JSON while it arrives."""
        return None if opener == _WRAPPER else JsonStream(offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return a call, perhaps a broken one, for each value; () for a repeated opening tag."""
        body = block.raw.strip().removesuffix(OPENER).rstrip()
        if not body:
            return ()
        if fence := _FENCE.match(body):
            body = body[fence.end() :].rstrip(fence[1]).rstrip()
        if not body.startswith(_BRACKETS):
            return (WrittenCall("", error="the content of the tag is not JSON"),)
        calls = read_json_calls(body, block.offered)
        if calls is None:
            return (WrittenCall("", error="the JSON in the tag names no tool"),)
        return (_overfull(calls),) if _has_more(body) else calls

    def write_call(self, call: WrittenCall) -> str:
        """Return one tag with the call as JSON."""
        return f"{OPENER}\n{write_json_call(call)}\n{CLOSER}"


def _ending(first: str) -> Ending:
    if first in {"{", "[", *_FENCE_MARKS}:
        return TagEnd(fenced=first in _FENCE_MARKS)
    return literal_end(CLOSER, OPENER, inclusive=False)


def _json(body: str, *, final: bool) -> bool | None:
    """Return whether `body` begins an object or array, not words such as `[TOOL_CALLS]`."""
    if body[0] != "[":
        return body[0] == "{"
    inside = body[1:].lstrip()
    if not inside:
        return True if final else None
    return not inside[0].isalpha()


def _garbage(body: str, *, final: bool) -> bool | None:
    """Return whether a closing tag soon follows text that is not JSON, unlike in prose."""
    garbage, closer, rest = body.partition(CLOSER)
    if OPENER in garbage or "\n\n" in garbage:
        return False
    if not closer:
        return None
    if not garbage:
        # Nothing is in the tags: left out if nothing else is on the line.
        more = rest.lstrip(" \t\r")
        return more[0] in "\n<" if more else True if final else None
    # Three dots represent a call, and are not one.
    return any(map(str.isalnum, garbage))


def _tags_and_json(body: str) -> bool | None:
    """Return whether JSON follows further opening tags; None if the text is too short."""
    rest = body[end_of(_OPENERS, body, 0) :]
    return None if OPENER.startswith(rest) else _TAGS_AND_JSON.match(body) is not None


def _fenced_json(body: str) -> bool | None:
    """Return whether JSON follows the start of a code block; None if the text is too short."""
    fence = _FENCE.match(body)
    rest = body[fence.end() :] if fence else ""
    return rest.startswith(_BRACKETS) if rest else None


def _has_more(body: str) -> bool:
    """Return whether anything other than JSON follows the JSON in `body`."""
    *_, last = iter_values(body)
    return not last.startswith(_BRACKETS)


def _overfull(calls: tuple[WrittenCall, ...]) -> WrittenCall:
    error = "something else follows the JSON in the tag"
    return WrittenCall(calls[0].name, id=calls[0].id, error=error)
