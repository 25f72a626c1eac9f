"""A case: the failing replay of one cell, with bytes, frames and deltas side by side.

It is a line of the run file, so that a report is a function of the run alone and needs
neither cassettes nor normalizers. Bytes are stored as bytes (base64 in JSON) and are neither
decoded nor repaired.
"""

import msgspec

from harness.results.expectation import ALL_FIELDS, Field
from harness.results.replay import Emission
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking
from harness.wire.frames import Frame
from harness.wire.interaction import Due

# The most bytes of a body that a case stores.
BODY_LIMIT = 64 * 1024


class SentRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The request of a turn.

    Fields:
        messages: each as JSON in OpenAI's form, the last ones of a long history.
        left_out: number of messages before those.
        tools: names of the tools that it declares.
        due: what the question needs, as `Interaction.due`.
    """

    messages: tuple[str, ...] = ()
    left_out: int = 0
    tools: tuple[str, ...] = ()
    due: Due = ""


class Crash(msgspec.Struct, frozen=True):
    """An exception of the normalizer.

    Fields:
        trace: its traceback, see `harness.judging.raised`.
        bytes_read: how many bytes had been read.
    """

    trace: str
    bytes_read: int


class Case(msgspec.Struct, frozen=True, tag_field="type", tag="case"):
    """The worst failing replay of one cell, next to the reference, with long texts cut.

    If the cell conforms and a turn of its model or provider failed, it is the replay of that turn.

    Fields:
        cell: id of the `Result` that it belongs to.
        interaction: index of the interaction that was replayed.
        body: the response body, at most `BODY_LIMIT` bytes of it; `body_b64` in JSON.
        chunking: the cuts of the replay, as offsets in the complete body.
        frames: the frames of the body that is stored, in order of their offset.
        deltas: the deltas of the normalizer under test, and after how many bytes each came.
        reference: the deltas of `reference` under the same cuts; () if it is the normalizer.
        error: the exception that the normalizer raised, `Type: text`; "" if it raised none.
        expected: the expected turn; None if there is none. An empty id, snippet or error text in
            it is not judged.
        actual: the turn that the normalizer gave.
        cut: whether body, frames or deltas were cut to a readable length.
        judged: the fields of `expected` that are compared.
        request: None if it was not recorded, and in runs of older harnesses.
        crash: more about `error`; not in the file if there is none.
    """

    cell: str
    interaction: int
    body: bytes = msgspec.field(name="body_b64")
    chunking: Chunking
    frames: tuple[Frame, ...]
    deltas: tuple[Emission, ...]
    reference: tuple[Emission, ...]
    error: str
    expected: Turn | None
    actual: Turn
    cut: bool = False
    judged: tuple[Field, ...] = tuple(sorted(ALL_FIELDS))
    request: SentRequest | None = None
    crash: Crash | msgspec.UnsetType = msgspec.UNSET
