"""A turn: what one streamed response means, equal by value whatever the cuts were."""

import msgspec

from harness.turns.calls import ParseError, ToolCall
from harness.turns.deltas import Finish, StreamFailure, Usage


class Turn(msgspec.Struct, frozen=True):
    """The folded deltas of one response.

    Fields:
        tool_calls: those that may be executed, in order of first appearance.
        parse_errors: the calls that were rejected or never ended, in order of first appearance.
        finish: how the provider ended the turn; None where it did not.
        failure: the error that ended it instead.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    parse_errors: tuple[ParseError, ...] = ()
    finish: Finish | None = None
    usage: Usage | None = None
    failure: StreamFailure | None = None
