"""Read `<|python_tag|>{"name": ..., "parameters": {...}}<|eom_id|>`: Llama 3.x.

After the tag come one JSON object, or several with semicolons between them. It may also be a call
of a tool that the model was trained on, `brave_search.call(query="...")`, whose literals are read
and never evaluated. Python code for an interpreter has the same tag and is not a call, so the tag
with anything else stays text. The end tokens have no meaning. Source: prompt format and chat
template of Llama 3.1; quirks TEXT-PYTHON-TAG, TEXT-PARAMETERS-KEY.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

import msgspec

from harness.text_calls.boundaries import (
    NAME,
    PYTHON_QUOTES,
    SPACE,
    BlockSyntax,
    Ending,
    Head,
    QuotedEnd,
    chosen_end,
)
from harness.text_calls.dialect import Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_marked_calls, write_json_call
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.python import read_python_calls
from harness.text_calls.streamed import BlockStream, ChosenStream, JsonStream
from harness.text_calls.streamed_python import PythonStream

_TAG: Final = "<|python_tag|>"
_ENDS: Final = ("<|eom_id|>", "<|eot_id|>")
_METHOD: Final = ".call"
_CALL = BlockSyntax(PYTHON_QUOTES, brackets=True)


class PythonTag(TextDialect):
    """Reads and writes calls after Llama's token `<|python_tag|>`."""

    title = "JSON or a built-in call after <|python_tag|> (Llama 3.x)"
    openers = (_TAG,)
    heads: ClassVar = {
        _TAG: (
            Head(SPACE, r"\{"),
            Head(SPACE, r"\[", SPACE, r"\{", commits=1),
            Head(SPACE, NAME, r"(?<=\.call)\("),
        )
    }
    noise = _ENDS
    markers = (_TAG, *_ENDS)

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` for the end of the last object, or of the Python call."""
        return chosen_end(_ending)

    def stream(self, _opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the JSON while it arrives."""
        return ChosenStream(
            offered,
            lambda first: JsonStream(offered) if first == "{" else PythonStream(offered, _METHOD),
        )

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls of all objects, or the one call in Python's syntax."""
        body = block.raw.strip()
        if body.startswith(("{", "[")):
            error = "the JSON after the tag names no tool"
            return read_marked_calls(body, block.offered, error)
        found = read_python_calls(body)
        return tuple(_plain(call, block.offered) for call in found.calls) or (
            WrittenCall(error="what follows the tag is not a call"),
        )

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one token with all calls after it."""
        written = "; ".join(write_json_call(call, arguments="parameters") for call in calls)
        return f"{_TAG}{written}{_ENDS[0]}" if calls else ""


def _plain(call: WrittenCall, offered: Offered) -> WrittenCall:
    """Return the call without the method `.call` in its name, unless a tool has that name."""
    if call.name in offered:
        return call
    return msgspec.structs.replace(call, name=call.name.removesuffix(_METHOD))


def _ending(first: str) -> Ending:
    if first in ("[", "{"):
        return JsonEnd(several=True, closers=_ENDS, openers=(_TAG,))
    return QuotedEnd(_CALL)
