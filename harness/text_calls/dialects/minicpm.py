"""Read tags `function` and `param`, in which a value may be a CDATA section: MiniCPM 5.

    <function name="NAME"><param name="KEY">VALUE</param></function>

The template puts a string with `<`, `&` or a line end into CDATA, in which a tag is text. It prints
other values as Python does; the type comes from the schema. Source: the chat template of
MiniCPM5-1B in `models/templates` of llama.cpp, and vLLM's parser.
"""

import re
from typing import ClassVar, Final

from harness.text_calls.boundaries import Ending
from harness.text_calls.dialect import WrittenCall
from harness.text_calls.tag_blocks import TagBlockEnd, TagDialect, named_heads
from harness.text_calls.tags import CDATA, CDATA_END, Grammar, written_members

_CALL: Final = "<function name="
_CLOSERS: Final = ("</function>", "</param>")
_NAME: Final = r"""[^"'<>\n]{1,128}"""
_END: Final = r"\s{0,8}>"
_GRAMMAR: Final = Grammar(
    re.compile(
        rf"(?P<call><function\s{{1,8}}name\s{{0,4}}=\s{{0,4}}(?P<_q>[\"'])(?P<name>{_NAME})(?P=_q){_END}"
        rf"(?=\s{{0,16}}(?:<param\s|</function)))"
        rf"|(?P<end_call></function{_END})"
        rf"|(?P<parameter><param\s{{1,8}}name\s{{0,4}}=\s{{0,4}}(?P<_k>[\"'])(?P<key>{_NAME})(?P=_k){_END})"
        rf"|(?P<end_parameter></param{_END})"
    ),
    span=220,
    cdata=True,
)
_NEEDS_CDATA: Final = re.compile(r"[<&\n]|\]\]>")


class _CdataEnd(Ending):
    """Finds the end of a block, and ignores tags in its CDATA sections."""

    def __init__(self, opener: str) -> None:
        self._block = TagBlockEnd(_GRAMMAR, opener)
        self._inside = False
        # What may be the start of a section, or of its end.
        self._kept = ""

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        text = self._kept + text[start:]
        pieces = []
        at = 0
        while (found := text.find(self._mark, at)) >= 0:
            stop = found + len(self._mark)
            before = "x" * (found - at) if self._inside else text[at:found]
            pieces.append(before + "x" * (stop - found))
            self._inside = not self._inside
            at = stop
        keep = _begun(self._mark, text, at)
        pieces.append("x" * (keep - at) if self._inside else text[at:keep])
        self._kept = text[keep:]
        return self._block.feed("".join(pieces), 0)

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        kept = "x" * len(self._kept) if self._inside else self._kept
        end = self._block.feed(kept, 0)
        return self._block.close() if end < 0 else end

    @property
    def _mark(self) -> str:
        return CDATA_END if self._inside else CDATA


def _begun(mark: str, text: str, at: int) -> int:
    """Return the index of the longest tail of `text` that may become `mark`; its length if none."""
    sizes = range(min(len(mark) - 1, len(text) - at), 0, -1)
    return next((len(text) - size for size in sizes if text.endswith(mark[:size])), len(text))


class MiniCpm(TagDialect):
    """Reads and writes calls in the `function` and `param` tags of MiniCPM 5."""

    name = "minicpm"
    title = "function and param tags, with CDATA (MiniCPM 5)"
    grammar = _GRAMMAR
    line_ends = 1
    openers = (_CALL,)
    heads: ClassVar = {_CALL: named_heads("<param", _CLOSERS[0])}
    untyped_end = True
    orphans = _CLOSERS
    markers = (_CALL, "<param name=", *_CLOSERS)

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` that finds the closing tag of the block, outside CDATA."""
        return _CdataEnd(opener)

    def write_call(self, call: WrittenCall) -> str:
        """Return one tag for the call."""
        parameters = "".join(
            f'<param name="{key}">{_section(text)}</param>'
            for key, text, _ in written_members(call.arguments)
        )
        return f'{_CALL}"{call.name}">{parameters}</function>'


def _section(text: str) -> str:
    """Return a value, in CDATA sections if it contains characters of markup."""
    if not _NEEDS_CDATA.search(text):
        return text
    return f"{CDATA}{text.replace(CDATA_END, f']]{CDATA_END}{CDATA}>')}{CDATA_END}"
