"""Read Kimi K3's XTML, in which the words of tags are ordinary text between three special tokens.

    <|open|>tools<|sep|>
    <|open|>call tool="NAME" index="1"<|sep|>
    <|open|>argument key="KEY" type="string"<|sep|>VALUE<|close|>argument<|sep|>
    <|close|>call<|sep|>
    <|close|>tools<|sep|>

The model writes all of it without line ends. `type` tells a string from JSON. A string is written
as it is. In attributes `&`, `<`, `>` and quotes are escaped. All arguments may also come as one
object, in a tag `json`. Before the calls come a section of reasoning and one of the answer. The
prompt has opened the first of them. Source: Moonshot's renderer `encoding_k3.py`, as the parsers of
vLLM (pull request 50093), llama.cpp and xgrammar (pull request 806) describe it.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final
from xml.sax.saxutils import escape

from harness.text_calls.boundaries import SPACE, Head, literal
from harness.text_calls.dialect import RawBlock, WrittenCall
from harness.text_calls.json_calls import read_members
from harness.text_calls.tag_blocks import JSON_IN_TAG, TagDialect
from harness.text_calls.tags import Grammar, written_members

_OPEN: Final = "<|open|>"
_CLOSE: Final = "<|close|>"
_SEP: Final = "<|sep|>"
_BLOCK: Final = f"{_OPEN}tools{_SEP}"
_CALL: Final = f"{_OPEN}call"
_ENDS: Final = tuple(f"{_CLOSE}{word}{_SEP}" for word in ("argument", "json", "call", "tools"))
_ANSWER: Final = (f"{_OPEN}response{_SEP}", f"{_CLOSE}response{_SEP}")
_MESSAGE: Final = (f"{_CLOSE}message{_SEP}", "<|end_of_msg|>")

_O, _C, _S = map(re.escape, (_OPEN, _CLOSE, _SEP))
_VALUE: Final = r'"[^"\n]{0,128}"'
_MORE: Final = rf"(?:\s{{1,4}}index={_VALUE})?{_S}"
# An opening tag that no other tag follows is part of a value that speaks of it.
_TAGS: Final = re.compile(
    rf"(?P<block>{_O}tools{_S}(?=\s{{0,16}}{_O}call\s))"
    rf"|(?P<end_block>{_C}tools{_S})"
    rf'|(?P<call>{_O}call\s{{1,4}}tool="(?P<name>[^"\n]{{1,128}})"{_MORE}'
    rf"(?=\s{{0,16}}(?:{_O}(?:argument|json)\s|{_C}call{_S})))"
    rf"|(?P<end_call>{_C}call{_S})"
    rf'|(?P<parameter>{_O}(?:argument\s{{1,4}}key="(?P<key>[^"\n]{{1,128}})"|json)'
    rf'(?:\s{{1,4}}type="(?P<string>[a-z]{{1,16}})")?{_S})'
    rf"|(?P<end_parameter>{_C}(?:argument|json){_S})"
)
_TOOL: Final = (r"\s{1,4}", *literal('tool="'))
# Up to the second tag of the call, which a sentence about the first does not have.
_CALLED: Final = (
    *_TOOL,
    *(r'[^"\n]{1,128}+', '"', r"[^<>\n]{0,160}+", *literal(_SEP), SPACE, *literal("<|"), "[oc]"),
)
_TYPES: Final = {"t": "boolean", "f": "boolean", "n": "null", "{": "object", "[": "array"}


class KimiK3(TagDialect):
    """Reads and writes calls in the XTML tags of Kimi K3."""

    grammar = Grammar(_TAGS, span=420, escaped=True)
    title = "XTML between special tokens (Kimi K3)"
    openers = (_BLOCK, _CALL)
    heads: ClassVar = {
        _BLOCK: (Head(SPACE, *literal(_CALL), commits=0), Head(SPACE, *literal(_ENDS[-1]))),
        _CALL: (Head(*_TOOL),),
    }
    empty: ClassVar = {_BLOCK: _ENDS[-1]}
    broken: ClassVar = {_BLOCK: (JSON_IN_TAG,)}
    meant: ClassVar = {
        _BLOCK: (Head(SPACE, *literal(_CALL), *_CALLED, commits=1), heads[_BLOCK][1]),
        _CALL: (Head(*_CALLED, commits=1),),
    }
    trailers = (_ENDS[-1],)
    orphans = _ENDS
    noise = (*_ANSWER, *_MESSAGE)
    markers = (*openers, *orphans, *noise, _OPEN, _CLOSE, _SEP)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...]:
        """Return a call for each call tag. A tag `json` in it contains all arguments."""
        return tuple(map(_with_json_body, super().calls(block)))

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one block, without line ends."""
        return f"{_BLOCK}{''.join(map(_written, calls, range(1, len(calls) + 1)))}{_ENDS[-1]}"


def _with_json_body(call: WrittenCall) -> WrittenCall:
    members = read_members(call.arguments) or {}
    if "" not in members:
        return call
    if len(members) > 1:
        return WrittenCall(call.name, error="a tag `json` is next to other arguments")
    return WrittenCall(call.name, members[""])


def _written(call: WrittenCall, index: int) -> str:
    arguments = "".join(
        f'{_OPEN}argument key="{_attribute(key)}" type="{"string" if is_string else _type(text)}"'
        f"{_SEP}{text}{_ENDS[0]}"
        for key, text, is_string in written_members(call.arguments)
    )
    return f'{_CALL} tool="{_attribute(call.name)}" index="{index}"{_SEP}{arguments}{_ENDS[2]}'


def _type(text: str) -> str:
    return _TYPES.get(text[0], "number")


def _attribute(text: str) -> str:
    return escape(text, {'"': "&quot;"})
