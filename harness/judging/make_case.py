"""Make the case of a failing replay, with the deltas of `reference` for the same reads."""

import json
from typing import Any, TypeVar

import msgspec

from harness.dialects.table import message_form, request_body
from harness.errors import StreamError
from harness.judging.examine import ExaminedTurn
from harness.judging.replaying import ReplayLimits, replay
from harness.judging.unread import unread_members
from harness.normalizers.reference import normalizer as reference
from harness.playback.matching import path_of
from harness.results.case import BODY_LIMIT, Case, Crash, Crossing, SentRequest
from harness.results.exchange import Exchange
from harness.results.expectation import Expectation
from harness.results.replay import Emission
from harness.turns.deltas import Finish, ParseError, StreamFailure, ToolCall
from harness.turns.turn import Turn
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames as frames_of
from harness.wire.interaction import Interaction

T = TypeVar("T")


def shorten(value: T, limit: int) -> T:
    """Return `value` with each text and each bytes value in it cut to about `limit`.

    Args:
        value: a struct, a tuple, or a text or bytes in one of them.
        limit: the number of characters or bytes; a text that is cut says how many are missing.
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


_MOST_ROWS = 500
# Enough characters of one frame or delta, and of one field of a turn, to see what happened.
_ROW_LIMIT = 4_000
_FIELD_LIMIT = 20_000
_MOST_MESSAGES = 30


def make_case(cell: str, part: ExaminedTurn, limits: ReplayLimits) -> Case:
    """Return the case of the worst replay of a turn, with `reference` on the same reads.

    If the replay fails without cuts, the case shows the recorded reads if the client fails as badly
    with them, because these show when each byte came.

    Args:
        cell: the id of the cell.
        part: the replays of the interaction.
        limits: the limits of each further replay.
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
        crossing=crossing_of(failing.exchange) if failing.exchange else msgspec.UNSET,
        unread=unread_members(interaction, evidence.oracle) or msgspec.UNSET,
    )


def crossing_of(exchange: Exchange) -> Crossing:
    """Return what crossed a gateway as texts of a readable length."""

    def text(body: bytes) -> str:
        return shorten(body.decode("utf-8", "backslashreplace"), _FIELD_LIMIT)

    answer = exchange.answer
    return Crossing(
        answer.dialect,
        answer.request.uri,
        text(answer.request.body),
        tuple((path_of(each.uri), text(each.body)) for each in exchange.arrived),
        answer.status,
        text(answer.body),
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
    """Return the expected turn as a `Turn` for the report; fields that are not judged are empty."""
    calls = tuple(
        ToolCall(call.id or "", call.name, call.json_text, call.kind, namespace=call.namespace)
        for call in expectation.calls
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
