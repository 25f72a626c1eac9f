"""Define how a client takes part in timing scenarios, which play a server with pauses and breaks.

Such a client sends its own requests over the network. A `Normalizer` only parses one response.
"""

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

# What a scenario tells a client.
Told = Literal["idle_timeout", "max_retries", "cancel_after"]
TOLD: Final[tuple[Told, ...]] = get_args(Told)


class TimedCase(msgspec.Struct, frozen=True):
    """What a client is told for one timing scenario.

    Fields:
        base_url: the server to which the client's library appends its path.
        interaction: an interaction without a body: the request to send, and the dialect.
        idle_timeout: the seconds without data after which the client must give up; None for the
            default of the client.
        max_retries: how often the client may send a request again.
        cancel_after: the number of pieces of content after which the consumer leaves; None if it
            stays until the end.
    """

    base_url: str
    interaction: Interaction
    idle_timeout: float | None = None
    max_retries: int = 0
    cancel_after: int | None = None


RunTimed: TypeAlias = Callable[[TimedCase], Iterator[Delta]]


class TimedClient(msgspec.Struct, frozen=True):
    """How to run a client on timing scenarios.

    Fields:
        run: sends the request of a case, and yields the deltas that agent code gets, when it gets
            them. The harness closes the iterator if its consumer leaves.
        untold: what the client cannot be told -> the place that documents it. Scenarios that need
            it are `unsupported`.
        leaves: whether `run` itself stops after `cancel_after` pieces, because its deltas come all
            at the end.
    """

    run: RunTimed
    untold: dict[Told, str] = msgspec.field(default_factory=dict)
    leaves: bool = False
