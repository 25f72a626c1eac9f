"""What the user got from a conversation, and whose fault it is where that is no answer.

Blame comes from the scenario and the strict reading of the bytes, never from the agent.
"""

from collections.abc import Iterable
from functools import cache

import msgspec

from harness.conversation.conversation import Conversation, TurnRecord
from harness.judging.blame import blame_of_bytes
from harness.judging.conversations.evidence import Evidence
from harness.judging.conversations.rules.meta import probe_end
from harness.judging.results import Blame, ConversationFacts
from harness.judging.scenario import ScenarioBlame
from harness.judging.strict_reading.table import strict_reading
from harness.turns.deltas import CUT_SHORT
from harness.turns.schema_check import Checker


@cache
def _checker() -> Checker:
    return Checker()


def facts_of_conversation(
    seen: Evidence, said_blame: ScenarioBlame, broken_rule: str
) -> ConversationFacts:
    """Return the row of the rankings.

    Args:
        seen: the conversation.
        said_blame: what the scenario says; "" where nothing.
        broken_rule: a MUST rule that the agent broke; "" where none.
    """
    conversation = seen.record.conversation
    why = f"the agent broke {broken_rule}" if broken_rule else problem_of(conversation)
    blame: Blame = ""
    if why:
        blame = "normalizer" if broken_rule else said_blame or blame_of_replies(seen)
    facts = counted(conversation, len(seen.asked), why, blame)
    alike = sum(not found for found in seen.unlike.values())
    return msgspec.structs.replace(
        facts, compared=len(seen.unlike), as_recorded=alike, whole=_is_whole(seen)
    )


def _is_whole(seen: Evidence) -> bool:
    """Return whether the cassette holds the end of the conversation.

    A scenario says what its end is; a recording may just stop where calls wait to be run.
    """
    return not seen.script.recorded or seen.script.expect.ending != "limit"


def problem_of(conversation: Conversation | None) -> str:
    """Return why a conversation gave its user no answer; "" where it did."""
    if conversation is None:
        return "no conversation came back"
    return "" if conversation.ending == "done" else f"ended: {conversation.ending}"


def counted(
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
        probe=probe_end(probes[0]) if probes else "",
    )


def is_broken(record: TurnRecord) -> bool:
    """Return whether a turn has a parse_error, failed, did not end or was cut short."""
    turn = record.turn
    finish = turn.finish
    ended = finish is not None and finish.reason not in CUT_SHORT
    return bool(record.meta.parse_errors) or turn.failure is not None or not ended


def blame_of_replies(seen: Evidence) -> Blame:
    """Return who spoilt the newest reply that is no usable turn; the model where none is."""
    for asked in reversed(seen.asked):
        if asked.sent.place is not None:
            reading = strict_reading(asked.sent.answer)
            blame = blame_of_bytes(reading, seen.task.tools or None, _checker())
            if blame:
                return blame
    return "model"


def _by_strategy(records: Iterable[TurnRecord], strategy: str) -> int:
    return sum(record.meta.strategy == strategy for record in records)
