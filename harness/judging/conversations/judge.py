"""Judge one cell: let an agent run the conversation of a scenario, and check it by the rules.

The agent runs the conversation with each reply in one read, then under other chunkings, and again
at the end. Any difference is one finding, because the behaviour must not depend on the network.
A logged conversation is never judged, because the log does not contain its bytes. It is only
counted from its own records.
"""

import msgspec

from harness.conversation.agent import Agent
from harness.conversation.history.jsonl import LoggedConversation, agent_of
from harness.dialects.table import oracle_reading
from harness.judging.blame import blame_of_bytes
from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.conversations.make_case import conversation_case, logged_case
from harness.judging.conversations.script import ConversationScript
from harness.judging.conversations.session import (
    DEFAULT_LIMITS,
    Session,
    SessionLimits,
    SessionRecord,
    prompt_id,
    run_agent,
)
from harness.judging.judge import LoadedSubject, OwnTurns, empty_result, with_findings
from harness.judging.replaying import Cuts, deadlines
from harness.judging.rule import findings
from harness.judging.rules import CONVERSATION_RULES
from harness.judging.rules.conversation_ends import AGAIN
from harness.judging.rules.conversation_meta import probe_result
from harness.judging.scenario import Scenario, ScenarioBlame
from harness.playback.delivery import CUTS
from harness.providers import UNKNOWN
from harness.results.conversation import Conversation, TurnRecord
from harness.results.conversation_case import ConversationCase
from harness.results.duties import level_of
from harness.results.finding import Finding, lower
from harness.results.outcome import Blame, Outcome
from harness.results.result import LOG_PREFIX, ConversationFacts, Result
from harness.results.scenario_evidence import is_own
from harness.turns.deltas import CUT_SHORT
from harness.wire.cassette import Cassette
from harness.wire.cuts import UNSPLIT
from harness.workers import process_limits


def conversation_facts(
    evidence: ConversationEvidence, said_blame: ScenarioBlame, violated: str
) -> ConversationFacts:
    """Return the facts about a conversation that the rankings need, such as its success.

    Args:
        evidence: the evidence of the conversation.
        said_blame: the party that the scenario blames; "" if it names no party.
        violated: a MUST rule that the agent violated; "" if there is none.
    """
    conversation = evidence.record.conversation
    why = f"the agent broke {violated}" if violated else conversation_problem(conversation)
    blame: Blame = ""
    if why:
        blame = "normalizer" if violated else said_blame or blame_of_replies(evidence)
    differences = evidence.differences.values()
    return msgspec.structs.replace(
        count_conversation(conversation, len(evidence.requests), why, blame),
        compared=len(differences),
        as_recorded=sum(not found for found in differences),
        # A scenario specifies the ending; a recording may just stop at calls.
        whole=not evidence.script.recorded or evidence.script.expect.ending != "limit",
    )


def conversation_problem(conversation: Conversation | None) -> str:
    """Return why a conversation did not give its user an answer; "" if it did."""
    if conversation is None:
        return "no conversation came back"
    return "" if conversation.ending == "done" else f"ended: {conversation.ending}"


def count_conversation(
    conversation: Conversation | None, requests: int, why: str, blame: Blame
) -> ConversationFacts:
    """Return the facts about a conversation from the agent's records of its turns.

    Args:
        conversation: what the agent returned; None if it returned none.
        requests: the number of requests.
        why: why the conversation is not a success; "" if it is one.
        blame: the party to blame for that.
    """
    records = conversation.turns if conversation else ()
    broken = [is_broken(record) for record in records]
    good_after = [not all(broken[index + 1 :]) for index in range(len(broken))]
    probes = [record.meta.probe for record in records if record.meta.probe]
    strategies = [record.meta.strategy for record in records]
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
        tool_use=strategies.count("tool_use"),
        json_fallback=strategies.count("json_fallback"),
        probe=probe_result(probes[0]) if probes else "",
    )


def is_broken(record: TurnRecord) -> bool:
    """Return whether a turn has a parse error, failed, did not end or was truncated."""
    turn = record.turn
    ended = turn.finish is not None and turn.finish.reason not in CUT_SHORT
    return bool(record.meta.parse_errors) or turn.failure is not None or not ended


def blame_of_replies(evidence: ConversationEvidence) -> Blame:
    """Return the party to blame for the newest unusable reply; the model if all are usable."""
    for request in reversed(evidence.requests):
        if request.sent.index is not None:
            reading = oracle_reading(request.sent.answer)
            status = request.sent.answer.status
            blame = blame_of_bytes(reading, evidence.task.tools or None, status=status)
            if blame:
                return blame
    return "model"


_UNCUT = "whole"
# The further chunkings of the streams, by the value of `--cuts`.
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
    own: OwnTurns = "judged",
) -> tuple[Result, ConversationCase | None]:
    """Judge an agent on one conversation; return the result, and the case or None.

    Args:
        subject: a scenario with a conversation, and its cassette.
        agent: the agent.
        cuts: the mode of the chunkings to replay.
        limits: the limits of each run of the agent.
        own: as in `judge_subject`; a conversation is never left out here.

    Raises:
        ValueError: the subject is not a conversation.
    """
    scenario = subject.scenario
    if scenario is None or scenario.conversation is None:
        raise ValueError(f"{subject.id} is not a conversation")
    bare = empty_conversation_result(subject, agent.name)
    if not subject.cassette.interactions or not is_supported_by_agent(subject, agent):
        return bare, None
    with deadlines():
        evidence = _play(subject.cassette, scenario, scenario.conversation, agent, cuts, limits)
    process_limits.renew_for_work()
    foreign = own != "judged"
    unsent = foreign and is_own(subject.evidence)
    evidence = msgspec.structs.replace(evidence, foreign=foreign, unsent=unsent)
    judged = with_findings(
        bare,
        findings(CONVERSATION_RULES.values(), evidence),
        parse_errors=any(record.meta.parse_errors for record in evidence.records),
        blame=lambda: scenario.blame or blame_of_replies(evidence),
    )
    violated = next((finding.rule for finding in judged.findings if finding.level == "MUST"), "")
    result = msgspec.structs.replace(
        judged,
        replays=1 + len(evidence.others),
        conversation=conversation_facts(evidence, scenario.blame, violated),
    )
    return result, conversation_case(result.cell, evidence)


def empty_conversation_result(subject: LoadedSubject, agent: str) -> Result:
    """Return a result for a cell whose conversation the agent did not run."""
    empty = empty_result(subject, agent)
    scenario = subject.scenario
    script = scenario.conversation if scenario else None
    prompt = prompt_id(script, subject.cassette) if script else empty.prompt
    named = prompt if empty.prompt in ("", "unknown") else empty.prompt
    return msgspec.structs.replace(empty, kind="conversation", prompt=named)


def crashed_conversation_result(
    subject: LoadedSubject, agent: str, reason: str, own: OwnTurns = "judged"
) -> Result:
    """Return the result of a cell whose agent ended its process; `reason` says how."""
    rule = CONVERSATION_RULES["CONV-NO-CRASH"]
    level = level_of(rule.id, "agent")
    finding = Finding(rule.id, level, rule.outcome, "conversation", "no exception", reason)
    if own != "judged" and is_own(subject.evidence):
        finding = lower(finding)
    bare = empty_conversation_result(subject, agent)
    return msgspec.structs.replace(
        with_findings(bare, [finding], parse_errors=False, blame=lambda: "normalizer"),
        conversation=count_conversation(None, 0, reason, "normalizer"),
    )


def is_supported_by_agent(subject: LoadedSubject, agent: Agent) -> bool:
    """Return whether `agent` declares support for all that the conversation requires."""
    scenario = subject.scenario
    if scenario is None or scenario.conversation is None:
        return False
    return (
        subject.cassette.dialect in agent.dialects
        and prompt_id(scenario.conversation, subject.cassette) in agent.prompts
        and scenario.allows(agent.policies)
    )


def _play(  # noqa: PLR0913, PLR0917 - one call site
    cassette: Cassette,
    scenario: Scenario,
    script: ConversationScript,
    agent: Agent,
    cuts: Cuts,
    limits: SessionLimits,
) -> ConversationEvidence:
    def play(reads: str) -> tuple[Session, SessionRecord]:
        cut = CUTS[_UNCUT if reads == AGAIN else reads]
        session = Session(cassette, script, scenario.tools, limits, cut)
        return session, run_agent(agent, session, limits)

    session, record = play(_UNCUT)
    others: dict[str, SessionRecord] = {}
    for reads in (*_OTHER_CUTS[cuts], AGAIN):
        if record.hung or any(other.hung for other in others.values()):
            break  # each further one would take its whole time limit
        others[reads] = play(reads)[1]
    return ConversationEvidence(
        script,
        session.task,
        record,
        len(cassette.interactions),
        others,
        agent.hides,
        agent.policies,
    )


def count_log(subject: str, logged: LoggedConversation) -> tuple[Result, ConversationCase]:
    """Return the result and the case of a logged conversation, which is not judged.

    Args:
        subject: the id of the logged conversation.
        logged: the conversation, with the labels in the log.
    """
    conversation, about = logged.conversation, logged.about
    probes = sum(record.meta.probe is not None for record in conversation.turns)
    requests, problem = len(conversation.turns) + probes, conversation_problem(conversation)
    result = Result(
        cell=f"{subject}/{agent_of(logged)}",
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
        conversation=count_conversation(conversation, requests, problem, ""),
    )
    return result, logged_case(result.cell, conversation)
