"""The answers to the questions on a run: one value for each row of a query."""

import msgspec

from harness.results.outcome import Blame, Outcome


class BlameSplit(msgspec.Struct, frozen=True):
    """Numbers of failed turns, by blame.

    Fields:
        harness: the types of the harness cannot express the turn.
    """

    model: int = 0
    provider: int = 0
    normalizer: int = 0
    harness: int = 0

    @property
    def total(self) -> int:
        """Return the number of failed turns."""
        return self.model + self.provider + self.normalizer + self.harness


class Rate(msgspec.Struct, frozen=True):
    """`k` of `n` for one name; `best_k` is `k` with the best normalizer for each turn.

    Fields:
        unjudged: of a model or prompt, the turns among the `n` whose calls are ambiguous; of a
            client, its unjudged cells, which are not among the `n`.
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
    """`k` of `n` measured turns of a model and a prompt succeeded, as one normalizer read them."""

    model: str
    prompt: str
    normalizer: str
    k: int
    n: int


class ConversationRate(msgspec.Struct, frozen=True):
    """`k` of `n` conversations of a model, a prompt and an agent ended with an answer.

    Fields:
        turns: replies that the agent recorded; the numbers below count those.
        broken_turns: with a parse_error, failed, or truncated.
        parse_error_turns: with a parse_error.
        recovered: broken ones that a usable one followed.
        retries: compensating requests.
        tool_use, json_fallback: by strategy.
        compared: requests that were compared with those of the recorded client.
        as_recorded: of those, the ones with the same structure.
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
    """Measured turns that failed for one reason.

    Fields:
        cells: their ids, as many as a report may show.
    """

    blame: Blame
    why: str
    count: int
    cells: tuple[str, ...]


class QuirkLoss(msgspec.Struct, frozen=True):
    """`k` of `n` cells of a normalizer with a quirk conform."""

    normalizer: str
    quirk: str
    k: int
    n: int
    worst: Outcome
