"""Read `[get_weather(city="Paris"), get_time()]`: calls in Python's syntax, in a list or in tags.

As the complete reply it is Llama 3.2's and Llama 4's zero-shot format. In tags it may have text
around it. Llama 4 puts it, or a JSON call, between `<|python_start|>` and `<|python_end|>`. Olmo 3
puts one call a line between `<function_calls>` tags. LFM2 puts a list or JSON, and MiniCPM 3 a code
block of calls, between `<|tool_call_start|>` and `<|tool_call_end|>`. Arguments are literals by
keyword, and nothing is evaluated. A list without tags must name an offered tool first, and it is
text if anything but calls is around it. Source: Meta's prompt format pages of Llama 3.2 and 4,
the chat templates of Olmo 3, LFM2, LFM2.5 and MiniCPM 3; quirk TEXT-PYTHONIC.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import (
    NAME,
    PYTHON_QUOTES,
    SPACE,
    BlockSyntax,
    Ending,
    Head,
    QuotedEnd,
    literal,
)
from harness.text_calls.dialect import BlockStart, Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_marked_calls
from harness.text_calls.native import clean_name
from harness.text_calls.python import read_python_calls, write_python_calls
from harness.text_calls.streamed import BlockStream, ChosenStream, JsonStream
from harness.text_calls.streamed_python import PythonStream

_LIST: Final = BlockSyntax(PYTHON_QUOTES, brackets=True)
_CLOSERS: Final = {
    "<|python_start|>": "<|python_end|>",
    "<function_calls>": "</function_calls>",
    "<|tool_call_start|>": "<|tool_call_end|>",
}
_TAGGED: Final = {
    opener: BlockSyntax(PYTHON_QUOTES, (end,), openers=(opener,))
    for opener, end in _CLOSERS.items()
}
_PYTHON = Head(SPACE, r"\[?+", SPACE, NAME, r"[ \t]*+", r"\(", commits=4)
_FENCED = Head(
    SPACE, *literal("```"), r"\w{0,10}+", r"\n", SPACE, NAME, r"[ \t]*+", r"\(", commits=1
)
_OBJECT = Head(SPACE, r"\{")
_EMPTY = Head(SPACE, r"\[", SPACE, r"\]")
_FENCE = re.compile(r"```\w{0,10}+\n(.*?)\s*(?:```)?\Z", re.DOTALL)
_JSON = re.compile(r"\[?\s*\{")
_NAME = re.compile(r"\s*+([^\W\d][\w.\-]*+|)[ \t]*+(.?)", re.DOTALL)


def _broken(text: str) -> WrittenCall:
    return WrittenCall(error=f"{text[:20]!r} is where a call in Python's syntax could be")


class Pythonic(TextDialect):
    """Reads and writes a list of Python calls without tags."""

    title = "Python calls as the whole reply (Llama 3.2 and 4)"
    openers = ("[",)
    explicit = False
    whole = True

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether the name of an offered tool and a parenthesis follow the bracket."""
        name, after = next(_NAME.finditer(start.head)).groups()  # both may be ""
        if not after:
            return None
        return after == "(" and clean_name(name, start.offered) in start.offered

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` that finds the bracket that closes the list."""
        return QuotedEnd(_LIST, depth=1)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls; None if the list contains anything else, because it is then text."""
        found = read_python_calls(block.raw)
        return found.calls if block.raw[found.stop :].strip() in ("", "]") else None

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one list with all calls in Python's syntax."""
        return f"[{', '.join(write_python_calls(calls))}]" if calls else ""


class TaggedPythonic(TextDialect):
    """Reads and writes Python calls between tags: a list, or one call on each line."""

    name = "pythonic-tags"
    title = "Python calls in tags or tokens (Llama 4, Olmo 3, LFM2)"
    openers = tuple(_CLOSERS)
    heads: ClassVar = {
        openers[0]: (_PYTHON, _OBJECT, _EMPTY),
        openers[1]: (_PYTHON,),
        openers[2]: (
            _PYTHON,
            _OBJECT,
            _EMPTY,
            Head(SPACE, r"\[", SPACE, r"\{", commits=2),
            _FENCED,
        ),
    }
    orphans = (_CLOSERS[openers[0]], _CLOSERS[openers[2]])
    noise = ("<|eom|>", "<|eot|>")
    markers = (*openers, *_CLOSERS.values())

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` that finds the closing tag outside of strings."""
        return QuotedEnd(_TAGGED[opener])

    def stream(self, _opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the calls while they arrive."""
        return ChosenStream(
            offered,
            lambda first: JsonStream(offered) if first == "{" else PythonStream(offered),
        )

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...]:
        """Return all calls of the block, and one call with an error for any other text in it."""
        body = block.raw.strip()
        closer_at = body.rfind("<")
        # The end of the text may cut it.
        if _CLOSERS[block.opener].startswith(body[closer_at:]):
            body = body[:closer_at].rstrip()
        fenced = _FENCE.match(body)
        body = fenced[1] if fenced else body
        if _JSON.match(body):
            error = "the JSON in the tag names no tool"
            return read_marked_calls(body, block.offered, error)
        at = 1 if body.startswith("[") else 0
        found = read_python_calls(body, at, (",", ";"))
        rest = body[found.stop :]
        if rest in ("", "]" * at):
            return found.calls
        return (*found.calls, _broken(rest))

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one list with all calls between one pair of tags."""
        written = ", ".join(write_python_calls(calls))
        return f"<|python_start|>[{written}]<|python_end|>" if calls else ""
