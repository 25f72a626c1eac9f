"""Define the result of one cell, with facts about its turns, conversation and cassette.

The name of a cell begins with the id of its scenario, or with `cassette:` or `log:` and an id.
"""

from functools import cached_property
from hashlib import sha256
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from harness.results.cause import cause_of
from harness.results.expectation import UNSPECIFIED, Field
from harness.results.finding import Finding
from harness.results.outcome import Blame, Outcome
from harness.results.scenario_evidence import ScenarioEvidence
from harness.wire.cuts import Chunking

# What the id of a cassette without a scenario starts with, and that of a logged conversation.
CASSETTE_PREFIX: Final = "cassette:"
LOG_PREFIX: Final = "log:"
# The kinds of results of which `normalizer` is a normalizer, and not an agent.
NORMALIZER_KINDS: Final = ("turns", "timing")


def area_of(scenario: str) -> str:
    """Return the folder in the id of a scenario, or of a cassette without a scenario."""
    return scenario.removeprefix(CASSETTE_PREFIX).rpartition("/")[0]


class TurnFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one turn of a cell ended for its user. Rankings of models count these.

    Fields:
        success: whether the turn finished without a failure and is not empty, and each call names
            a tool of the request and has arguments that are valid against the tool's schema.
        why: why the turn is not a success; "" if it is one.
        blame: the responsible party, according to the scenario or the oracle.
        parse_errors: number of calls that the client rejected.
        parse_error_blame: the responsible party for the parse errors; "" if there are none.
        digest: `body_digest` of the interaction's body; "" in runs of older harnesses.
        asked: `request_digest` of the request; "" if not known, and in runs of older harnesses.
        unjudged: fields that the rules did not judge -> why; empty in runs of older harnesses.
        unchecked: why a call's arguments were not validated against the schema of their tool; ""
            if all were. Unchecked arguments count as valid.
        evidence: what shows that a server sends this turn; None for the evidence of the cell.
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
    evidence: ScenarioEvidence | None = None

    @property
    def ambiguous(self) -> tuple[Field, ...]:
        """The fields that the rules did not judge because the bytes are ambiguous."""
        return tuple(field for field, why in self.unjudged.items() if why != UNSPECIFIED)


def body_digest(body: bytes) -> str:
    """Return 16 hex digits that identify the body of a turn."""
    return sha256(body).hexdigest()[:16]


class ConversationFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one conversation ended for its user. Rankings of models and agents count these.

    Fields:
        ending: the ending that the agent reports; "" if it returned no conversation.
        success: whether it ended with an answer, and the agent violated no MUST rule.
        why: why it is not a success; "" if it is one.
        blame: the party responsible if it is not a success.
        requests: number of requests, including probes and retries.
        turns: number of replies that the agent recorded.
        broken_turns: turns with a parse error, or that failed or were truncated.
        parse_error_turns: turns with a parse error.
        parse_errors: calls that the agent rejected.
        recovered: broken turns after which a usable turn followed.
        retries: requests that the agent sent again because of an unusable reply.
        tool_use, json_fallback: number of turns with each strategy.
        probe: result of the probe for tool support, `ok`, `no` or `error`; "" if none was sent.
        compared: requests that the harness compared with the recorded ones.
        as_recorded: compared requests with the same structure as the recorded one.
        whole: whether the recording has the conversation's end. If not, the conversation does not
                count for its model.
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


class TimingFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a client ended a timing scenario.

    Fields:
        ended: `answered`, `failed`, `left` (its consumer left, or it gave no end), or `hung`.
        requests: the number of requests that it sent.
        calls: the number of calls that agent code may execute.
        unjudged: why the cell was not judged; "" if it was.
    """

    ended: str
    requests: int
    calls: int = 0
    unjudged: str = ""


class CassetteFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Facts about the cassette of a cell, so that a report does not need the cassette.

    Fields:
        by, at, source, licence: who recorded it, when (ISO date), from where, and its licence.
        reads: `recorded` if the file has the network's reads, `synthetic` if it has none, `mixed`
            if only some interactions have them; "" if it is not known. (The default of a text must
            be "", because msgspec omits defaults by identity, and any other text is another
            object after it came from another process.)
        leaks: number of credentials that the harness found in addresses and headers.
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
    """The result of one cell: one subject with one normalizer or agent.

    Equal inputs give equal results.

    Fields:
        cell: the id of the cell: the scenario's id, a slash, and the name of the client.
        normalizer: the name of the normalizer, or of the agent if `kind` is not `turns`.
        scenario: the scenario's id; for a cassette without a scenario, `cassette:` and its id.
        outcome: the worst over all replays; `unjudged` if no MUST rule is violated and the oracle
            did not judge the calls of any turn.
        blame: the party responsible for a failure or a parse error; "" for other outcomes.
        findings: the distinct findings of all replays, the worst first.
        chunking: the cuts of the worst failing replay, the fewest cuts among equally bad ones; the
            unsplit body if none failed.
        interaction: index of the interaction that the worst failing replay replayed.
        replays: the number of chunkings that the harness replayed.
        turns: facts about one turn for each interaction, with an unsplit body.
        text_dialect: the text dialect of the scenario; "" if it has no text calls.
        kind: what the cell judges, the turns of a cassette, a conversation, or times (`timing`). A
            `log` of a conversation is only counted, so its outcome is always unsupported.
        conversation: facts about the conversation; None for turns, and if the cell did not run.
        source: facts about the cassette; None in runs of older harnesses.
        cause: the cause of the worst finding; "" if the cell did not fail.
        evidence: what shows that a server sends the stream; None if the scenario does not say, and
            in runs of older harnesses.
        left_out: indexes of turns that were not judged, because no server is known to send them.
        unsupported: why a gateway could not be judged; the key is missing in the file without it.
        timing: facts about a timing scenario; the key is missing for other cells.
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
    kind: Literal["turns", "conversation", "log", "timing"] = "turns"
    conversation: ConversationFacts | None = None
    source: CassetteFacts | None = None
    cause: str = ""
    evidence: ScenarioEvidence | None = None
    left_out: tuple[int, ...] = ()
    unsupported: str | msgspec.UnsetType = msgspec.UNSET
    timing: TimingFacts | msgspec.UnsetType = msgspec.UNSET

    def evidence_of(self, finding: Finding) -> ScenarioEvidence | None:
        """Return what shows that a server sends the stream of `finding`: of its turn, or else."""
        stated = {f"turns[{each.interaction}]": each.evidence for each in self.turns}
        return stated.get(finding.path.partition(".")[0]) or self.evidence

    @property
    def reported(self) -> tuple[Finding, ...]:
        """The findings of MUST and SHOULD rules."""
        return tuple(finding for finding in self.findings if finding.level != "MAY")

    @cached_property
    def causes(self) -> tuple[tuple[Finding, str], ...]:
        """Each reported finding with its cause: one text for each bug, the same in every run."""
        turns = {f"turns[{turn.interaction}]": turn for turn in self.turns}
        found = []
        for each in self.reported:
            turn = turns.get(each.path.partition(".")[0])
            facts = (turn.calls, turn.finish) if turn else ()
            found.append((each, cause_of(each, *facts)))
        return tuple(found)

    def with_cause(self) -> "Result":
        """Return this result with the cause of its worst MUST finding; "" if the cell conforms."""
        worst = self.causes[:1] if self.outcome.fails else ()
        return replace(
            self, cause="".join(cause for finding, cause in worst if finding.level == "MUST")
        )
