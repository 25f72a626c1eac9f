"""One cell: a conversation scenario and an agent -> one result, and what a report shows of it.

The agent runs the conversation with each reply in one read, then under other chunkings, and
again at the end. A difference is one finding, because nothing may depend on the network.
A logged conversation is counted from its own records and never judged, since its bytes are gone.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final

import msgspec

from harness.conversation.agent import Agent
from harness.conversation.conversation import Conversation, TurnRecord
from harness.conversation.history.jsonl import LoggedConversation
from harness.dialects.table import oracle_reading
from harness.judging.blame import blame_of_bytes
from harness.judging.conversations.case import ConversationCase, conversation_case, logged_case
from harness.judging.conversations.evidence import ConversationEvidence, conversation_evidence
from harness.judging.conversations.rules import CONVERSATION_RULES, findings
from harness.judging.conversations.script import ConversationScript
from harness.judging.conversations.session import (
    DEFAULT_LIMITS,
    Session,
    SessionLimits,
    SessionRecord,
    prompt_id,
    run_agent,
)
from harness.judging.judge import LoadedSubject, empty_result
from harness.judging.replaying import Cuts, deadlines
from harness.judging.results import Blame, ConversationFacts, Finding, Outcome, Result
from harness.judging.rules.conversation_ends import AGAIN
from harness.judging.rules.conversation_meta import probe_result
from harness.judging.scenario import Scenario, ScenarioBlame
from harness.playback.playback import CUTS
from harness.turns.deltas import CUT_SHORT
from harness.turns.schema_check import Checker
from harness.wire.cuts import UNSPLIT


@cache
def _checker() -> Checker:
    return Checker()


def conversation_facts(
    seen: ConversationEvidence, said_blame: ScenarioBlame, broken_rule: str
) -> ConversationFacts:
    """Return the row of the rankings.

    Args:
        seen: the conversation.
        said_blame: what the scenario says; "" where nothing.
        broken_rule: a MUST rule that the agent broke; "" where none.
    """
    conversation = seen.record.conversation
    why = f"the agent broke {broken_rule}" if broken_rule else conversation_problem(conversation)
    blame: Blame = ""
    if why:
        blame = "normalizer" if broken_rule else said_blame or blame_of_replies(seen)
    facts = count_conversation(conversation, len(seen.asked), why, blame)
    alike = sum(not found for found in seen.unlike.values())
    return msgspec.structs.replace(
        facts, compared=len(seen.unlike), as_recorded=alike, whole=_is_complete(seen)
    )


def _is_complete(seen: ConversationEvidence) -> bool:
    """Return whether the cassette holds the end of the conversation.

    A scenario says what its end is; a recording may just stop where calls wait to be run.
    """
    return not seen.script.recorded or seen.script.expect.ending != "limit"


def conversation_problem(conversation: Conversation | None) -> str:
    """Return why a conversation gave its user no answer; "" where it did."""
    if conversation is None:
        return "no conversation came back"
    return "" if conversation.ending == "done" else f"ended: {conversation.ending}"


def count_conversation(
    conversation: Conversation | None, requests: int, why: str, blame: Blame
) -> ConversationFacts:
    """Return the facts of a conversation, from its own records."""
    records = conversation.turns if conversation else ()
    broken = [is_broken(record) for record in records]
    good_after = [not all(broken[place + 1 :]) for place in range(len(broken))]
    probes = [record.meta.probe for record in records if record.meta.probe]
    return ConversationFacts(
        ending=conversation.ending if conversation else "",
        success=not why,
        why=why,
        blame=blame,
        requests=requests,
        turns=len(records),
        broken_turns=sum(broken),
        parse_error_turns=sum(bool(record.meta.parse_errors) for record in records),
        parse_errors=sum(len(record.meta.parse_errors) for record in records),
        recovered=sum(bad and good for bad, good in zip(broken, good_after, strict=True)),
        retries=sum(record.meta.retries for record in records),
        tool_use=_by_strategy(records, "tool_use"),
        json_fallback=_by_strategy(records, "json_fallback"),
        probe=probe_result(probes[0]) if probes else "",
    )


def is_broken(record: TurnRecord) -> bool:
    """Return whether a turn has a parse_error, failed, did not end or was cut short."""
    turn = record.turn
    finish = turn.finish
    ended = finish is not None and finish.reason not in CUT_SHORT
    return bool(record.meta.parse_errors) or turn.failure is not None or not ended


def blame_of_replies(seen: ConversationEvidence) -> Blame:
    """Return who spoilt the newest reply that is no usable turn; the model where none is."""
    for asked in reversed(seen.asked):
        if asked.sent.place is not None:
            reading = oracle_reading(asked.sent.answer)
            blame = blame_of_bytes(reading, seen.task.tools or None, _checker())
            if blame:
                return blame
    return "model"


def _by_strategy(records: Iterable[TurnRecord], strategy: str) -> int:
    return sum(record.meta.strategy == strategy for record in records)


_UNCUT = "whole"
# The ways to cut the streams beside that, by what the command line calls it.
_OTHER_CUTS: dict[Cuts, tuple[str, ...]] = {
    "whole": (),
    "quick": ("recorded",),
    "standard": ("recorded", "each-byte"),
    "every": ("recorded", "each-byte", "seams"),
}


def judge_conversation(
    subject: LoadedSubject,
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
    bare = empty_conversation_result(subject, agent.name)
    if not subject.cassette.interactions or not is_supported_by_agent(subject, agent):
        return bare, None
    with deadlines():
        seen, replays = _play(subject, scenario, script, agent, cuts, limits)
    found = findings(seen)
    outcome = _outcome(seen, found)
    broken = next((finding.rule for finding in found if finding.level == "MUST"), "")
    result = msgspec.structs.replace(
        bare,
        outcome=outcome,
        blame=_blame(outcome, scenario, seen),
        findings=found,
        replays=replays,
        conversation=conversation_facts(seen, scenario.blame, broken),
    )
    return result, conversation_case(result.cell, seen)


def empty_conversation_result(subject: LoadedSubject, agent: str) -> Result:
    """Return the result of a cell that was not played."""
    empty = empty_result(subject, agent)
    scenario = subject.scenario
    script = scenario.conversation if scenario else None
    prompt = prompt_id(script, subject.cassette) if script else empty.prompt
    named = prompt if empty.prompt in ("", "unknown") else empty.prompt
    return msgspec.structs.replace(empty, kind="conversation", prompt=named)


def crashed_conversation_result(subject: LoadedSubject, agent: str, reason: str) -> Result:
    """Return the result of a cell whose process did not survive it: no success for its user."""
    rule = CONVERSATION_RULES["CONV-NO-CRASH"]
    finding = Finding(rule.id, rule.level, rule.outcome, "conversation", "no exception", reason)
    return msgspec.structs.replace(
        empty_conversation_result(subject, agent),
        outcome=rule.outcome,
        blame="normalizer",
        findings=(finding,),
        conversation=count_conversation(None, 0, reason, "normalizer"),
    )


def is_supported_by_agent(subject: LoadedSubject, agent: Agent) -> bool:
    """Return whether `agent` declares all that the conversation `subject` asks for."""
    scenario = subject.scenario
    if scenario is None or scenario.conversation is None:
        return False
    return (
        subject.cassette.dialect in agent.dialects
        and prompt_id(scenario.conversation, subject.cassette) in agent.prompts
        and all(
            agent.policies.get(name, value) == value for name, value in scenario.policies.items()
        )
    )


def _play(  # noqa: PLR0913, PLR0917 - one call site, which names each
    subject: LoadedSubject,
    scenario: Scenario,
    script: ConversationScript,
    agent: Agent,
    cuts: Cuts,
    limits: SessionLimits,
) -> tuple[ConversationEvidence, int]:
    def played(how: str) -> tuple[Session, SessionRecord]:
        cut = CUTS[_UNCUT if how == AGAIN else how]
        session = Session(subject.cassette, script, scenario.tools, limits, cut)
        return session, run_agent(agent, session, limits)

    session, record = played(_UNCUT)
    others: dict[str, SessionRecord] = {}
    for how in (*_OTHER_CUTS[cuts], AGAIN):
        if record.hung or any(other.hung for other in others.values()):
            break  # each further one would take its whole time
        others[how] = played(how)[1]
    count = len(subject.cassette.interactions)
    return conversation_evidence(script, session.task, record, count, others), 1 + len(others)


def _outcome(seen: ConversationEvidence, found: tuple[Finding, ...]) -> Outcome:
    broken = [finding.outcome for finding in found if finding.level == "MUST"]
    if broken:
        return min(broken, key=lambda outcome: outcome.badness)
    conversation = seen.record.conversation
    reported = conversation and any(record.meta.parse_errors for record in conversation.turns)
    return Outcome.PARSE_ERROR if reported else Outcome.PASS


def _blame(outcome: Outcome, scenario: Scenario, seen: ConversationEvidence) -> Blame:
    if outcome is Outcome.PASS:
        return ""
    if outcome is not Outcome.PARSE_ERROR:
        return "normalizer"
    return scenario.blame or blame_of_replies(seen)


LOG_PREFIX: Final = "log:"
UNKNOWN: Final = "unknown"


def agent_of(logged: LoggedConversation) -> str:
    """Return the name of the agent that had the conversation."""
    return logged.about.agent or UNKNOWN


def count_log(subject: str, logged: LoggedConversation) -> tuple[Result, ConversationCase]:
    """Return the row of a log, and what a reader sees of it.

    Args:
        subject: its id.
        logged: the conversation, and whose it is.
    """
    said, about = logged.conversation, logged.about
    cell = f"{subject}/{agent_of(logged)}"
    result = Result(
        cell=cell,
        scenario=subject,
        title=about.scenario or subject.removeprefix(LOG_PREFIX),
        cassette=subject,
        normalizer=agent_of(logged),
        outcome=Outcome.UNSUPPORTED,
        blame="",
        findings=(),
        chunking=UNSPLIT,
        interaction=0,
        replays=0,
        turns=(),
        quirks=(),
        provider=about.provider or UNKNOWN,
        model=about.model or UNKNOWN,
        prompt=about.prompt or UNKNOWN,
        dialect=UNKNOWN,
        origin="imported",
        kind="log",
        conversation=_log_facts(logged),
    )
    return result, logged_case(cell, said)


def _log_facts(logged: LoggedConversation) -> ConversationFacts:
    """Count the requests too: one for each turn, and the probe."""
    said = logged.conversation
    probes = sum(record.meta.probe is not None for record in said.turns)
    return count_conversation(said, len(said.turns) + probes, conversation_problem(said), "")
