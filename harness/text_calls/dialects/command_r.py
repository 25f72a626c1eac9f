"""Read a line `Action:` and a code block with a list of calls: Cohere's Command R and R+.

    Action:
    ```json
    [
        {
            "tool_name": NAME,
            "parameters": {...}
        }
    ]```

The block is the end of the reply. If text follows it, it is an example and stays text. The tool
`directly-answer`, which the template adds, is not a call. Source: the chat template of Command R
in `examples` of vLLM, and Cohere's guide to tool use by prompt.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Ending, Head, literal
from harness.text_calls.dialect import RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_json_calls
from harness.text_calls.json_end import JsonEnd

_FENCE: Final = "```"
_LIST: Final = (SPACE, *literal("```json"), SPACE, r"\[", SPACE)
_NO_TOOLS: Final = ("directly-answer", "directly_answer")


class CommandR(TextDialect):
    """Reads and writes calls in a code block after a line `Action:`."""

    title = "A line Action: and a list in a code block (Cohere Command R)"
    openers = ("Action:",)
    heads: ClassVar = {
        openers[0]: (
            Head(*_LIST, r"\{", SPACE, *literal('"tool_name"'), commits=12),
            Head(*_LIST, r"\]"),
        )
    }
    begins_line = True
    line_ends = 1
    explicit = False
    last = openers
    trailers = (_FENCE,)
    noise = ("<|END_OF_TURN_TOKEN|>",)

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` for the end of the list, or of the code block if it is broken."""
        return JsonEnd(closers=("\n```", *self.noise))

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return a call for each object of the list; None if none names an offered tool."""
        body = block.raw.partition("json")[2].strip()
        if body.startswith("[") and not body.strip("[]`\r\n\t "):
            return ()
        found = read_json_calls(body, block.offered)
        if found is None:
            return None
        named = tuple(call for call in found if call.name not in _NO_TOOLS)
        return (
            named
            if not named or any(not it.name or it.name in block.offered for it in named)
            else None
        )

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one list of all calls."""
        items = ",\n".join(
            f'    {{\n        "tool_name": "{call.name}",\n'
            f'        "parameters": {call.arguments or "{}"}\n    }}'
            for call in calls
        )
        return f"Action:\n```json\n[\n{items}\n]```" if calls else ""
