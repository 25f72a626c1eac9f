"""Define the rows of the answers to questions on a run.

In each, `k` of `n` things have a property, such as success.
"""

import msgspec

from harness.results.outcome import Blame, Outcome


class BlameSplit(msgspec.Struct, frozen=True):
    """Numbers of failed turns, by the party to blame.

    Fields:
        harness: turns that the types of the harness cannot express, and bodies that it cannot read.
        request: turns that the provider rejected because of the request.
        model_or_provider: turns whose bytes do not show which of the two is to blame.
    """

    model: int = 0
    provider: int = 0
    normalizer: int = 0
    harness: int = 0
    request: int = 0
    model_or_provider: int = 0

    @property
    def total(self) -> int:
        """Return the number of failed turns."""
        return sum(msgspec.structs.astuple(self))


class Rate(msgspec.Struct, frozen=True):
    """The rate `k` / `n` of one model, prompt or client: successful turns or conforming cells.

    Fields:
        best_k: `k` if each turn is read by the best normalizer for it.
        unjudged: of a model or prompt, the turns among the `n` whose calls are ambiguous; of a
            client, its unjudged cells, which are not among the `n`.
        parse_error, failed: turns with a parse error, and failed turns, by blame.
        causes: of a client, the number of different causes for which its cells fail.
    """

    name: str
    k: int
    n: int
    best_k: int
    unjudged: int
    parse_error: BlameSplit
    failed: BlameSplit
    causes: int = 0


class MeasuredRate(msgspec.Struct, frozen=True):
    """The turn success of a model and a prompt: `k` of `n` turns, as one normalizer read them."""

    model: str
    prompt: str
    normalizer: str
    k: int
    n: int


class ConversationRate(msgspec.Struct, frozen=True):
    """How many conversations of a model, a prompt and an agent ended with an answer: `k` of `n`.

    Fields:
        turns: replies that the agent recorded.
        broken_turns: turns that had a parse error, failed or were truncated.
        parse_error_turns: turns with a parse error.
        recovered: broken turns after which a usable turn followed.
        retries: requests that the agent sent again because of an unusable reply.
        tool_use, json_fallback: number of turns with each strategy.
        compared: requests that the harness compared with the recorded ones.
        as_recorded: compared requests with the same structure as the recorded one.
        failed: conversations without an answer, by blame.
    """

    model: str
    prompt: str
    agent: str
    k: int
    n: int
    turns: int
    broken_turns: int
    parse_error_turns: int
    recovered: int
    retries: int
    tool_use: int
    json_fallback: int
    compared: int
    as_recorded: int
    failed: BlameSplit


class FailedTurns(msgspec.Struct, frozen=True):
    """How many turns of models failed for one reason.

    Fields:
        blame: the party responsible.
        why: the reason.
        count: the number of turns.
        cells: ids of cells with such turns, as many as a report may show.
    """

    blame: Blame
    why: str
    count: int
    cells: tuple[str, ...]


class QuirkLoss(msgspec.Struct, frozen=True):
    """How many cells of a normalizer whose scenario has a quirk conform: `k` of `n`.

    `worst` is the worst outcome of these cells.
    """

    normalizer: str
    quirk: str
    k: int
    n: int
    worst: Outcome
