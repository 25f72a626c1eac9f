"""Define a case: the worst failing replay of one cell, with its bytes, frames and deltas.

A case is a line of the run file, so that a report needs neither cassettes nor normalizers.
The harness stores bytes unchanged (base64 in JSON), without decoding or repairing them.
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
    """The request that led to the replayed response, as the report shows it.

    Fields:
        messages: the last messages of the history, each as JSON in the format of OpenAI.
        left_out: number of earlier messages that are not in `messages`.
        tools: names of the tools that the request declares.
        due: the kind of answer that the question needs, as in `Interaction.due`.
    """

    messages: tuple[str, ...] = ()
    left_out: int = 0
    tools: tuple[str, ...] = ()
    due: Due = ""


class Crash(msgspec.Struct, frozen=True):
    """Where the normalizer raised an exception, and after how many bytes.

    Fields:
        trace: the traceback, in the format of `harness.judging.raised.traceback_of`.
        bytes_read: number of body bytes that the normalizer had read before the exception.
    """

    trace: str
    bytes_read: int


class Crossing(msgspec.Struct, frozen=True):
    r"""What crossed a gateway in the replay of a case; long texts are cut.

    Fields:
        front: the dialect in which the gateway answers.
        asked: the body of the request to the gateway.
        uri: the address of that request.
        arrived: the requests that arrived upstream: path and body of each.
        status: the HTTP status of the answer.
        answer: the body of the answer; bytes that are not UTF-8 as `\xFF`.
    """

    front: str
    uri: str
    asked: str
    arrived: tuple[tuple[str, str], ...]
    status: int
    answer: str


class Case(msgspec.Struct, frozen=True, tag_field="type", tag="case"):
    """The worst failing replay of one cell with the deltas of `reference`; long texts are cut.

    If the cell conforms but its model or provider failed in a turn, the case is a replay of that
    turn.

    Fields:
        cell: id of the `Result` that it belongs to.
        interaction: index of the interaction that was replayed.
        body: the first `BODY_LIMIT` bytes of the response body; the key in JSON is `body_b64`.
        chunking: the cuts of the replay, as offsets in the complete body.
        frames: the frames of the stored body, in order of their offset.
        deltas: the deltas of the normalizer under test, and after how many bytes each came.
        reference: the deltas of `reference` under the same cuts; () if it is the normalizer.
        error: the exception that the normalizer raised, as `Type: text`; "" if it raised none.
        expected: the expected turn; None if there is none. The rules do not judge an empty id,
            snippet or error text in it.
        actual: the turn that the normalizer returned.
        cut: whether body, frames or deltas were cut to a readable length.
        judged: the fields of `expected` that the rules compare with `actual`.
        request: the request; None if it was not recorded, or if an older harness made the run.
        crash: the traceback of `error`; the key is missing in the file if there is none.
        crossing: what crossed a gateway; the key is missing for other normalizers.
        unread: paths of members of the body with text that the oracle did not read; the key is
            missing if there are none.
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
    crossing: Crossing | msgspec.UnsetType = msgspec.UNSET
    unread: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
