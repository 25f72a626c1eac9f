"""Rules about the end: the agent comes to one, it is the right one, and the same each time."""

from collections.abc import Iterator
from itertools import islice

from harness.conversation.conversation import Conversation
from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.conversations.rule import ConversationRule
from harness.judging.conversations.session import SessionRecord
from harness.judging.results import Outcome
from harness.judging.rule import Violation
from harness.judging.rules.conversation_calls import match_calls

AGAIN = "again"


def _no_crash(seen: ConversationEvidence) -> Iterator[Violation]:
    if seen.record.error:
        yield Violation("conversation", "no exception", seen.record.error)


def _no_hang(seen: ConversationEvidence) -> Iterator[Violation]:
    if seen.record.hung:
        yield Violation("conversation", "an end within the limits", f"stopped: {seen.record.hung}")


def _ending(seen: ConversationEvidence) -> Iterator[Violation]:
    conversation, wanted = seen.record.conversation, seen.script.expect.ending
    if conversation and wanted is not None and conversation.ending != wanted:
        # An end too early that loses calls is as bad as losing them.
        worse = Outcome.LOST_CALL if match_calls(seen).lost else None
        yield Violation("ending", wanted, conversation.ending, outcome=worse)


def _answer(seen: ConversationEvidence) -> Iterator[Violation]:
    conversation, wanted = seen.record.conversation, seen.script.expect.answer
    if conversation is None:
        return
    if wanted.exact is not None and conversation.answer != wanted.exact:
        yield Violation("answer", wanted.exact, conversation.answer)
    for part in wanted.contains:
        if part not in conversation.answer:
            yield Violation("answer", f"a text that contains {part!r}", conversation.answer)


def _same_under_other_reads(seen: ConversationEvidence) -> Iterator[Violation]:
    found = (
        broken
        for reads, other in seen.others.items()
        if reads != AGAIN
        for broken in _iter_differences(seen.record, other, f"reads {reads}")
    )
    yield from islice(found, 1)


def _same_again(seen: ConversationEvidence) -> Iterator[Violation]:
    if AGAIN in seen.others:
        yield from _iter_differences(seen.record, seen.others[AGAIN], "the same once more")


def _iter_differences(record: SessionRecord, other: SessionRecord, how: str) -> Iterator[Violation]:
    """Yield the first thing that the agent did otherwise."""
    pairs: tuple[tuple[str, object, object], ...] = (
        ("conversation", record.error or record.hung, other.error or other.hung),
        ("executed", record.executions, other.executions),
        ("requests", _bodies(record), _bodies(other)),
        ("conversation", record.conversation, other.conversation),
    )
    for path, before, after in pairs:
        if before != after:
            worse = Outcome.SILENT_WRONG if path == "executed" else None
            yield Violation(
                path, _value_text(before), f"with {how}: {_value_text(after)}", outcome=worse
            )
            return


def _value_text(value: object) -> str:
    if isinstance(value, Conversation):
        return f"{value.ending}: {value.answer}"
    return repr(value)


def _bodies(record: SessionRecord) -> list[bytes]:
    return [sent.request.body for sent in record.sent]


RULES = (
    ConversationRule(
        "CONV-NO-CRASH",
        "MUST",
        "An agent raises nothing, whatever model and provider do.",
        Outcome.CRASH,
        ("NAME-UNKNOWN",),
        _no_crash,
        always=True,
    ),
    ConversationRule(
        "CONV-NO-HANG",
        "MUST",
        "An agent comes to an end.",
        Outcome.HANG,
        ("LOOP-PARSE-RETRY", "LOOP-IDENTICAL"),
        _no_hang,
        always=True,
    ),
    ConversationRule(
        "CONV-ENDING",
        "MUST",
        "Done, limit, empty, interrupted and error are told apart.",
        Outcome.MISMATCH,
        ("BUDGET-OUTCOME", "TURN-EMPTY-IS-NOT-DONE"),
        _ending,
        yields_to=frozenset(("CONV-CALL-FROM-BROKEN-TURN",)),
    ),
    ConversationRule(
        "CONV-ANSWER",
        "MUST",
        "The user gets the model's last visible text.",
        Outcome.MISMATCH,
        (),
        _answer,
        yields_to=frozenset(("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-UNPLAYED")),
    ),
    ConversationRule(
        "CONV-CUT-INVARIANT",
        "MUST",
        "The conversation is the same however the network cuts the streams.",
        Outcome.MISMATCH,
        ("SSE-READ-SPLIT",),
        _same_under_other_reads,
        always=True,
    ),
    ConversationRule(
        "CONV-REPEATABLE",
        "MUST",
        "The same task gives the same conversation again.",
        Outcome.MISMATCH,
        (),
        _same_again,
        always=True,
    ),
)
