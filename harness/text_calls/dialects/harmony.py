"""OpenAI's Harmony messages in the text: gpt-oss behind a server that does not parse them.

`<|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{...}
<|call|>`: the recipient is with the role or with the channel, with `functions.` or
without (HARMONY-PREFIX); other names are tools of the server, and no call of ours. The channel
`analysis` is reasoning, `final` is the answer and holds no call, `commentary` without a recipient
is a preamble that the user sees. The prompt may end within a header, so that the text begins
there. On `analysis` only `<|call|>` makes a message a call; without it, it is reasoning
(HARMONY-CHANNEL-POLICY). A message of another role is one that the model generated, and is
never shown as the answer. If a server has stripped the markers, nothing can be distinguished
from words, and the text stays unchanged (HARMONY-CHANNEL-LEAK).
Source: OpenAI's page on the Harmony response format; the chat template of gpt-oss.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import ClassVar, Final

from harness.text_calls.boundaries import (
    MORE,
    SPACE,
    BlockSyntax,
    Ending,
    Head,
    PatternEnd,
    QuotedEnd,
    SequenceEnd,
    literal,
)
from harness.text_calls.dialect import BlockStart, RawBlock, Section, TextDialect, WrittenCall
from harness.text_calls.json_end import headed_end

START: Final = "<|start|>"
CHANNEL: Final = "<|channel|>"
MESSAGE: Final = "<|message|>"
CONSTRAIN: Final = "<|constrain|>"
CALL: Final = "<|call|>"
_LAST: Final = ("<|end|>", "<|return|>")
ENDS: Final = (*_LAST, CALL)

# The last is not a channel, but some servers have the role in its place.
_CHANNELS: Final = ("analysis", "commentary", "final", "assistant")
_NOBODY: Final = ("", "assistant", "user", "all")
_OURS: Final = ("", "assistant")
_AFTER_CONTENT: Final = BlockSyntax((), ENDS, before=(START, CHANNEL))

_GAP = r"[ \t]*+"
_TO = (_GAP, *literal("to="), r"[^\s<{]++")
_TYPE = r"\w{0,20}+"
_ROLE = r"[\w.\-]{1,64}+"
# Some models leave the marker before the arguments out.
_ARGUMENTS = (r"(?=\{)",)


def _rest_heads(before: tuple[str, ...], commits: int | None = None) -> Iterator[Head]:
    """Yield the forms in which a header continues after its channel."""
    for to, constrain in product(((), _TO), ((), literal(CONSTRAIN))):
        rest = (*to, _GAP, *constrain, _GAP, _TYPE, _GAP)
        # Words do not have `to=`, or the start of a token, after the name of a channel.
        sure = len(before) + (len(_TO) if to else len(rest) + 1) if commits is None else commits
        yield Head(*before, *rest, *literal(MESSAGE), commits=sure)
        if to:
            yield Head(*before, *rest, *_ARGUMENTS, commits=sure)


def _channel_heads(before: tuple[str, ...], commits: int) -> Iterator[Head]:
    for word in _CHANNELS:
        yield from _rest_heads((*before, SPACE, *literal(word)), commits)


def _start_heads() -> Iterator[Head]:
    for to in ((), _TO):
        role = (SPACE, _ROLE, *to, _GAP)
        # A role that `<|` follows is a header.
        commits = len(role) + 1
        yield Head(*role, *literal(MESSAGE), commits=commits)
        yield from _channel_heads((*role, *literal(CHANNEL)), commits)


def _named_heads() -> Iterator[Head]:
    """Yield the forms after `to=`, which is with the role."""
    name = (r"[^\s<{]++", _GAP)
    yield from _channel_heads((*name, *literal(CHANNEL)), len(name) + 1)
    yield from _typed_heads(name)


def _typed_heads(before: tuple[str, ...]) -> Iterator[Head]:
    """Yield the forms after the recipient, which is with the channel."""
    yield Head(
        *before, *literal(CONSTRAIN), _GAP, _TYPE, _GAP, *literal(MESSAGE), commits=len(before)
    )
    yield Head(*before, _TYPE, _GAP, *literal(MESSAGE), commits=len(before) + 3)


# Where the prompt ends within a header -> what it said, as far as it matters.
_SAID: Final = {
    "analysis": CHANNEL,
    "commentary": CHANNEL,
    "final": CHANNEL,
    "assistant": START,
    "to=": f"{START}assistant ",
    "functions.": f"{CHANNEL}commentary to=",
    CONSTRAIN: f"{CHANNEL}commentary ",
}


_CONTENT_END = re.compile(rf"(?:{'|'.join(map(re.escape, ENDS))})\Z")
_HEADER_END = re.compile(rf"{re.escape(MESSAGE)}|\{{")
_HEADER = re.compile(
    rf"(?:{re.escape(START)}\s*+(?P<role>{_ROLE})(?:{_GAP}to=(?P<first>[^\s<{{]++))?+{_GAP})?+"
    rf"(?:{re.escape(CHANNEL)}\s*+(?P<channel>{'|'.join(_CHANNELS)})"
    rf"(?:{_GAP}to=(?P<second>[^\s<{{]++))?+{_GAP}(?P<constrain>{re.escape(CONSTRAIN)})?+"
    rf"{_GAP}(?P<type>{_TYPE}){_GAP})?+(?P<message>{re.escape(MESSAGE)})?+"
)


class _Message:
    """One message whose header has been read."""

    def __init__(self, opener: str, text: str) -> None:
        said = _SAID.get(opener, "")
        # each of its parts may be missing
        match = next(_HEADER.finditer(said + opener + text))
        fields = match.groupdict(default="")
        self.role = fields["role"]
        self.channel = fields["channel"]
        self.to = fields["second"] or fields["first"]
        self.typed = bool(fields["constrain"]) or fields["type"] == "json"
        self.marked = bool(fields["message"])
        # where its content begins, after the opener
        self.body = match.end() - len(said) - len(opener)

    @property
    def is_call(self) -> bool:
        """Whether it is addressed to a tool, or looks as if it were."""
        if self.role not in _OURS or self.channel == "final":
            return False
        return self.to not in _NOBODY or self.typed

    @property
    def hidden(self) -> bool:
        """Whether it is not part of the answer."""
        return self.channel == "analysis" or self.role not in _OURS


class _ContentEnd(Ending):
    """The end token or header after the first JSON value, or the next one if there is no JSON."""

    def __init__(self) -> None:
        self._json = headed_end(ENDS, (START, CHANNEL))
        self._rest = QuotedEnd(_AFTER_CONTENT)
        self._pieces: list[str] = []  # until the JSON ends
        self._end = MORE  # of the JSON

    def feed(self, text: str, start: int) -> int:
        """See `Ending.feed`."""
        if self._end == MORE:
            self._pieces.append(text[start:])
            self._end = self._json.feed(text, start)
            if self._end == MORE:
                return MORE
            text, start = "".join(self._pieces), self._end
            self._pieces.clear()
        end = self._rest.feed(text, start)
        return end if end == MORE else self._end + end


class Harmony(TextDialect):
    """The format that the docstring of this module describes."""

    title = "OpenAI Harmony channels (gpt-oss)"
    heads: ClassVar = {
        START: tuple(_start_heads()),
        CHANNEL: tuple(_channel_heads((), commits=1)),
        **{word: tuple(_rest_heads(())) for word in ("analysis", "commentary", "final")},
        "assistant": (
            *_channel_heads((*_TO, _GAP, *literal(CHANNEL)), len(_TO) + 2),
            *_channel_heads((*literal(CHANNEL),), 2),
        ),
        "to=": tuple(_named_heads()),
        "functions.": tuple(_typed_heads((r"[^\s<{]++", _GAP))),
        CONSTRAIN: (Head(_GAP, _TYPE, _GAP, *literal(MESSAGE), commits=0),),
    }
    openers = tuple(heads)
    first = tuple(_SAID)
    noise = (*ENDS, MESSAGE, CONSTRAIN)
    markers = (START, CHANNEL, *noise)

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of a message without recipient: reasoning, or visible text."""
        message = _Message(start.opener, start.head)
        if not message.marked or message.is_call:
            return None
        opens = () if message.channel == "final" else (START,)
        return Section(message.hidden, _LAST, message.body, ended_by=opens, opens=opens)

    def ending(self, _opener: str) -> Ending:
        """Return what finds an end token after the JSON, or the next message."""
        return SequenceEnd(PatternEnd(_HEADER_END, len(MESSAGE)), lambda _text, _at: _ContentEnd())

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the one call of a message."""
        message = _Message(block.opener, block.raw)
        if message.channel == "analysis" and not block.raw.endswith(CALL):
            return None
        if not message.is_call:
            return ()  # a header without its content
        body = _CONTENT_END.sub("", block.raw[message.body :]).strip()
        if message.to in _NOBODY:
            return (WrittenCall(arguments=body, error="the call names no recipient"),)
        if not message.marked:
            return (WrittenCall(message.to, error="no message token precedes its arguments"),)
        error = "" if body or block.closed else "the text ended before its arguments"
        return (WrittenCall(message.to, body, error=error),)

    def shown(self, block: RawBlock) -> tuple[bool, str]:
        """Return a message on `analysis` that is not a call as reasoning."""
        return True, _CONTENT_END.sub("", block.raw[_Message(block.opener, block.raw).body :])

    def write_call(self, call: WrittenCall) -> str:
        """Return one message."""
        header = f"{START}assistant{CHANNEL}commentary to=functions.{call.name} {CONSTRAIN}json"
        return f"{header}{MESSAGE}{call.arguments or '{}'}{CALL}"
