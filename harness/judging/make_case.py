"""A case: the failing replay of one cell, with bytes, frames and deltas side by side.

It is a line of the run file, so that a report is a function of the run alone and needs
neither cassettes nor normalizers. Bytes are stored as bytes (base64 in JSON) and are neither
decoded nor repaired.
"""

import json
from typing import Any, TypeVar

import msgspec

from harness.dialects.table import message_form, request_body
from harness.errors import StreamError
from harness.judging.examine import ExaminedTurn
from harness.judging.replaying import ReplayLimits, replay
from harness.normalizers.reference import normalizer as reference
from harness.results.expectation import ALL_FIELDS, Expectation, Field
from harness.results.result import Emission
from harness.turns.deltas import Finish, ParseError, StreamFailure, ToolCall
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames as frames_of
from harness.wire.interaction import Due, Interaction

T = TypeVar("T")


def shorten(value: T, limit: int) -> T:
    """Return `value` with every text and every bytes in it at most about `limit` long.

    Args:
        value: a struct, a tuple, or a leaf of either.
        limit: characters or bytes; a text that is cut says how many are left out.
    """
    short: T = _shortened_value(value, limit)
    return short


def _shortened_value(value: Any, limit: int) -> Any:  # noqa: ANN401 - of any shape
    match value:
        case str() if len(value) > limit and type(value) is str:
            return f"{value[:limit]}… (+{len(value) - limit:,} characters)"
        case bytes() if len(value) > limit:
            return value[:limit]
        case tuple():
            return tuple(_shortened_value(each, limit) for each in value)
        case msgspec.Struct():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            short = {name: _shortened_value(field, limit) for name, field in fields.items()}
            changed = {name: new for name, new in short.items() if new is not fields[name]}
            return msgspec.structs.replace(value, **changed) if changed else value
        case _:
            return value


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
    """The worst failing replay of one cell, next to the reference, long texts cut.

    If the cell conforms and a turn of its model or provider failed, it is the replay of that turn.

    Fields:
        cell: id of the `Result` that it belongs to.
        interaction: which interaction of the cassette was replayed.
        body: the response body, at most `BODY_LIMIT` bytes of it; `body_b64` in JSON.
        chunking: the cuts of the replay, as offsets in the complete body.
        frames: of the body that is stored, in order of their offset.
        deltas: what the normalizer under test emitted, and after how many bytes.
        reference: what `reference` emitted under the same cuts; () if it is the normalizer.
        error: the exception that the normalizer raised, `Type: text`; "" if it did not.
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


_MOST_ROWS = 500
# Enough characters of one frame or delta, and of one field of a turn, to see what happened.
_ROW_LIMIT = 4_000
_FIELD_LIMIT = 20_000
_MOST_MESSAGES = 30


def make_case(cell: str, part: ExaminedTurn, limits: ReplayLimits) -> Case:
    """Return the worst replay of a turn next to what `reference` makes of the same reads.

    A failure that needs no cut is shown under the recorded reads if they fail as badly, because
    they show what came when.
    """
    evidence, failing = part.evidence, part.worst
    interaction, expectation = evidence.interaction, evidence.expectation
    if not failing.chunking and not failing.hung:
        cuts = interaction.recorded_cuts()
        recorded = replay(evidence.normalizer, interaction, cuts, limits)
        ended = (recorded.turn, recorded.error, recorded.hung)
        same = ended == (failing.turn, failing.error, False)
        if same and part.is_as_bad(recorded):
            failing = recorded
    beside: tuple[Emission, ...] = ()
    if evidence.normalizer.name != reference.name:
        beside = replay(reference, interaction, failing.chunking, limits).emissions
    frames = _frames_of_body(interaction.body)
    rows = (frames, failing.emissions, beside)
    return Case(
        cell=cell,
        interaction=evidence.index,
        body=interaction.body[:BODY_LIMIT],
        chunking=failing.chunking,
        frames=shorten(frames[:_MOST_ROWS], _ROW_LIMIT),
        deltas=shorten(failing.emissions[:_MOST_ROWS], _ROW_LIMIT),
        reference=shorten(beside[:_MOST_ROWS], _ROW_LIMIT),
        error="did not end within its limits" if failing.hung else failing.error,
        expected=shorten(expected_turn(expectation), _FIELD_LIMIT),
        judged=tuple(sorted(expectation.judged)),
        actual=shorten(failing.turn, _FIELD_LIMIT),
        cut=len(interaction.body) > BODY_LIMIT or any(len(row) > _MOST_ROWS for row in rows),
        request=_sent_request(interaction),
        crash=Crash(failing.trace, failing.bytes_read) if failing.error else msgspec.UNSET,
    )


def _sent_request(interaction: Interaction) -> SentRequest | None:
    body = request_body(interaction.request.body)
    if body is None:
        return SentRequest(due=interaction.due) if interaction.due else None
    form = message_form(interaction.dialect)
    messages = form.messages_of(body)
    return SentRequest(
        messages=shorten(
            tuple(json.dumps(each, ensure_ascii=False) for each in messages[-_MOST_MESSAGES:]),
            _ROW_LIMIT,
        ),
        left_out=max(0, len(messages) - _MOST_MESSAGES),
        tools=form.tool_names(body) or (),
        due=interaction.due,
    )


def _frames_of_body(body: bytes) -> tuple[Frame, ...]:
    try:
        return tuple(frames_of([body]))
    except StreamError:
        return ()


def expected_turn(expectation: Expectation) -> Turn:
    """Return the expected turn, for a diff; what is not judged is empty."""
    calls = tuple(
        ToolCall(call.id or "", call.name, call.json_text, call.kind) for call in expectation.calls
    )
    rejected = tuple(
        ParseError("tool_use", "", rejection.snippet, rejection.id or "", rejection.name or "")
        for rejection in expectation.rejected
    )
    finish = None
    if expectation.finish is not None and expectation.failure is None:
        finish = Finish(expectation.finish, expectation.finish_raw)
    failure = None
    if expectation.failure is not None:
        failure = StreamFailure(expectation.failure, expectation.failure_says)
    return Turn(
        text=expectation.text,
        reasoning=expectation.reasoning,
        tool_calls=calls,
        parse_errors=rejected,
        finish=finish,
        usage=expectation.usage,
        failure=failure,
    )
