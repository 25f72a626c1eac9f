"""One cell: a conversation scenario through an agent -> one result, and what a reader sees of it.

The conversation is had with each reply in one read, then under other ways to cut the streams,
and once more in the end: what differs is one finding, since nothing may depend on the network.
"""

import msgspec

from harness.conversation.agent import Agent
from harness.judging.chunkings import Cuts
from harness.judging.conversations.case import ConversationCase, conversation_case
from harness.judging.conversations.evidence import Evidence, evidence
from harness.judging.conversations.facts import (
    blame_of_replies,
    counted,
    facts_of_conversation,
)
from harness.judging.conversations.rules import CONVERSATION_RULES, findings
from harness.judging.conversations.rules.ends import AGAIN
from harness.judging.conversations.script import ConversationScript
from harness.judging.conversations.session import (
    DEFAULT_LIMITS,
    Record,
    Session,
    SessionLimits,
    hold,
    prompt_of,
)
from harness.judging.deadline import deadlines
from harness.judging.judge import Loaded, empty_result
from harness.judging.results import Blame, Finding, Outcome, Result
from harness.judging.scenario import Scenario
from harness.playback.playback import CUTS

_WHOLE = "whole"
# The ways to cut the streams beside that, by what the command line calls it.
_OTHERS: dict[Cuts, tuple[str, ...]] = {
    "whole": (),
    "quick": ("recorded",),
    "standard": ("recorded", "each-byte"),
    "every": ("recorded", "each-byte", "seams"),
}


def judge_conversation(
    subject: Loaded,
    agent: Agent,
    *,
    cuts: Cuts = "standard",
    limits: SessionLimits = DEFAULT_LIMITS,
) -> tuple[Result, ConversationCase | None]:
    """Judge one cell.

    Raises:
        ValueError: the subject is no conversation.
    """
    scenario = subject.scenario
    if scenario is None or scenario.conversation is None:
        raise ValueError(f"{subject.id} is no conversation")
    script = scenario.conversation
    bare = empty_conversation(subject, agent.name)
    if not subject.cassette.interactions or not supported_conversation(subject, agent):
        return bare, None
    with deadlines():
        seen, replays = _played(subject, scenario, script, agent, cuts, limits)
    found = findings(seen)
    outcome = _outcome(seen, found)
    broken = next((finding.rule for finding in found if finding.level == "MUST"), "")
    result = msgspec.structs.replace(
        bare,
        outcome=outcome,
        blame=_blame(outcome, scenario, seen),
        findings=found,
        replays=replays,
        conversation=facts_of_conversation(seen, scenario.blame, broken),
    )
    return result, conversation_case(result.cell, seen)


def empty_conversation(subject: Loaded, agent: str) -> Result:
    """Return the result of a cell that was not played."""
    empty = empty_result(subject, agent)
    scenario = subject.scenario
    script = scenario.conversation if scenario else None
    prompt = prompt_of(script, subject.cassette) if script else empty.prompt
    named = prompt if empty.prompt in ("", "unknown") else empty.prompt
    return msgspec.structs.replace(empty, kind="conversation", prompt=named)


def lost_conversation(subject: Loaded, agent: str, reason: str) -> Result:
    """Return the result of a cell whose process did not survive it: no success for its user."""
    rule = CONVERSATION_RULES["CONV-NO-CRASH"]
    finding = Finding(rule.id, rule.level, rule.outcome, "conversation", "no exception", reason)
    return msgspec.structs.replace(
        empty_conversation(subject, agent),
        outcome=rule.outcome,
        blame="normalizer",
        findings=(finding,),
        conversation=counted(None, 0, reason, "normalizer"),
    )


def supported_conversation(subject: Loaded, agent: Agent) -> bool:
    """Return whether `agent` declares all that the conversation `subject` asks for."""
    scenario = subject.scenario
    if scenario is None or scenario.conversation is None:
        return False
    return (
        subject.cassette.dialect in agent.dialects
        and prompt_of(scenario.conversation, subject.cassette) in agent.prompts
        and all(
            agent.policies.get(name, value) == value for name, value in scenario.policies.items()
        )
    )


def _played(  # noqa: PLR0913, PLR0917 - one call site, which names each
    subject: Loaded,
    scenario: Scenario,
    script: ConversationScript,
    agent: Agent,
    cuts: Cuts,
    limits: SessionLimits,
) -> tuple[Evidence, int]:
    def played(how: str) -> tuple[Session, Record]:
        cut = CUTS[_WHOLE if how == AGAIN else how]
        session = Session(subject.cassette, script, scenario.tools, limits, cut)
        return session, hold(agent, session, limits)

    session, record = played(_WHOLE)
    others: dict[str, Record] = {}
    for how in (*_OTHERS[cuts], AGAIN):
        if record.hung or any(other.hung for other in others.values()):
            break  # each further one would take its whole time
        others[how] = played(how)[1]
    count = len(subject.cassette.interactions)
    return evidence(script, session.task, record, count, others), 1 + len(others)


def _outcome(seen: Evidence, found: tuple[Finding, ...]) -> Outcome:
    broken = [finding.outcome for finding in found if finding.level == "MUST"]
    if broken:
        return min(broken, key=lambda outcome: outcome.badness)
    conversation = seen.record.conversation
    reported = conversation and any(record.meta.parse_errors for record in conversation.turns)
    return Outcome.PARSE_ERROR if reported else Outcome.PASS


def _blame(outcome: Outcome, scenario: Scenario, seen: Evidence) -> Blame:
    if outcome is Outcome.PASS:
        return ""
    if outcome is not Outcome.PARSE_ERROR:
        return "normalizer"
    return scenario.blame or blame_of_replies(seen)
