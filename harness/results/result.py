"""What a replay gave, its findings, and the row of a run."""

from enum import StrEnum
from hashlib import sha256
from typing import Final, Literal, get_args

import msgspec

from harness.results.expectation import UNSPECIFIED, Field
from harness.turns.deltas import Delta, StreamFailure
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking

Blame = Literal["", "model", "provider", "normalizer", "harness"]
Level = Literal["MUST", "SHOULD", "MAY"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
# What the stream contained where a rule is violated, if a level depends on it:
# - as-documented: the client reads a member as the API documents it, and the server does not.
# - as-sent: the stream contains what the client emitted.
# - duplicate-keys: an object of the arguments has one key twice.
# - json-extension: arguments that are not JSON, but that many JSON parsers read without a guess.
# - lone-surrogate: an escape of half a surrogate pair.
# - misfit: arguments that do not fit the parameters of their tool.
# - unknown-value: a finish value that the API does not document.
# - undocumented: a form that the API or the framing does not have, and the client said so: it
#   reported a failure or a rejection, or as an SDK raised an exception.
# - unsent: a form that the specification permits, and that no server is known to send.
# - failure: a turn that must fail or may, or that has an unusable call; or a filter stopped it, or
#   its limit before any output.
# - no-answer: a success status, and a body without any event of the API.
# - null-arguments: null instead of an object for the arguments of a call.
# - number-form: the same number in another notation, such as 1 for 1.0.
Came = Literal[
    "",
    "as-documented",
    "as-sent",
    "duplicate-keys",
    "json-extension",
    "lone-surrogate",
    "misfit",
    "no-answer",
    "not-required",
    "undocumented",
    "unknown-value",
    "unsent",
    "failure",
    "null-arguments",
    "number-form",
]


class Outcome(StrEnum):
    """Outcome of a replay and of a cell, worst first: a silent wrong call is worse than a crash."""

    SILENT_WRONG = "silent_wrong"
    LOST_CALL = "lost_call"
    CRASH = "crash"
    HANG = "hang"
    LEAK = "leak"
    MISMATCH = "mismatch"
    UNJUDGED = "unjudged"
    PARSE_ERROR = "parse_error"
    PASS = "pass"  # noqa: S105 - not a password
    UNSUPPORTED = "unsupported"

    @property
    def badness(self) -> int:
        """Return 0 for the worst; larger is better."""
        return _ORDER[self]

    @property
    def conforms(self) -> bool:
        """Whether the normalizer is correct for the bytes (a reported parse_error is)."""
        return self in _CONFORMING

    @property
    def judged(self) -> bool:
        """Whether the cell was judged, so that it conforms or fails."""
        return self not in _NOT_JUDGED

    @property
    def fails(self) -> bool:
        """Whether the cell is a failure of conformance: it was judged and does not conform."""
        return self.judged and not self.conforms


_ORDER = {outcome: index for index, outcome in enumerate(Outcome)}
# A large page needs these a million times, so they are looked up once.
_CONFORMING = (Outcome.PARSE_ERROR, Outcome.PASS)
_NOT_JUDGED = (Outcome.UNJUDGED, Outcome.UNSUPPORTED)


class Emission(msgspec.Struct, frozen=True, gc=False):
    """A delta, and how many bytes had been read when it was emitted."""

    delta: Delta
    bytes_read: int


class Replay(msgspec.Struct, frozen=True):
    """One normalizer fed one interaction under one chunking.

    Fields:
        error: the exception that the normalizer raised, `Type: text`; "" if it did not.
        raised: `raised_in` that exception.
        hung: it neither yielded nor ended within its limits.
        is_read_ahead: another thread took reads, as a server does for its client, so `bytes_read`
            does not say what the client had received before a delta.
        trace: `traceback_of` that exception.
        bytes_read: how many bytes had been read when it was raised; 0 if it was not.
    """

    chunking: Chunking
    emissions: tuple[Emission, ...]
    turn: Turn
    error: str = ""
    hung: bool = False
    raised: str = ""
    is_read_ahead: bool = False
    trace: str = ""
    bytes_read: int = 0

    @property
    def reports_failure(self) -> bool:
        """Whether the normalizer itself reported a failure; the folded turn may derive one."""
        return any(isinstance(each.delta, StreamFailure) for each in self.emissions)


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One violation of a rule in one replay.

    Fields:
        rule: id of the rule.
        level: for the kind of the client. MUST findings decide the outcome, SHOULD findings are
            shown and counted, and MAY findings are allowed and only shown with their cell.
        outcome: what kind of failure it is.
        path: where in the turn, such as `turns[0].calls[1].arguments`.
        expected, actual: as text, cut to a readable length.
        offset: byte in the body that caused it; None if it is not known.
        came: what the stream contained, if the level depends on it.
        raised: `raised_in` the exception that violates the rule; "" for other violations.
    """

    rule: str
    level: Level
    outcome: Outcome
    path: str
    expected: str
    actual: str
    offset: int | None = None
    came: Came = ""
    raised: str = ""


class TurnFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user got from one interaction of a cell: a row of the model rankings.

    Fields:
        success: the turn finished, did not fail, and each call names a tool of the request
            with arguments valid against that tool's schema.
        why: why it is not a success; "" if it is one.
        blame: the responsible party, from the scenario or the oracle.
        parse_errors: number of calls that were rejected.
        parse_error_blame: the responsible party for those; "" if there are none.
        digest: `digest_of` the interaction's body; "" in runs of older harnesses.
        asked: `asked_of` its request; "" if it is not known, and in older runs.
        unjudged: `reasons_not_judged` of the expected result; none in runs of older harnesses.
        unchecked: why the arguments of a call were not compared with the schema of their tool,
            which then counts as fulfilled; "" if all were.
    """

    interaction: int
    success: bool
    why: str
    blame: Blame
    calls: int
    parse_errors: int
    parse_error_blame: Blame
    finish: str
    failure: str
    digest: str = ""
    asked: str = ""
    unjudged: dict[Field, str] = {}
    unchecked: str = ""

    @property
    def ambiguous(self) -> tuple[Field, ...]:
        """The fields that were not judged because the bytes are ambiguous."""
        return tuple(field for field, why in self.unjudged.items() if why != UNSPECIFIED)


def body_digest(body: bytes) -> str:
    """Return 16 hex digits that identify the body of a turn."""
    return sha256(body).hexdigest()[:16]


class ConversationFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user got from one conversation: a row of the rankings.

    Fields:
        ending: as the agent reports it; "" if it returned no conversation.
        success: it ended with an answer, and the agent violated no MUST rule.
        why: why it is not a success; "" if it is one.
        blame: the responsible party.
        requests: that were sent, probes and retries included.
        turns: replies that the agent recorded.
        broken_turns: those with a parse_error, or that failed or were truncated.
        parse_error_turns: those with a parse_error.
        parse_errors: calls that were rejected.
        recovered: broken turns that a usable one followed.
        retries: compensating requests.
        tool_use, json_fallback: turns by strategy.
        probe: `ok`, `no` or `error`; "" if none was sent.
        compared: requests that were compared with those of the recorded client.
        as_recorded: those of them with the same structure.
        whole: whether the conversation was recorded up to its end; else it is not known whether
            an answer came, and it does not count for its model.
    """

    ending: str
    success: bool
    why: str
    blame: Blame
    requests: int
    turns: int
    broken_turns: int = 0
    parse_error_turns: int = 0
    parse_errors: int = 0
    recovered: int = 0
    retries: int = 0
    tool_use: int = 0
    json_fallback: int = 0
    probe: str = ""
    compared: int = 0
    as_recorded: int = 0
    whole: bool = True


class CassetteFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a report shows of the cassette of a cell, so that it needs no cassette.

    Fields:
        by, at, source, licence: of its origin; `at` is an ISO date.
        reads: `recorded` if the network's own were stored, `synthetic` if none was, `mixed` if
            only some interactions have them; "" if it is not known. (The default of a text must
            be "", because msgspec omits defaults by identity, and any other text is another
            object after it came from another process.)
        leaks: credentials found in addresses and headers, over all interactions.
        interactions, size: how many, and the bytes of their bodies.
    """

    by: str = ""
    at: str = ""
    source: str = ""
    licence: str = ""
    reads: Literal["", "recorded", "synthetic", "mixed"] = ""
    leaks: int = 0
    interactions: int = 0
    size: int = 0


class Result(msgspec.Struct, frozen=True, tag_field="type", tag="result"):
    """One cell of a run, `scenario x normalizer` or `scenario x agent`.

    It is a pure function of its inputs.

    Fields:
        cell: slash path, the scenario's id and the normalizer's or agent's name.
        normalizer: its name; that of the agent if `kind` is not `turns`.
        scenario: its id; for a cassette without a scenario `cassette:` and the cassette's id.
        outcome: the worst over all replays; `unjudged` if no MUST rule is violated and the oracle
            did not judge the calls of any turn.
        blame: the responsible party for a parse_error or a failure; "" for others.
        findings: distinct ones over all replays, worst first.
        chunking: cuts of the worst failing replay, of equal ones the one with the fewest; the
            unsplit body if none failed.
        interaction: index of the interaction of that replay.
        replays: how many chunkings were tried.
        turns: one for each interaction, its body unsplit.
        text_dialect: that of the scenario; "" if it has no text calls.
        kind: what was judged, the turns of a cassette or the conversation; a `log` of a
            conversation is only counted, so its outcome is always unsupported.
        conversation: its facts; None for turns, and for a cell that did not run.
        source: of the cassette; None in runs of older harnesses.
        cause: of the failure, see `harness.judging.raised`; "" if the cell did not fail.
    """

    cell: str
    scenario: str
    title: str
    cassette: str
    normalizer: str
    outcome: Outcome
    blame: Blame
    findings: tuple[Finding, ...]
    chunking: Chunking
    interaction: int
    replays: int
    turns: tuple[TurnFacts, ...]
    quirks: tuple[str, ...]
    provider: str
    model: str
    prompt: str
    dialect: str
    origin: str
    text_dialect: str = ""
    kind: Literal["turns", "conversation", "log"] = "turns"
    conversation: ConversationFacts | None = None
    source: CassetteFacts | None = None
    cause: str = ""

    @property
    def reported(self) -> tuple[Finding, ...]:
        """The findings without those that a MAY rule allows."""
        return tuple(finding for finding in self.findings if finding.level != "MAY")
