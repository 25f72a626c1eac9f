"""Define mutators that encode payloads differently, or add members, with the same meaning.

In JSON, the order of members, white space and escapes have no meaning. Every supported API
requires clients to ignore members and events that they do not know.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.dialects.table import DIALECTS
from harness.fuzzing.mutators.mutator import Mutate, mutator
from harness.fuzzing.mutators.sent import Sent, SentFrame, dumped, on_frames, sent, value_of
from harness.wire.interaction import Interaction

Revalue = Callable[[DrawFn, Any], bytes | None]

# Its examples have no white space in payloads, and the member `obfuscation`.
_OPENAI_STREAM: Final = "https://platform.openai.com/docs/api-reference/chat-streaming/streaming"
# What the model wrote: in these the order of keys counts.
_WRITTEN: Final = frozenset(("args", "arguments", "input", "partialArgs", "partial_args"))
_MORE: Final = (
    ("x_unknown", None), ("obfuscation", "aZ3"), ("system_fingerprint", "fp_1"),
    ("x_details", {"name": "none", "arguments": "{}", "text": "x"}), ("service_tier", "default"),
)  # fmt: skip


def editing_payloads(revalue: Revalue, *, each: bool = False) -> Mutate:
    """Return a mutation that writes the payload of one frame, or of each, with `revalue`."""

    @on_frames()
    def mutate(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
        indexes = frames.payload_indexes()
        chosen = indexes if each else (draw(st.sampled_from(indexes)),)
        for at in chosen:
            frames = frames.put(at, _with_payload(draw, frames, at, revalue))
        return frames, "in each frame" if each else f"in frame {chosen[0]}"

    return mutate


def _with_payload(draw: DrawFn, frames: Sent, at: int, revalue: Revalue) -> SentFrame:
    frame = frames.frames[at]
    value = value_of(frame)
    data = None if value is None else revalue(draw, value)
    return frame if data is None else frames.changed(frame, data)


def _reversed(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        return [_reversed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: item if key in _WRITTEN else _reversed(item) for key, item in reversed(value.items())
    }


def _with_member(draw: DrawFn, value: Any) -> bytes | None:  # noqa: ANN401 - a payload
    name, more = draw(st.sampled_from(_MORE))
    return None if name in value else dumped({**value, name: more})


def _escaped(_draw: DrawFn, value: Any) -> bytes:  # noqa: ANN401 - a payload
    """Return `value` as JSON with escapes for all but printable ASCII, and for the slash."""
    return json.dumps(value).replace("/", "\\/").replace("\x7f", "\\u007f").encode()


@mutator(
    "unknown-event", dialects=tuple(row.name for row in DIALECTS.values() if row.unknown_events)
)
def _unknown_event(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    frames = sent(interaction.body)
    if frames is None or frames.framing != "sse":
        return None
    found = [at for at in frames.payload_indexes() if value_of(frames.frames[at]) is not None]
    places = found[1:]  # each API says which event is the first one
    if not places:
        return None
    at = draw(st.sampled_from(places))
    value = draw(st.sampled_from(DIALECTS[interaction.dialect].unknown_events))
    data = dumped(value)
    named = frames.frames[at].event
    event = str(next(iter(value.values()))) if named else ""
    return frames.inserted(at, frames.made(data, event)).into(interaction), (
        f"{data.decode()} before frame {at}"
    )


mutator("key-order")(editing_payloads(lambda _, value: dumped(_reversed(value)), each=True))
mutator("compact")(editing_payloads(lambda _, value: dumped(value, b""), each=True))
mutator("escaped")(editing_payloads(_escaped, each=True))
mutator("unknown-member")(editing_payloads(_with_member))
