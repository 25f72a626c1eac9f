"""The dialect `openai-chat`: the chat completions stream, as its many providers spell it."""

from collections.abc import Iterable, Iterator

from harness.dialects.kit.dialect import Dialect
from harness.dialects.openai_chat.parse_request import parse_request
from harness.dialects.openai_chat.read import read
from harness.dialects.openai_chat.write import write
from harness.turns.deltas import Delta
from harness.wire.frames import Frame


def _read(frames: Iterable[Frame], tools: tuple[str, ...]) -> Iterator[Delta]:
    return read(frames, tools=tools)


DIALECT = Dialect(
    "openai-chat",
    "OpenAI chat completions, as its many providers spell it",
    _read,
    write,
    parse_request,
)
