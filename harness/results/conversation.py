"""Define what an agent returns: the messages of the conversation, and a record of each turn."""

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
        ok: whether the provider answered with a tool call.
        error: why the probe failed, so that tool support is unknown; "" if it did not fail.
    """

    ok: bool
    error: str = ""


class TurnMeta(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent records about a turn in addition to the turn and its messages.

    Fields:
        strategy: `tool_use` if the request declared the tools in the field of the API,
            `json_fallback` if the prompt described them; "" for an agent with only one strategy.
        parse_errors: calls that the agent could not use and did not execute.
        probe: the probe that the agent sent before this turn; None if it sent none.
        retries: number of requests that the agent sent again because of the reply of this turn.
        deprecated: whether the prompt is intended only for providers without a field for tools.
    """

    strategy: Strategy | Literal[""] = ""
    parse_errors: tuple[ParseError, ...] = ()
    probe: Probe | None = None
    retries: int = 0
    deprecated: bool = False


class TurnRecord(msgspec.Struct, frozen=True):
    """One reply of the provider as the agent understood it.

    Fields:
        turn: the reply, parsed by the agent.
        meta: what else the agent recorded about the turn.
        executed: ids of the calls of the turn that the agent executed, in order.
    """

    turn: Turn
    meta: TurnMeta = TurnMeta()
    executed: tuple[str, ...] = ()


class Conversation(msgspec.Struct, frozen=True):
    """One complete run of an agent's tool loop, as the agent returns it.

    Fields:
        messages: all messages, including the system text, as the agent would send them next.
        turns: one record for each reply, including retries but not probes.
        ending: how the conversation ended, such as `done` after an answer.
        answer: the last visible text of the model; "" if there is none.
    """

    messages: tuple[Message, ...]
    turns: tuple[TurnRecord, ...]
    ending: Ending
    answer: str = ""
