"""Read a code block that is the complete reply and contains calls: models without native tools.

The block begins with ```json, ```tool_call, another such word, or ``` alone. Inside it is what
bare JSON or a tag would contain. A block that is part of a longer answer is an example and is never
executed (quirks TEXT-FENCED-CALL, TEXT-FP-FENCE). Source: replies of Gemini, Claude and DeepSeek
to prompts that describe tools.
"""

from collections.abc import Sequence

from harness.text_calls.boundaries import Ending
from harness.text_calls.context import FENCES
from harness.text_calls.dialect import BlockStart, RawBlock, TextDialect, WrittenCall
from harness.text_calls.dialects.bare_json import BARE_JSON
from harness.text_calls.dialects.tagged_json import CLOSER, OPENER
from harness.text_calls.json_calls import write_json_call
from harness.text_calls.json_end import JsonEnd

_WORDS = frozenset(("", "json", "jsonc", "json5", "tool", "tool_call", "tool_calls", "xml"))


class FencedJson(TextDialect):
    """Reads and writes calls in a code block that is the complete reply."""

    title = "One code block that is the whole reply and holds a call"
    openers = FENCES
    explicit = False
    whole = True
    trailers = (CLOSER, *FENCES)
    closed_by_trailer = True

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a language word of such blocks and a call of an offered tool follow."""
        line, newline, body = start.head.partition("\n")
        if not newline:
            return None
        if line.strip().lower() not in _WORDS:
            return False
        body = body.lstrip()
        if body.startswith(OPENER):
            body = body[len(OPENER) :].lstrip()
        if OPENER.startswith(body):
            return None
        if body[0] not in BARE_JSON.openers:
            return False
        return BARE_JSON.starts(BlockStart(body[0], body[1:], start.offered, start.final))

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` for the end of the JSON, or for the next fence if it is broken."""
        return JsonEnd(several=True, closers=("\n```", "\n~~~"))

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls that the text dialect `bare-json` would find in the code block."""
        inside = block.raw.partition("\n")[2].strip().removeprefix(OPENER).lstrip()
        return BARE_JSON.calls(RawBlock("", inside, block.offered, block.closed))

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one code block with a JSON object for each call."""
        return "```json\n" + "\n".join(map(write_json_call, calls)) + "\n```"
