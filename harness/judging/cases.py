"""A case: what a reader needs to see one failing cell down to its bytes.

It is a line of the run file, so that a report is a function of the run alone and needs
neither cassettes nor normalizers. Bytes are kept as bytes (base64 in JSON): nothing here
decodes or repairs what was on the wire.
"""

import msgspec

from harness.judging.expectation import ALL_FIELDS, Field
from harness.judging.results import Emission
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking
from harness.wire.frames import Frame

BODY_LIMIT = 64 * 1024


class Case(msgspec.Struct, frozen=True, tag_field="type", tag="case"):
    """The worst failing replay of one cell, with the reference beside it, long texts cut.

    Fields:
        cell: id of the `Result` that it belongs to.
        interaction: which interaction of the cassette was replayed.
        body: the response body, at most `BODY_LIMIT` bytes of it; `body_b64` in JSON.
        chunking: the cuts of the replay, as offsets in the whole body.
        frames: of the body that is kept, in order of their offset.
        deltas: what the normalizer under test said, and after how many bytes.
        reference: what `reference` said under the same cuts.
        error: the exception that the normalizer raised, `Type: text`; "" where it did not.
        expected: the turn that should have come out; None where nothing says it. An empty
            id, snippet or error text in it leaves that open.
        actual: the turn that came out.
        cut: whether body, frames or deltas were cut to a bearable length.
        judged: the fields of `expected` that say something.
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
