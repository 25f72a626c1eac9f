"""Real round trips of tools, where the corpus lies beside the repository: each is had or named.

The plain loop has the conversation of every recording in a dialect that agents ask in, over
the recorded replies and with the recorded results; what it sends is laid beside what was sent.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import msgspec

from harness.conversation.plain_loop import plain
from harness.dialects.table import AGENT_DIALECTS
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.recording import NotReplayable, script_from_recording
from harness.judging.judge import LoadedSubject
from harness.judging.scenario import Scenario
from harness.results.conversation_case import ConversationCase
from harness.results.result import ConversationFacts, Result
from harness.wire.cassette import Cassette
from tests.recording.corpus import files, imported, needs_corpus

pytestmark = needs_corpus


@cache
def recordings() -> tuple[Cassette, ...]:
    """Return the recordings of more than one request."""
    return tuple(each for each in _imported() if len(each.interactions) > 1)


def _imported() -> Iterator[Cassette]:
    for path in files():
        for cassette in imported(path).cassettes:
            yield msgspec.structs.replace(cassette, id=cassette.origin.source)


@cache
def results() -> tuple[tuple[Result, ConversationCase | None], ...]:
    """Return what the plain loop made of those that it can have."""
    return tuple(_results())


def _results() -> Iterator[tuple[Result, ConversationCase | None]]:
    for cassette in recordings():
        script = script_from_recording(cassette)
        if not isinstance(script, NotReplayable):
            scenario = Scenario(cassette.id, "", cassette.id, conversation=script)
            yield judge_conversation(LoadedSubject(cassette, scenario), plain, cuts="quick")


def facts() -> Iterator[ConversationFacts]:
    return (each.conversation for each, _ in results() if each.conversation)


def test_every_recording_is_replayed_or_refused_for_a_reason() -> None:
    spoken = [each for each in recordings() if each.dialect in AGENT_DIALECTS]
    refused = [it for it in map(script_from_recording, spoken) if isinstance(it, NotReplayable)]
    assert len(results()) + len(refused) == len(spoken)
    assert len(results()) >= 116
    assert Counter(it.why.partition(",")[0] for it in refused) <= Counter(
        {
            "a reply is incomplete": 3,
            "a reply contains a call that cannot be used": 2,
            "its requests do not follow one another": 3,
            "its requests were not stored": 14,
            "a result answers no call of its turn": 3,
            "a message contains more than text": 1,
            "the user spoke between results and answer": 1,
            "a request contains neither results nor one new question": 1,
            "it ends with calls": 1,
        }
    )


def test_the_plain_loop_violates_no_rule() -> None:
    assert [(it.cell, it.findings) for it, _ in results() if it.findings] == []
    assert all(it.success for it in facts() if it.whole)


def test_its_requests_equal_the_recorded_ones_or_differ_validly() -> None:
    assert sum(each.compared for each in facts()) >= 265
    assert sum(each.as_recorded for each in facts()) >= 129
    # Never in which tools were called, nor with what, nor how often.
    assert {path.rpartition(".")[2] for path in _unlike()} <= {
        "messages",
        "content",
        "id",
        "tool_call_id",
        "sealed",
    }


def _unlike() -> Iterator[str]:
    for _, case in results():
        for row in case.requests if case else ():
            yield from (each.partition(": ")[0] for each in row.unlike or ())
