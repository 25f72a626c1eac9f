"""Read Gemma's three formats: tokens of Gemma 4, tokens of FunctionGemma, a `tool_code` block.

Gemma 4 writes `<|tool_call>call:NAME{key:<|"|>text<|"|>,n:1}<tool_call|>`, and reasoning between
`<|channel>thought` and `<channel|>`. FunctionGemma writes
`<start_function_call>call:NAME{key:<escape>text<escape>}<end_function_call>`. Prompts for Gemma 3
ask for a code block of the language `tool_code` with a call in Python's syntax, often inside
`print(...)`. Text may precede this block, but not follow it, because a code block within an answer
is an example (TEXT-FP-FENCE). A closing marker in a string is data. A sentence that names a marker
is text (TEXT-LITERAL-MARKER-TRUNCATES).
Source: Google's pages on function calling with Gemma, and the models' chat templates.
"""

import json
import re
from typing import ClassVar, Final

import msgspec

from harness.text_calls.boundaries import (
    NAME,
    PYTHON_QUOTES,
    SPACE,
    BlockSyntax,
    Ending,
    Head,
    Quote,
    QuotedEnd,
    end_of,
    literal,
)
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    RawBlock,
    Section,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.native import clean_name
from harness.text_calls.python import WORDS, read_python_calls, shown
from harness.text_calls.streamed import BlockStream, JsonStrings
from harness.turns.exact_json import write_exactly
from harness.turns.json_prefix import PrefixState, scan

# Of FunctionGemma, and of Gemma 4.
ESCAPE: Final = "<escape>"
QUOTE: Final = '<|"|>'
# As long as a token may be that is not a string in delimiters.
_LONGEST_TOKEN: Final = 2_048

_KEY = r"[^\W\d][\w.\-]*+(?: [\w.\-]++)*+"
_BARE_KEY = re.compile(_KEY)
_TOKEN = re.compile(
    r"\s*+(?:"
    rf"{ESCAPE}(?P<escaped>.*?){ESCAPE}|{re.escape(QUOTE)}(?P<quoted>.*?){re.escape(QUOTE)}"
    r'|(?P<string>"(?:[^"\\]++|\\.)*+")'
    r"|(?P<number>-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)(?=[\s,\]}])"
    rf"|(?P<key>{_KEY})(?=\s*+:)"
    r"|(?P<word>[A-Za-z]++)|(?P<sign>[\[\]{},:]))",
    re.DOTALL,
)


class Value(msgspec.Struct, frozen=True):
    """A value that was read from a text: its JSON and the offset after it, or an error."""

    json: str = ""
    stop: int = 0
    error: str = ""


def read_object(text: str, at: int) -> Value:
    """Return the object in Gemma's notation whose bracket is at offset `at`."""
    parts: list[str] = []
    depth, scalar = 0, False
    while depth or not parts:
        match = _TOKEN.match(text, at)
        if match is None:
            over = not text[at:].strip()
            return Value(error=_ENDED if over else f"{shown(text, at)} is not a value")
        written = _written(match)
        sign = match["sign"]
        if not written or (scalar and not sign):
            return Value(error=f"{shown(text, at)} is neither a value in quotes nor a number")
        scalar = not sign
        depth += (sign in ("{", "[")) - (sign in ("}", "]"))
        parts.append(written)
        at = match.end()
    value = "".join(parts)
    if scan(value).state is not PrefixState.COMPLETE:
        return Value(error="its arguments are not an object in Gemma's notation")
    return Value(value, at)


_ENDED = "the text ended inside the call"


def _written(match: "re.Match[str]") -> str:
    """Return the JSON token with the same meaning; "" if JSON has none."""
    kind = match.lastgroup or ""
    token_text = match[kind]
    if kind in ("escaped", "quoted", "key"):
        return write_exactly(token_text)
    if kind == "word":
        return WORDS.get(token_text, "")
    return {",": ", ", ":": ": "}.get(token_text, token_text)


class _TokenStream(BlockStream):
    """Streams one call in the notation of Gemma.

    Args:
        delimiter: what begins and ends a string.
        offered: the tools of the request.
    """

    def __init__(self, delimiter: str, offered: Offered) -> None:
        super().__init__(offered)
        self._delimiter = delimiter
        self._kept = ""
        self._in_string = False
        self._json = JsonStrings()
        self._depth = 0

    def feed(self, text: str) -> None:
        """Read the next text of the block; see `BlockStream.feed`."""
        text, self._kept = self._kept + text, ""
        at = 0 if self.calls else self._begin(text)
        while not self.over and at < len(text):
            if self._json.inside:
                end = self._json.skip(text, at)
                self.calls[-1].fragments.append(text[at:end])
            else:
                end = self._string(text, at) if self._in_string else self._token(text, at)
            if end < 0:
                self._kept = text[at:]
                self.over = len(self._kept) > _LONGEST_TOKEN
                return
            at = end

    def _begin(self, text: str) -> int:
        """Start the call; return the index of its bracket, or the length if it did not arrive."""
        at = text.find("{")
        match = _CALL.match(text, 0, len(text) if at < 0 else at)
        if at < 0:
            self._kept, self.over = text, len(text) > _LONGEST_TOKEN
        elif match is None or match.end() != at:
            self.over = True
        else:
            self.start(match[1])
        return len(text) if at < 0 else at

    def _string(self, text: str, at: int) -> int:
        """Emit a part of a string; return the index after it, or -1 if all of it must wait."""
        end = text.find(self._delimiter, at)
        sizes = range(min(len(self._delimiter) - 1, len(text) - at), 0, -1)
        cut = next((it for it in sizes if text.endswith(self._delimiter[:it])), 0)
        stop = len(text) - cut if end < 0 else end
        self.calls[-1].fragments.append(write_exactly(text[at:stop])[1:-1])
        if end < 0:
            return stop if stop > at else -1
        self.calls[-1].fragments.append('"')
        self._in_string = False
        return end + len(self._delimiter)

    def _token(self, text: str, at: int) -> int:
        """Emit the token at `at`; return the index after it, or -1 if it may continue."""
        begin = len(text) - len(text[at:].lstrip())
        if text.startswith(self._delimiter, begin):
            self.calls[-1].fragments.append('"')
            self._in_string = True
            return begin + len(self._delimiter)
        if text.startswith('"', begin):
            self.calls[-1].fragments.append('"')
            self._json.inside = True
            return begin + 1
        match = _TOKEN.match(text, at)
        if match is None or (match["word"] and not text[match.end() :].strip()):
            return -1
        written = _written(match)
        self.calls[-1].fragments.append(written)
        self._depth += (match["sign"] in ("{", "[")) - (match["sign"] in ("}", "]"))
        self.over = not written or not self._depth
        return match.end()


# Back to Gemma's syntax

_JSON_TOKEN = re.compile(r'("(?:[^"\\]++|\\.)*+")(\s*+:)?|\s++')


def write_object(arguments: str, delimiter: str) -> str:
    """Return a JSON object in Gemma's notation. A value that Gemma cannot write stays JSON."""

    def token(match: "re.Match[str]") -> str:
        if not match[1]:
            return ""
        token_text = json.loads(match[1])
        if match[2] and _BARE_KEY.fullmatch(token_text):
            return f"{token_text}:"
        # A string may begin or end with a part of a delimiter.
        plain = not any(mark in token_text for mark in (delimiter, "<", ">"))
        return (f"{delimiter}{token_text}{delimiter}" if plain else match[1]) + (
            ":" if match[2] else ""
        )

    return _JSON_TOKEN.sub(token, arguments or "{}")


GEMMA_4: Final = "<|tool_call>"
FUNCTION_GEMMA: Final = "<start_function_call>"
FENCE: Final = "```tool_code"
THOUGHT: Final = "<|channel>"
_THOUGHT: Final = "thought"
_THOUGHT_END: Final = "<channel|>"

_CLOSERS: Final = {GEMMA_4: "<tool_call|>", FUNCTION_GEMMA: "<end_function_call>", FENCE: "```"}
_NOTATIONS: Final = {
    GEMMA_4: BlockSyntax((Quote(QUOTE, escapes=False), Quote('"')), (_CLOSERS[GEMMA_4],)),
    FUNCTION_GEMMA: BlockSyntax(
        (Quote(ESCAPE, escapes=False), Quote('"')), (_CLOSERS[FUNCTION_GEMMA],)
    ),
    FENCE: BlockSyntax(PYTHON_QUOTES, (_CLOSERS[FENCE],), openers=(FENCE,)),
}
_DELIMITERS: Final = {GEMMA_4: QUOTE, FUNCTION_GEMMA: ESCAPE}
_CALL_HEAD: Final = (Head(SPACE, *literal("call:"), r"\s*+", NAME, r"\s*+", r"[{(]", commits=1),)
# Without `call:`, or with another word in its place.
_BROKEN: Final = Head(r"[\w:. \-]{1,64}+", r"[{(]")
_FENCE_HEAD: Final = (
    Head(r"[ \t]*+", r"\r?\n", r"\s*+", r"(?:print\(\s*+)?+", r"\[?+\s*+", NAME, r"\("),
)
_CALL = re.compile(r"\s*+call:\s*+([^\s{(]++)\s*+")
_PRINT = re.compile(r"\s*+print\(\s*+")
# Gemini's name for the module that holds the tools.
_MODULE: Final = "default_api."
_BETWEEN: Final = re.compile(r"[ \t\r\n,;]*+")


class Gemma(TextDialect):
    """Reads calls in the three formats of Gemma models, and writes Gemma 4's."""

    title = "Gemma 4 and FunctionGemma tokens, and tool_code fences (Gemma 3)"
    heads: ClassVar = {
        GEMMA_4: _CALL_HEAD,
        FUNCTION_GEMMA: _CALL_HEAD,
        FENCE: _FENCE_HEAD,
        THOUGHT: (Head(*literal(_THOUGHT), commits=0),),
    }
    openers = tuple(heads)
    broken: ClassVar = dict.fromkeys((GEMMA_4, FUNCTION_GEMMA), (_BROKEN,))
    meant: ClassVar = {THOUGHT: (Head(*literal(_THOUGHT), r"\r?+", r"\n", commits=0),)}
    last = (FENCE,)
    trailers = ("<start_function_response>", "<|tool_response>")
    orphans = ("<tool_call|>", "<end_function_call>")
    noise = ("<end_of_turn>", "<turn|>", _THOUGHT_END)
    markers = (*openers, *orphans, *trailers, *noise, ESCAPE, QUOTE)

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether `call:NAME{` follows the token, or a code block calls an offered tool."""
        begins = super().starts(start)
        if begins and start.opener == FENCE:
            (fence,) = self.heads[FENCE]
            return _plain(fence.name(start.head), start.offered) in start.offered
        return begins

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of Gemma 4's reasoning; None if calls begin."""
        if start.opener != THOUGHT:
            return None
        closers, header = (_THOUGHT_END,), len(_THOUGHT)
        return Section(reasoning=True, closers=closers, header=header, line_ends=1)

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` that finds the closing marker outside strings."""
        return QuotedEnd(_NOTATIONS[opener])

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the tokens; None for a code block."""
        return None if opener == FENCE else _TokenStream(_DELIMITERS[opener], offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...]:
        """Return one call for a block of tokens, and any number of calls for a code block."""
        body = block.raw.removesuffix(_CLOSERS[block.opener])
        return (
            _in_fence(body, block.offered)
            if block.opener == FENCE
            else (_in_tokens(body, _CLOSERS[block.opener]),)
        )

    def write_call(self, call: WrittenCall) -> str:
        """Return the call in Gemma 4's tokens."""
        return f"{GEMMA_4}call:{call.name}{write_object(call.arguments, QUOTE)}<tool_call|>"


def _in_tokens(body: str, closer: str) -> WrittenCall:
    match = _CALL.match(body)
    if match is None:
        return WrittenCall(error="there is no call:NAME{...} between the tokens")
    if not body.startswith("{", match.end()):
        return WrittenCall(match[1], error="no { follows its name")
    value = read_object(body, match.end())
    if value.error:
        return WrittenCall(match[1], error=value.error)
    rest = body[value.stop :].strip()
    # The end of the text may cut the closing token.
    error = "" if closer.startswith(rest) else f"{rest[:20]!r} follows it"
    return WrittenCall(match[1], value.json, error=error)


def _plain(name: str, offered: Offered) -> str:
    """Return the name of an offered tool that `name` means, or `name` itself if there is none."""
    short = name.removeprefix(_MODULE)
    return short if short in offered else clean_name(name, offered)


def _in_fence(body: str, offered: Offered) -> tuple[WrittenCall, ...]:
    """Return the calls in a code block: each alone, in `print`, or in a list."""
    calls: list[WrittenCall] = []
    at = end_of(_BETWEEN, body, 0)
    while at < len(body):
        printed = _PRINT.match(body, at)
        start = printed.end() if printed else at
        listed = body.startswith("[", start)
        found = read_python_calls(body, start + listed)
        if not found.calls:
            calls.append(WrittenCall(error=f"{body[at : at + 20]!r} is not a call"))
            break
        closers = "]" * listed + ")" * bool(printed)
        at = _closed(body, found.stop, closers)
        if at < 0:
            error = f"no {closers!r} follows the call"
            calls += (WrittenCall(call.name, error=call.error or error) for call in found.calls)
            break
        calls += found.calls
    return tuple(
        WrittenCall(_plain(call.name, offered), call.arguments, call.id, call.error)
        for call in calls
    )


def _closed(body: str, at: int, closers: str) -> int:
    """Return the offset after these brackets and a separator; -1 if they do not follow."""
    for closer in closers:
        at = end_of(_BETWEEN, body, at)
        if not body.startswith(closer, at):
            return -1
        at += 1
    return end_of(_BETWEEN, body, at)
