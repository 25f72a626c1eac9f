"""What a replay gave, what was found in it, and the row of a run that it becomes."""

from enum import StrEnum
from hashlib import sha256
from typing import Literal

import msgspec

from harness.turns.deltas import Delta
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking

Blame = Literal["", "model", "provider", "normalizer", "harness"]
Level = Literal["MUST", "SHOULD", "MAY"]


class Outcome(StrEnum):
    """Of a replay and of a cell, worst first; a loud failure ranks above a silent wrong call."""

    SILENT_WRONG = "silent_wrong"
    LOST_CALL = "lost_call"
    CRASH = "crash"
    HANG = "hang"
    LEAK = "leak"
    MISMATCH = "mismatch"
    PARSE_ERROR = "parse_error"
    PASS = "pass"  # noqa: S105 - an outcome, no password
    UNSUPPORTED = "unsupported"

    @property
    def badness(self) -> int:
        """Return 0 for the worst; larger is better."""
        return _ORDER[self]

    @property
    def conforms(self) -> bool:
        """Whether the normalizer did right by the bytes (a reported parse_error does)."""
        return self in _CONFORMING


_ORDER = {outcome: place for place, outcome in enumerate(Outcome)}
# Looked up once: a large page asks a million times, and finding the members would cost the most.
_CONFORMING = (Outcome.PARSE_ERROR, Outcome.PASS)


class Emission(msgspec.Struct, frozen=True, gc=False):
    """A delta, and how many bytes had been pulled when it appeared."""

    delta: Delta
    bytes_read: int


class Replay(msgspec.Struct, frozen=True):
    """One normalizer fed one interaction under one chunking.

    Fields:
        error: the exception that the normalizer raised, `Type: text`; "" where it did not.
        hung: it neither yielded nor ended within its limits.
    """

    chunking: Chunking
    emissions: tuple[Emission, ...]
    turn: Turn
    error: str = ""
    hung: bool = False


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule broken in one replay.

    Fields:
        rule: id of the rule.
        level: MUST findings decide the outcome; SHOULD and MAY are shown.
        outcome: what kind of failure it is.
        path: where in the turn, such as `turns[0].calls[1].arguments`.
        expected, actual: as text, cut to a readable length.
        offset: byte in the body that it leads back to; None where there is none.
    """

    rule: str
    level: Level
    outcome: Outcome
    path: str
    expected: str
    actual: str
    offset: int | None = None


class TurnFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user got from one interaction of a cell: a row of the model rankings.

    Fields:
        success: the turn finished, did not fail, and each call names a tool of the request
            with arguments valid against that tool's schema.
        why: in words, why it is no success; "" where it is one.
        blame: whose fault that is, from the scenario or the strict reading.
        parse_errors: number of calls that were rejected.
        parse_error_blame: whose fault those are; "" where there are none.
        digest: `digest_of` the interaction's body; "" in runs of older harnesses.
        asked: `asked_of` its request; "" where that was not kept, and in older runs.
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


def body_digest(body: bytes) -> str:
    """Return what tells the body of one turn from that of another, as 16 hex digits."""
    return sha256(body).hexdigest()[:16]


class ConversationFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user got from one conversation: a row of the rankings.

    Fields:
        ending: as the agent says; "" where it gave none back.
        success: it ended with an answer, and the agent broke no MUST rule.
        why: in words, why it is no success; "" where it is one.
        blame: whose fault that is.
        requests: that were sent, probes and retries included.
        turns: replies that the agent recorded.
        broken_turns: those with a parse_error, or that failed or were cut short.
        parse_error_turns: those with a parse_error.
        parse_errors: calls that were rejected.
        recovered: broken turns after which a usable one came.
        retries: compensating requests.
        tool_use, json_fallback: turns by strategy.
        probe: `ok`, `no` or `error`; "" where none was sent.
        compared: requests that were laid beside those of the recorded client.
        as_recorded: of those, the ones that are built alike.
        whole: whether the conversation was recorded up to its end; else nobody knows whether an
            answer came, and it ranks no model.
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
    """What is known of the cassette behind a cell, so that a report needs no cassette.

    Fields:
        by, at, source, licence: as its origin says; `at` is an ISO date.
        reads: `recorded` where the network's own were kept, `synthetic` where none was,
            `mixed` where only some interactions have them; "" where nobody said. (The default
            of a text must be "", since defaults are left out by identity, and any other text
            is another object once it came from another process.)
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
        normalizer: its name; of the agent where `kind` is another than `turns`.
        scenario: its id; for an unlabelled cassette `cassette:` and the cassette's id.
        outcome: the worst over all replays.
        blame: whose fault a parse_error or a failure of conformance is; "" for a pass.
        findings: distinct ones over all replays, worst first.
        chunking: cuts of the worst failing replay, of equal ones the one with the fewest; the whole
            body where none failed.
        interaction: which interaction that replay was of.
        replays: how many chunkings were tried.
        turns: one for each interaction, its body given in one read.
        text_dialect: that of the scenario; "" where no calls are spelled in text.
        kind: what was judged, the turns of a cassette or the whole conversation; a `log` of one
            is only counted, so its outcome is always unsupported.
        conversation: what came of it; None for turns, and for a cell that did not run.
        source: of the cassette; None in runs of older harnesses.
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
