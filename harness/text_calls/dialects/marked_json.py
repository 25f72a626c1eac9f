"""Read a marker, calls as JSON, and perhaps a closing marker: four families of models.

    granite    <|tool_call|>[{...}]  or  <tool_call>[{...}]      without a closing marker
    jamba      <tool_calls>[{...}]</tool_calls>
    phi        <|tool_call|>[{...}]<|/tool_call|>  or  functools[{...}]
    internlm   <|action_start|><|plugin|>{...}<|action_end|>     one object, `parameters`

Source: chat templates of Granite 3.x, Jamba 1.5, Phi-4-mini and InternLM 2, and the prompts
that engines ship for them. xLAM's array without any marker is bare JSON.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import MORE, SPACE, Ending, Head
from harness.text_calls.dialect import (
    HEAD_CHARACTERS,
    BlockStart,
    Offered,
    RawBlock,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.json_calls import read_marked_calls, write_json_call
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.streamed import BlockStream, JsonStream

# How a list goes on after its bracket, and an object after its brace; in prose about the marker
# a word follows, after a space. The last form is an item that lost its beginning.
_IN_OBJECT: Final = ((SPACE, r"[\"'}]"), (r"\w",))
_IN_LIST: Final = (
    *((SPACE, r"\{", *form) for form in _IN_OBJECT),
    (SPACE, r"\]"),
    (SPACE, r"[\w.\-]{1,64}+", r"[\"(]"),
)
LIST: Final = tuple(Head(SPACE, r"\[", *form, commits=2) for form in _IN_LIST)
OBJECT: Final = tuple(Head(SPACE, r"\{", *form, commits=2) for form in _IN_OBJECT)
# After a marker that has the bracket.
_REST_OF_LIST: Final = tuple(Head(*form) for form in _IN_LIST)
# Words without any markup after the brackets that close broken JSON.
_WORDS: Final = re.compile(
    r"[}\]\"]\s{0,24}+,?\s{0,24}+\](?=[^\[\]{}<\"`]*\Z)|\}\s{0,24}+\}(?=[^\[\]{}<\"`]*\Z)"
)


class WordsEnd(JsonEnd):
    """Ends a block after its JSON, whose closing marker may be missing.

    If the JSON is broken, ordinary text may follow it. That text is shown only if it cannot be
    markup, because a string that is quoted wrongly may contain some.
    """

    def __init__(
        self,
        opened: str,
        *,
        trailers: tuple[str, ...],
        noise: tuple[str, ...],
        openers: tuple[str, ...],
    ) -> None:
        super().__init__(opened, closers=(*trailers, *noise), openers=openers)
        self._trailers = trailers
        self._texts: list[str] = []

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        self._texts.append(text[start:])
        end = super().feed(text, start)
        if end == MORE or not self.broken:
            return end
        whole = "".join(self._texts)
        return end if whole.startswith(self._trailers, end) else self._before_words(whole[:end])

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        return self._before_words("".join(self._texts)) if self.broken else super().close()

    def _before_words(self, whole: str) -> int:
        last = _WORDS.search(whole)
        return last.end() if last else len(whole)


class MarkedJson(TextDialect):
    """Base of the formats with JSON after a marker.

    An end token also ends a call whose JSON is broken.

    Fields:
        mentioned: opening markers that an answer may mention as its last word.
    """

    mentioned: ClassVar[tuple[str, ...]] = ()

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` for the end of the JSON, or for a marker if the JSON is broken."""
        return WordsEnd(
            _opened(opener), trailers=self.trailers, noise=self.noise, openers=self.openers
        )

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the JSON while it arrives."""
        return JsonStream(offered, _opened(opener))

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether JSON follows the marker, or the reply was truncated after the marker."""
        alone = start.final and len(start.head) < HEAD_CHARACTERS and not start.head.strip()
        return (alone and start.opener not in self.mentioned) or super().starts(start)

    def amid_line(self, start: BlockStart) -> bool | None:
        """Return whether text follows the marker, because a sentence may end with the marker."""
        return True if start.head.strip() else False if start.final else None

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return a call for each object; () for an empty array."""
        body = (_opened(block.opener) + block.raw).strip()
        if not block.raw.strip():
            return ()  # the reply was cut after the marker
        error = "the JSON after the marker names no tool"
        return read_marked_calls(body, block.offered, error)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one array of all calls between the markers."""
        closer = self.orphans[0] if self.orphans else ""
        listed = ", ".join(map(write_json_call, calls))
        return f"{self.openers[0]}[{listed}]{closer}" if calls else ""


def _opened(opener: str) -> str:
    """Return the bracket at the end of the marker; "" if it has none."""
    return "[" if opener.endswith("[") else ""


class Granite(MarkedJson):
    """Reads and writes the calls of IBM Granite 3.

    Granite 3.0 has a special token. Granite 3.1 to 3.3 have the tag of Hermes.
    """

    name = "granite"
    title = "An array after <|tool_call|> (IBM Granite 3)"
    openers = ("<|tool_call|>", "<tool_call>")
    heads = dict.fromkeys(openers, LIST)
    noise = ("<|end_of_text|>",)
    markers = (*openers, *noise)


class Jamba(MarkedJson):
    """Reads and writes the calls of AI21 Jamba 1.5 and later."""

    name = "jamba"
    title = "An array in <tool_calls> tags (AI21 Jamba)"
    openers = ("<tool_calls>",)
    heads = dict.fromkeys(openers, LIST)
    trailers = orphans = ("</tool_calls>",)
    closed_by_trailer = True
    noise = ("<|eom|>",)
    markers = (*openers, *orphans, *noise)


class Phi(MarkedJson):
    """Reads and writes the calls of Phi-4-mini.

    The model card uses tokens, and the prompt of vLLM the word `functools`.
    """

    name = "phi"
    title = "An array between <|tool_call|> tokens, or after functools (Phi-4-mini)"
    heads: ClassVar = {"<|tool_call|>": (*LIST, *OBJECT), "functools[": _REST_OF_LIST}
    openers = tuple(heads)
    trailers = orphans = ("<|/tool_call|>",)
    noise = ("<|end|>",)
    markers = (*openers, *orphans, *noise)


class InternLM(MarkedJson):
    """Reads and writes the calls of InternLM 2 and 2.5."""

    name = "internlm"
    title = "An object between action tokens (InternLM 2)"
    openers = (
        "<|action_start|><|plugin|>",
        "<|action_start|> <|plugin|>",
        "<|action_start|>\n<|plugin|>",
    )
    heads = dict.fromkeys(openers, (*LIST, *OBJECT))
    trailers = orphans = ("<|action_end|>",)
    closed_by_trailer = True
    noise = ("<|im_end|>",)
    markers = ("<|action_start|>", "<|plugin|>", *orphans, *noise)

    write = TextDialect.write

    def write_call(self, call: WrittenCall) -> str:
        """Return one block with the call as JSON, with the arguments under `parameters`."""
        return f"{self.openers[0]}{write_json_call(call, arguments='parameters')}{self.orphans[0]}"
