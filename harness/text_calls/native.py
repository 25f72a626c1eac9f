"""Clean calls in the API's own field that contain leaked markup of the model's template.

A name is cleaned only if the result is the name of an offered tool, never to a similar name
(quirks TEXT-GLM-NAME-LEAK, HARMONY-NAME-POLLUTED, HARMONY-PREFIX, TEXT-MISTRAL-ARGS-MARKER,
NAME-PREFIXED, NAME-FUZZY-TRAP). Arguments are never cleaned: the function reports the leaked
markup, and a policy decides (quirk TEXT-MARKUP-IN-ARGS). Neither function raises; both take linear
time.
"""

import re
from typing import Final

from harness.text_calls.boundaries import any_literal
from harness.text_calls.dialect import Offered
from harness.text_calls.json_calls import read_string

# Kimi and gpt-oss name a tool inside this space; other spaces hold tools of the server.
NAMESPACE: Final = "functions."

# ASCII, full width, and double: how engines and their users write the bar of a token.
_BAR = "[|\uff5c\u2016]"
# What no tool name has, and every template token begins with, a cut one too.
_TOKEN_BEGINS = re.compile(rf"<?{_BAR}|<(?:[/\w]|\Z)|\[[A-Z]")
_COUNTER = re.compile(r":[0-9]+\Z")

# Closing markers and the opening ones that balance them: templates put nothing of an argument
# after a closing marker, so text that only speaks of one can be distinguished from a leak.
_TAGS = (
    "arg_key",
    "arg_value",
    "function",
    "function_calls",
    "invoke",
    "minimax:tool_call",
    "parameter",
    "tool_call",
    "tool_calls",
)
_PAIRS = {
    "tool_call_begin": "tool_call_end",
    "tool_calls_section_begin": "tool_calls_section_end",
    "tool_call_section_begin": "tool_call_section_end",
    "tool▁calls▁begin": "tool▁calls▁end",
    "tool▁call▁begin": "tool▁call▁end",
    "begin▁of▁sentence": "end▁of▁sentence",
    "START_ACTION": "END_ACTION",
    "action_start": "action_end",
    "tool_call": "/tool_call",
    "im_start": "im_end",
    "channel": "call",
    "start": "end",
    "message": "return",
    "start_header_id": "eot_id",
    "python_tag": "eom_id",
    "begin_of_text": "endoftext",
}
_OPENED_BY = {closer: opener for opener, closer in _PAIRS.items()}

_MARKER = re.compile(
    rf"<(?P<tag_end>/?)(?P<tag>{any_literal(*_TAGS)})(?P<with>[=\s][^<>]{{0,200}})?>"
    rf"|<(?P<dsml_end>/?){_BAR}{{1,2}}DSML{_BAR}{{1,2}}\s?(?P<dsml>\w+)[^<>]{{0,200}}>"
    rf"|<{_BAR}(?P<word>{any_literal(*_PAIRS, *_OPENED_BY)}){_BAR}>"
    r"|<(?:\|(?P<gemma>tool_call)|(?P<gemma_end>tool_call)\|)>"
)
# These bars and dashes are on no keyboard: so the model copied a template's token.
_FOREIGN = re.compile("[\uff5c\u2016\u2581]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def clean_name(name: str, offered: Offered) -> str:
    """Return the offered name in `name` without leaked markup; `name` itself if there is none."""
    # An offered name is never cleaned, even if it looks like markup.
    if name in offered:
        return name
    token = _TOKEN_BEGINS.search(name)
    rest = (name[: token.start()] if token else name).strip()
    plain = rest.removeprefix(NAMESPACE)
    for each in (rest, plain, _COUNTER.sub("", plain) if plain != rest else plain):
        if each in offered:
            return each
    return offered.halved(name)


def leaked_token(arguments: str) -> str:
    """Return the first closing token of a template that leaked into `arguments`; "" if none did.

    A token counts if no opening token precedes it in the same string, and either the string ends
    with it, or another marker follows.

    Args:
        arguments: strict JSON. In other text, only valid JSON strings are searched.
    """
    texts = (read_string(match[0]) for match in _STRING.finditer(arguments))
    return next(filter(None, map(_unbalanced, texts)), "")


def _unbalanced(text: str) -> str:
    """Return the first closing token in `text` without an opening token, or "".

    A closing token of ordinary tags counts only if markup or the end of the string follows.
    """
    opened: dict[str, int] = {}
    marks = list(_MARKER.finditer(text))
    stops = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, stop in zip(marks, stops, strict=False):
        kind, closes = _kind(mark)
        if not closes:
            opened[kind] = opened.get(kind, 0) + 1
        # A balanced pair of tags in a string may be the value that the user asked for.
        elif opened.get(kind, 0):
            opened[kind] -= 1
        elif _FOREIGN.search(mark[0]) or not text[mark.end() : stop].strip():
            return mark[0]
    return ""


def _kind(mark: "re.Match[str]") -> tuple[str, bool]:
    """Return a key that this marker and its counterpart share, and whether it closes."""
    word = mark["word"]
    if word:
        return (_OPENED_BY[word], True) if word in _OPENED_BY else (word, False)
    if mark["tag"]:
        return mark["tag"], bool(mark["tag_end"])
    if mark["dsml"]:
        return f"DSML {mark['dsml']}", bool(mark["dsml_end"])
    return "gemma", bool(mark["gemma_end"])
