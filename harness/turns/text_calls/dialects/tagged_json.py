"""`<tool_call>{"name": ..., "arguments": {...}}</tool_call>`: Hermes, Qwen 2.5 and 3, taught tags.

One JSON object in a tag, one tag for each call; some models write several objects in one tag,
an array, `parameters` for `arguments`, or the flat form of a prompt, `{"tool": NAME, ...}`.
The closing tag may be missing, and may stand inside a string argument, where it is data. A
tag around a few words of anything else is a broken call; a tag that a space follows, or that
is not closed soon, is prose about the tag. Source: chat templates of Hermes 2 Pro and
Qwen2.5; quirks TEXT-HERMES, TEXT-UNCLOSED, TEXT-DELIMITER-IN-VALUE.
"""

import re
from collections.abc import Sequence
from typing import Final

from harness.turns.text_calls.dialect import TextDialect
from harness.turns.text_calls.endings import Ending, literal_end
from harness.turns.text_calls.headed_end import ChosenEnd
from harness.turns.text_calls.json_calls import read_calls, values, written
from harness.turns.text_calls.offered import Offered
from harness.turns.text_calls.spelled import SpelledCall
from harness.turns.text_calls.tag_end import TagEnd

OPENER: Final = "<tool_call>"
CLOSER: Final = "</tool_call>"
# Around the tags of all calls, as in other families.
_WRAPPER: Final = "<tool_calls>"
_UNWRAPPER: Final = "</tool_calls>"
_FENCE = re.compile(r"(?:`{3,}|~{3,})[ \t]*+\w*+\s*+")
_OPENERS = re.compile(rf"(?:{OPENER}\s*+)*+")


class TaggedJson(TextDialect):
    """See the module."""

    name = "tagged-json"
    title = "JSON in <tool_call> tags (Hermes, Qwen 2.5 and 3, taught by prompt)"
    openers = (OPENER, _WRAPPER)
    trailers = (CLOSER, _UNWRAPPER)
    closed_by_trailer = True
    orphans = (CLOSER,)
    markers = (OPENER, CLOSER, _WRAPPER, _UNWRAPPER)

    def starts(self, opener: str, head: str, offered: Offered, *, final: bool) -> bool | None:
        """JSON follows the tag or tags, or garbage that is closed soon."""
        del offered
        body = head.lstrip()
        if not body:
            return False if final else None
        json = _json(body, final=final)
        if json is None or json:
            return json and opener == OPENER
        if head[0] == " ":
            return False
        if OPENER.startswith(body[: len(OPENER)]) or opener == _WRAPPER:
            return _tags_and_json(body, final=final)
        if body[0] in "`~":
            return _fenced_json(body, final=final)
        return _garbage(body, final=final)

    def ending(self, opener: str) -> Ending:
        """The end of the JSON, or the closing tag behind it, or where it is broken."""
        return literal_end(OPENER, inclusive=False) if opener == _WRAPPER else ChosenEnd(_ending)

    def calls(
        self, opener: str, raw: str, offered: Offered, *, closed: bool
    ) -> tuple[SpelledCall, ...] | None:
        """Every value in the tag is a call, or a broken one; an opening tag too many is none."""
        del opener, closed
        body = raw.strip().removesuffix(OPENER).rstrip()
        if not body:
            return ()
        if body[0] in "`~":
            body = _FENCE.sub("", body, count=1).rstrip("`~ \t\r\n")
        if not body.startswith(("{", "[")):
            return (SpelledCall("", error="what stands in the tag is no JSON"),)
        calls = read_calls(body, offered)
        if calls is None:
            return (SpelledCall("", error="the JSON in the tag names no tool"),)
        return (_overfull(calls),) if _has_more(body) else calls

    def write(self, calls: Sequence[SpelledCall]) -> str:
        """One tag for each call, with nothing between that would be text."""
        return "".join(f"{OPENER}\n{written(call)}\n{CLOSER}" for call in calls)


def _ending(first: str) -> Ending:
    return TagEnd(OPENER, CLOSER, fenced=first in "`~")


def _json(body: str, *, final: bool) -> bool | None:
    """Whether an object or an array begins; `[TOOL_CALLS]` and other words in brackets do not."""
    if body[0] != "[":
        return body[0] == "{"
    inside = body[1:].lstrip()
    if not inside:
        return True if final else None
    return not inside[0].isalpha()


def _garbage(body: str, *, final: bool) -> bool | None:
    """Whether what is no JSON is closed within the head; prose about the tag is not."""
    garbage, closer, _ = body.partition(CLOSER)
    if OPENER in garbage or "\n\n" in garbage:
        return False
    if closer:
        # Three dots stand for a call, and are none.
        return any(map(str.isalnum, garbage))
    return False if final else None


def _tags_and_json(body: str, *, final: bool) -> bool | None:
    """Whether JSON follows further opening tags."""
    tags = _OPENERS.match(body)
    rest = body[tags.end() :] if tags else body
    if rest and not OPENER.startswith(rest):
        return rest[0] in "{[" and bool(tags and tags[0])
    return False if final else None


def _fenced_json(body: str, *, final: bool) -> bool | None:
    """Whether a code block begins with JSON."""
    fence = _FENCE.match(body)
    rest = body[fence.end() :] if fence else ""
    if rest:
        return rest[0] in "{["
    short = fence is not None or body.strip(body[0]) == ""
    return None if short and not final else False


def _has_more(body: str) -> bool:
    """Whether something stands behind the JSON."""
    *_, last = values(body)
    return last[0] not in "{["


def _overfull(calls: tuple[SpelledCall, ...]) -> SpelledCall:
    error = "something else stands behind the JSON in the tag"
    return SpelledCall(calls[0].name, id=calls[0].id, error=error)


TAGGED_JSON: Final = TaggedJson()
