"""A logged conversation -> a row of the rankings, counted from its own records.

Nobody can replay it, since the bytes of the replies are gone: it is never judged, and whose
fault it is that it has no answer is not known.
"""

from typing import Final

from harness.conversation.history.jsonl import Logged
from harness.judging.conversations.case import ConversationCase, logged_case
from harness.judging.conversations.facts import counted, problem_of
from harness.judging.results import ConversationFacts, Outcome, Result
from harness.wire.cuts import WHOLE

LOG_PREFIX: Final = "log:"
UNKNOWN: Final = "unknown"


def agent_of(logged: Logged) -> str:
    """Return the name of the agent that had the conversation."""
    return logged.about.agent or UNKNOWN


def count_log(subject: str, logged: Logged) -> tuple[Result, ConversationCase]:
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
        chunking=WHOLE,
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
        conversation=_facts(logged),
    )
    return result, logged_case(cell, said)


def _facts(logged: Logged) -> ConversationFacts:
    """Count the requests too: one for each turn, and the probe."""
    said = logged.conversation
    probes = sum(record.meta.probe is not None for record in said.turns)
    return counted(said, len(said.turns) + probes, problem_of(said), "")
