"""What an agent gives back: the history, and what became of each turn on the way."""

from typing import Literal

import msgspec

from harness.turns.deltas import ParseError
from harness.turns.messages import Message
from harness.turns.turn import Turn

Strategy = Literal["tool_use", "json_fallback"]
# How a conversation ended (quirk BUDGET-OUTCOME: these are never the same thing): with an
# answer, at a limit, with nothing said, with a stream that broke off, with a provider's error.
Ending = Literal["done", "limit", "empty", "interrupted", "error"]


class Probe(msgspec.Struct, frozen=True):
    """Whether a provider takes tools, as a request with a dummy tool showed.

    Fields:
        ok: it answered with a tool call.
        error: why it is not known, where the probe itself failed; "" where it did not.
    """

    ok: bool
    error: str = ""


class Meta(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of a turn beside its messages.

    Fields:
        strategy: how tools were offered; "" to an agent that has no two ways.
        parse_errors: calls that could not be used; nothing of them was executed.
        probe: where one was sent before this turn.
        retries: requests that were sent again to compensate for this turn's reply.
    """

    strategy: Strategy | Literal[""] = ""
    parse_errors: tuple[ParseError, ...] = ()
    probe: Probe | None = None
    retries: int = 0


class TurnRecord(msgspec.Struct, frozen=True):
    """One reply of the provider, as the agent understood it.

    Fields:
        executed: ids of the calls that were run for it, in order.
    """

    turn: Turn
    meta: Meta = Meta()
    executed: tuple[str, ...] = ()


class Conversation(msgspec.Struct, frozen=True):
    """What an agent made of a task.

    Fields:
        messages: the history as the agent would send it next, system text included.
        turns: one for each reply that was asked for, retries included, probes not.
        ending: how it ended.
        answer: the last visible text of the model; "" where there is none.
    """

    messages: tuple[Message, ...]
    turns: tuple[TurnRecord, ...]
    ending: Ending
    answer: str = ""
