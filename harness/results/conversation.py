"""The result of an agent: the history, and a record of each turn."""

from typing import Literal

import msgspec

from harness.turns.deltas import ParseError
from harness.turns.messages import Message
from harness.turns.turn import Turn

Strategy = Literal["tool_use", "json_fallback"]
# How a conversation ended: with an answer, at a limit, with an empty turn, with an interrupted
# stream, or with an error of the provider. Quirk BUDGET-OUTCOME: clients confuse these.
Ending = Literal["done", "limit", "empty", "interrupted", "error"]


class Probe(msgspec.Struct, frozen=True):
    """A request with a dummy tool, which shows whether a provider supports tools.

    Fields:
        ok: the provider answered with a tool call.
        error: why the probe itself failed, so that the answer is unknown; else "".
    """

    ok: bool
    error: str = ""


class TurnMeta(msgspec.Struct, frozen=True, omit_defaults=True):
    """Data that is recorded of a turn in addition to its messages.

    Fields:
        strategy: how tools were offered; "" for an agent with one strategy only.
        parse_errors: calls that could not be used and were not executed.
        probe: the probe that was sent before this turn, if any.
        retries: the number of requests that were sent again because of this turn's reply.
        deprecated: whether the prompt is only for providers without a field for tools.
    """

    strategy: Strategy | Literal[""] = ""
    parse_errors: tuple[ParseError, ...] = ()
    probe: Probe | None = None
    retries: int = 0
    deprecated: bool = False


class TurnRecord(msgspec.Struct, frozen=True):
    """One reply of the provider as the agent understood it.

    Fields:
        executed: ids of its calls that were executed, in order.
    """

    turn: Turn
    meta: TurnMeta = TurnMeta()
    executed: tuple[str, ...] = ()


class Conversation(msgspec.Struct, frozen=True):
    """One complete run of the tool loop.

    Fields:
        messages: the history as the agent would send it next, including the system text.
        turns: one for each reply, including retries but not probes.
        ending: how it ended.
        answer: the last visible text of the model, or "".
    """

    messages: tuple[Message, ...]
    turns: tuple[TurnRecord, ...]
    ending: Ending
    answer: str = ""
