"""Make the streams of a measurement: half is text, and half the arguments of one call."""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Final

import msgspec

from harness.cost.fitting import deltas_fitter
from harness.cost.floor import Floor, floor_of
from harness.dialects.kit.dialect import Dialect
from harness.judging.replaying import ReplayLimits, replay
from harness.normalizers.reference import normalizer as reference
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Interaction

_WORDS: Final = (" snow", " is", " gone", " und", " die", " Wiese", " blüht", "春天", "来了")
_TOOL: Final = Tool(
    "writing",
    parameters={"type": "object", "properties": {"content": {"type": "string"}}},
)
_PATIENT: Final = ReplayLimits(seconds=600)


class CostStream(msgspec.Struct, frozen=True):
    """A stream to measure a client with.

    Fields:
        deltas: the number of deltas with text or arguments; each is one event.
        first_text: offset of the end of the event with the first text.
        first_arguments: the same for the first fragment of arguments; None if there is none.
        turn: what the stream contains, as `reference` parses it.
    """

    interaction: Interaction
    deltas: int
    first_text: int
    first_arguments: int | None
    turn: Turn

    @property
    def characters(self) -> int:
        """The number of characters of the text and arguments in the stream."""
        return len(self.turn.text) + sum(len(call.arguments) for call in self.turn.tool_calls)


def cost_stream(dialect: Dialect, deltas: int) -> CostStream:
    """Return a stream of `deltas` deltas, written as the API of `dialect` documents."""
    tools = () if dialect.arguments == "none" else (_TOOL,)
    request = dialect.request_forms[""].first_request("cost", "Write about spring.", tools)
    written = deltas_fitter(dialect)(_iter_deltas(deltas))
    interaction = dialect.interaction(written, request=request)
    done = replay(reference, interaction, interaction.recorded_cuts(), _PATIENT)
    ends: dict[type, int] = {}
    for each in done.emissions:
        ends.setdefault(type(each.delta), each.bytes_read)
    starts = ends[TextDelta], ends.get(ArgumentsDelta)
    return CostStream(interaction, deltas, *starts, done.turn)


def stream_floor(stream: CostStream) -> Floor:
    """Return the floor for bodies framed like `stream`: it only finds and decodes the payloads."""
    return floor_of(stream.interaction, msgspec.json.decode)


def _iter_deltas(count: int) -> Iterator[Delta]:
    of_text = count // 2
    # Text that begins or ends with a space may be stripped, and would not be equal.
    yield from map(TextDelta, ("In", *islice(cycle(_WORDS), of_text - 2), "."))
    yield ToolCallStart(0, "call_abc12", _TOOL.name)
    inside = islice(cycle(_WORDS), count - of_text - 2)
    yield from (ArgumentsDelta(0, each) for each in ('{"content": "', *inside, '"}'))
    yield ToolCallEnd(0)
    yield Finish(FinishReason.TOOL_CALLS)
    yield UsageDelta(Usage(100, count))
