"""OpenAI's Harmony messages in the text: gpt-oss behind a server that does not parse them.

`<|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{...}
<|call|>`: the recipient is with the role or with the channel, with `functions.` or
without (HARMONY-PREFIX); other names are tools of the server, and no call of ours. The channel
`analysis` is reasoning, `final` is the answer, `commentary` without a recipient is a preamble that
the user sees. On `analysis` only `<|call|>` makes a message a call; without it, it is reasoning
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
    SPACE,
    Ending,
    Head,
    Notation,
    PatternEnd,
    Quote,
    QuotedEnd,
    SequenceEnd,
    literal,
)
from harness.text_calls.dialect import BlockStart, RawBlock, Section, TextDialect, WrittenCall

START: Final = "<|start|>"
CHANNEL: Final = "<|channel|>"
MESSAGE: Final = "<|message|>"
CONSTRAIN: Final = "<|constrain|>"
CALL: Final = "<|call|>"
ENDS: Final = ("<|end|>", "<|return|>", CALL)

# The last is not a channel, but some servers have the role in its place.
_CHANNELS: Final = ("analysis", "commentary", "final", "assistant")
_NOBODY: Final = ("", "assistant", "user", "all")
_OURS: Final = ("", "assistant")
_CONTENT: Final = Notation((Quote('"', one_line=True),), ENDS, before=(START, CHANNEL))

_GAP = r"[ \t]*+"
_TO = (_GAP, *literal("to="), r"[^\s<{]++")
_TYPE = r"\w{0,20}+"
_ROLE = r"[\w.\-]{1,64}+"
# Some models leave the marker before the arguments out.
_ARGUMENTS = (r"(?=\{)",)


def _channel_heads(before: tuple[str, ...], commits: int) -> Iterator[Head]:
    for word, to, constrain in product(_CHANNELS, ((), _TO), ((), literal(CONSTRAIN))):
        opening = (*before, SPACE, *literal(word))
        rest = (*to, _GAP, *constrain, _GAP, _TYPE, _GAP)
        yield Head(*opening, *rest, *literal(MESSAGE), commits=commits)
        if to:
            yield Head(*opening, *rest, *_ARGUMENTS, commits=commits)


def _start_heads() -> Iterator[Head]:
    for to in ((), _TO):
        role = (SPACE, _ROLE, *to, _GAP)
        # A role that `<|` follows is a header.
        commits = len(role) + 1
        yield Head(*role, *literal(MESSAGE), commits=commits)
        yield from _channel_heads((*role, *literal(CHANNEL)), commits)


_CONTENT_END = re.compile(rf"(?:{'|'.join(map(re.escape, ENDS))})\Z")
_HEADER_END = re.compile(rf"{re.escape(MESSAGE)}|\{{")
_HEADER = re.compile(
    rf"(?:{re.escape(START)}\s*+(?P<role>{_ROLE})(?:{_GAP}to=(?P<first>[^\s<{{]++))?+{_GAP})?+"
    rf"(?:{re.escape(CHANNEL)}\s*+(?P<channel>{'|'.join(_CHANNELS)})"
    rf"(?:{_GAP}to=(?P<second>[^\s<{{]++))?+{_GAP}(?P<constrain>{re.escape(CONSTRAIN)})?+"
    rf"{_GAP}(?P<type>{_TYPE}){_GAP})?+(?P<message>{re.escape(MESSAGE)})?+"
)


class _Message:
    """One message, its header read."""

    def __init__(self, text: str) -> None:
        match = next(_HEADER.finditer(text))  # each of its parts may be missing
        fields = match.groupdict(default="")
        self.role = fields["role"]
        self.channel = fields["channel"]
        self.to = fields["second"] or fields["first"]
        self.typed = bool(fields["constrain"]) or fields["type"] == "json"
        self.marked = bool(fields["message"])
        self.body = match.end()

    @property
    def is_call(self) -> bool:
        """Whether it is addressed to a tool, or looks as if it were."""
        if self.role not in _OURS:
            return False
        return self.to not in _NOBODY or (self.typed and self.channel != "final")

    @property
    def hidden(self) -> bool:
        """Whether it is not part of the answer."""
        return self.channel == "analysis" or self.role not in _OURS


class Harmony(TextDialect):
    """See the module."""

    title = "OpenAI Harmony channels (gpt-oss)"
    openers = (START, CHANNEL)
    heads: ClassVar = {START: tuple(_start_heads()), CHANNEL: tuple(_channel_heads((), commits=1))}
    noise = (*ENDS, MESSAGE, CONSTRAIN)
    markers = (*openers, *noise)

    def section(self, start: BlockStart) -> Section | None:
        """Every message without a recipient is a section: reasoning, or visible text."""
        message = _Message(start.opener + start.head)
        if not message.marked or message.is_call:
            return None
        header = message.body - len(start.opener)
        if not message.hidden:
            return Section(reasoning=False, closers=(), header=header)
        return Section(reasoning=True, closers=ENDS, header=header, ended_by=self.openers)

    def ending(self, _opener: str) -> Ending:
        """An end token outside strings, or the next message."""
        return SequenceEnd(
            PatternEnd(_HEADER_END, len(MESSAGE)), lambda _text, _at: QuotedEnd(_CONTENT)
        )

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """One message is one call."""
        text = block.text
        message = _Message(text)
        if message.channel == "analysis" and not block.raw.endswith(CALL):
            return None
        if not message.is_call:
            return ()  # a header without its content
        body = _CONTENT_END.sub("", text[message.body :]).strip()
        if message.to in _NOBODY:
            return (WrittenCall(arguments=body, error="the call names no recipient"),)
        if not message.marked:
            return (WrittenCall(message.to, error="no message token precedes its arguments"),)
        return (WrittenCall(message.to, body),)

    def shown(self, block: RawBlock) -> tuple[bool, str]:
        """A message on `analysis` that is not a call is reasoning."""
        text = block.text
        return True, _CONTENT_END.sub("", text[_Message(text).body :])

    def write_call(self, call: WrittenCall) -> str:
        """One message."""
        header = f"{START}assistant{CHANNEL}commentary to=functions.{call.name} {CONSTRAIN}json"
        return f"{header}{MESSAGE}{call.arguments or '{}'}{CALL}"
