"""The result of one cell: the row of a run, and what it says of turns and conversations.

A cell is named by the id of its scenario, or of its cassette or log with a prefix.
"""

from functools import cached_property
from hashlib import sha256
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from harness.results.expectation import UNSPECIFIED, Field
from harness.results.finding import Finding
from harness.results.outcome import Blame, Outcome
from harness.wire.cuts import Chunking

# What the id of a cassette without a scenario starts with, and that of a logged conversation.
CASSETTE_PREFIX: Final = "cassette:"
LOG_PREFIX: Final = "log:"


def area_of(scenario: str) -> str:
    """Return the folder part of the id of a scenario, or of a cassette without one."""
    return scenario.removeprefix(CASSETTE_PREFIX).rpartition("/")[0]


class TurnFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one interaction of a cell for its user: a row of the model rankings.

    Fields:
        success: the turn finished, did not fail, and each call names a tool of the request
            with arguments valid against that tool's schema.
        why: why it is not a success; "" if it is one.
        blame: the responsible party, from the scenario or the oracle.
        parse_errors: number of calls that were rejected.
        parse_error_blame: the responsible party for those; "" if there are none.
        digest: `body_digest` of the interaction's body; "" in runs of older harnesses.
        asked: `request_digest` of its request; "" if it is not known, and in older runs.
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
    """The result of one conversation for its user: a row of the rankings.

    Fields:
        ending: as the agent reports it; "" if it returned no conversation.
        success: it ended with an answer, and the agent violated no MUST rule.
        why: why it is not a success; "" if it is one.
        blame: the responsible party.
        requests: the number of requests, probes and retries included.
        turns: the number of replies that the agent recorded.
        broken_turns: turns with a parse error, or that failed or were truncated.
        parse_error_turns: turns with a parse error.
        parse_errors: calls that were rejected.
        recovered: broken turns that a usable one followed.
        retries: compensating requests.
        tool_use, json_fallback: turns by strategy.
        probe: `ok`, `no` or `error`; "" if none was sent.
        compared: requests that were compared with those of the recorded client.
        as_recorded: compared requests with the same structure.
        whole: whether the conversation was recorded up to its end. If not, it is not known whether
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
    """Facts about the cassette of a cell, so that a report needs no cassette.

    Fields:
        by, at, source, licence: those of its origin; `at` is an ISO date.
        reads: `recorded` if the network's own were stored, `synthetic` if none was, `mixed` if
            only some interactions have them; "" if it is not known. (The default of a text must
            be "", because msgspec omits defaults by identity, and any other text is another
            object after it came from another process.)
        leaks: number of credentials found in addresses and headers of all interactions.
        interactions, size: number of interactions, and of bytes in their bodies.
    """

    by: str = ""
    at: str = ""
    source: str = ""
    licence: str = ""
    reads: Literal["", "recorded", "synthetic", "mixed"] = ""
    leaks: int = 0
    interactions: int = 0
    size: int = 0


class Result(msgspec.Struct, frozen=True, tag_field="type", tag="result", dict=True):
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
        cause: of the failure, that of the worst finding; "" if the cell did not fail.
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

    @cached_property
    def causes(self) -> tuple[tuple[Finding, str], ...]:
        """Each reported finding with its cause: one text for each bug, the same in every run.

        For an exception it is `Type in module:function` (see `harness.judging.raised`). For any
        other finding it is `RULE · family`, where the family is the first quirk of the scenario
        (of a recording: that its bytes show), else its folder.
        """
        family = self.quirks[0] if self.quirks else area_of(self.scenario)
        return tuple(
            (each, each.raised or " · ".join(filter(None, (each.rule, family))))
            for each in self.reported
        )

    def with_cause(self) -> "Result":
        """Return this result with the cause of its worst finding, which decides the outcome."""
        worst = self.causes[:1] if self.outcome.fails else ()
        return replace(
            self, cause="".join(cause for finding, cause in worst if finding.level == "MUST")
        )
