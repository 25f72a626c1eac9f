"""`<function=NAME>{"key": value}</function>`: Llama 3.1's custom tool format, and functionary.

The arguments are JSON, so a closing tag inside a string of them is data. The opener is that
of `qwen-xml` too: here a JSON object follows the tag, there another tag. Source: Meta's prompt
format of Llama 3.1, "user-defined custom tool calling"; chat template of functionary v3.1;
quirk TEXT-DIALECT-COLLISION.
"""

from collections.abc import Sequence
from typing import Final

from harness.text_calls.boundaries import MORE, NAME, SPACE, Ending, Head, literal
from harness.text_calls.dialect import Offered, TextDialect, WrittenCall
from harness.text_calls.json_scan import JsonEnd
from harness.turns.json_prefix import PrefixState, scan

_CALL: Final = "<function="
_BLOCK: Final = "<tool_call>"
_CLOSER: Final = "</function>"
_NAMED: Final = (NAME, ">", SPACE, r"\{")
_HEAD: Final = Head(*_NAMED)
_IN_BLOCK: Final = Head(SPACE, *literal(_CALL), *_NAMED)


class _BodyEnd(Ending):
    """The end of the JSON object that follows the tag, or its closing tag if it is no JSON."""

    __slots__ = ("_head", "_json", "_taken")

    def __init__(self) -> None:
        self._json = JsonEnd(closers=(_CLOSER, "</tool_call>", _CALL, _BLOCK))
        # How many characters stand before the object; MORE where it has not begun.
        self._head = MORE
        self._taken = 0

    def feed(self, text: str, start: int) -> int:
        """See `Ending.feed`."""
        if self._head == MORE:
            place = text.find("{", start)
            if place < 0:
                self._taken += len(text) - start
                return MORE
            self._head = self._taken + place - start
            start = place
        return self._after(self._json.feed(text, start))

    def close(self) -> int:
        """See `Ending.close`."""
        return MORE if self._head == MORE else self._after(self._json.close())

    def _after(self, end: int) -> int:
        return MORE if end == MORE else self._head + end


class LlamaFunction(TextDialect):
    """See the module."""

    name = "llama-function"
    title = "A function tag around JSON (Llama 3.1, functionary)"
    openers = (_CALL, _BLOCK)
    trailers = (_CLOSER, "</tool_call>", "<|eom_id|>", "<|eot_id|>")
    closed_by_trailer = True
    orphans = (_CLOSER,)
    markers = (_CALL, _CLOSER)

    def starts(self, opener: str, head: str, offered: Offered, *, final: bool) -> bool | None:
        """A name and the start of an object follow."""
        del offered
        return (_IN_BLOCK if opener == _BLOCK else _HEAD).verdict(head, final=final)

    def ending(self, opener: str) -> Ending:
        """The end of the object."""
        del opener
        return _BodyEnd()

    def calls(
        self, opener: str, raw: str, offered: Offered, *, closed: bool
    ) -> tuple[WrittenCall, ...] | None:
        """The block is one call."""
        del opener, offered, closed
        named, _, body = raw.partition(">")
        name = named.rpartition("=")[2].strip()
        arguments = body.strip()
        found = scan(arguments)
        if found.state is PrefixState.COMPLETE:
            return (WrittenCall(name, arguments),)
        if found.state is PrefixState.PREFIX:
            return (WrittenCall(name, error="the text ended inside the call's arguments"),)
        where = f"at offset {found.offset}: expected {found.expected}"
        return (WrittenCall(name, error=f"the call's arguments are no JSON {where}"),)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """One tag after the other."""
        return "".join(f"{_CALL}{call.name}>{call.arguments or '{}'}{_CLOSER}" for call in calls)


LLAMA_FUNCTION: Final = LlamaFunction()
