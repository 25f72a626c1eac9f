"""Read DeepSeek's DSML (V3.2 and later): `invoke` tags with a special token before every word.

    <｜DSML｜function_calls>
    <｜DSML｜invoke name="NAME">
    <｜DSML｜parameter name="KEY" string="true">VALUE</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜function_calls>

A value with `string="true"` is the string itself, and with `string="false"` JSON. Without the
attribute, the schema decides. V4 uses `tool_calls` for the outer tag, V4.1 `calls` and a space
before each word. Engines and their users write the bars full width, doubled or in ASCII, break tags
over lines, and lose the outer tag. The token is never part of an answer. Source: DeepSeek's
published encodings of V3.2, V4 and V4.1; quirks TEXT-DSML, TEXT-DSML-VARIANTS, TEXT-OPEN-MISSING,
TEXT-LITERAL-MARKER-TRUNCATES.
"""

from collections.abc import Sequence
from typing import Final

from harness.text_calls.boundaries import SPACE, Head, literal
from harness.text_calls.dialect import WrittenCall
from harness.text_calls.tag_blocks import TagDialect, invoke_grammar, write_invoke_calls

# Full width, ASCII, each of them twice, and the double bar.
_BARS: Final = ("\uff5c", "|", "\uff5c\uff5c", "||", "\u2016")
# GigaChat 3.5 has another word in the token.
_TOKENS: Final = (*(f"{bar}DSML{bar}" for bar in _BARS), "\uff5cGCML\uff5c")
_OPENERS: Final = tuple(f"<{token}" for token in _TOKENS)
_ENDS: Final = tuple(f"</{token}" for token in _TOKENS)
_CLOSERS: Final = tuple(
    f"{end}{gap}{word}>"
    for end in _ENDS
    for gap in ("", " ")
    for word in ("function_calls", "tool_calls", "calls", "invoke", "parameter")
)
_BAR: Final = r"\s{0,2}(?:\uff5c{1,2}|\|{1,2}|\u2016)\s{0,2}"
_TOKEN: Final = rf"{_BAR}(?:DSML|GCML){_BAR}\s{{0,4}}"
_BLOCK_ENDS: Final = (SPACE, ">", SPACE, "<")
_HEADS: Final = tuple(
    Head(SPACE, *atoms, commits=0)
    for atoms in (
        (*literal("tool_"), SPACE, *literal("calls"), *_BLOCK_ENDS),
        (*literal("function_"), SPACE, *literal("calls"), *_BLOCK_ENDS),
        (*literal("calls"), *_BLOCK_ENDS),
        (*literal("invoke"), r"\s", SPACE, *literal("name")),
    )
)


_WORD: Final = (r"[\s\uff5c|\u2016]{1,8}+", "[DG]", "[SC]", "M", "L", r"[\s\uff5c|\u2016]{1,8}+")
_JSON: Final = Head(SPACE, "(?:tool_|function_)?+calls", SPACE, ">", SPACE, r"\{")
_INVOKE: Final = (*(*literal("invoke"), r"[^<>]{0,160}+", ">", SPACE, "<", r"[\s/\uff5c|\u2016]"),)
_MEANT: Final = (
    *(
        Head(
            SPACE,
            *literal(word),
            SPACE,
            *literal("calls"),
            *_BLOCK_ENDS,
            *_WORD,
            *_INVOKE,
            commits=0,
        )
        for word in ("tool_", "function_", "")
    ),
    Head(SPACE, *_INVOKE, commits=0),
)


class Dsml(TagDialect):
    """Reads and writes calls in the DSML tags of DeepSeek."""

    grammar = invoke_grammar(
        rf"<{_TOKEN}", rf"<\s{{0,2}}/{_TOKEN}", r"(?:(?:tool|function)_\s{0,2})?calls"
    )
    title = "DSML: invoke tags of special tokens (DeepSeek V3.2 and later)"
    line_ends = 2
    openers = _OPENERS
    heads = dict.fromkeys(_OPENERS, _HEADS)
    broken = dict.fromkeys(_OPENERS, (_JSON,))
    meant = dict.fromkeys(_OPENERS, _MEANT)
    trailers = tuple(closer for closer in _CLOSERS if closer.endswith("calls>"))
    untyped_end = True
    orphans = _CLOSERS
    noise = ("<\uff5cend\u2581of\u2581sentence\uff5c>",)
    markers = (*_OPENERS, *_ENDS, *noise)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return all calls in one outer tag, as DeepSeek's encoding renders them."""
        token = _TOKENS[0]
        return write_invoke_calls(calls, f"{token}function_calls", token, typed=True)
