"""Define rules about the end of a conversation: it ends, correctly, and in every run equally."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from harness.conversation.prompts import PROMPTS
from harness.dialects.kit.oracle.values import read_arguments
from harness.dialects.kit.oracle.written_calls import WrittenReply, written_reply
from harness.dialects.table import message_form, request_body
from harness.judging.conversations.evidence import ConversationEvidence, conversation_rule
from harness.judging.conversations.session import Execution, SessionRecord
from harness.judging.random_values import ids_of_turn, mask, number_ids, sent_ids
from harness.judging.rule import Violation
from harness.results.conversation import Conversation
from harness.results.finding import Came
from harness.results.outcome import Outcome
from harness.turns.exact_json import squeezed
from harness.turns.messages import calls_of

AGAIN: Final = "again"
# How the prompt `react` labels the answer.
_REACT_ANSWER: Final = "Final Answer:"
_NO_ANSWER: Final = ("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-UNPLAYED")


@conversation_rule("CONV-NO-CRASH", Outcome.CRASH, always=True)
def _no_crash(evidence: ConversationEvidence) -> Iterator[Violation]:
    if evidence.record.error:
        record, replies = evidence.record, [request.reply for request in evidence.requests]
        # As for NO-CRASH: the exception of a library reports a body without an answer.
        is_empty = replies and replies[-1].broken and not (replies[-1].calls or replies[-1].text)
        came: Came = "no-answer" if evidence.foreign and is_empty else ""
        raised = record.raised
        yield Violation("conversation", "no exception", record.error, raised=raised, came=came)


@conversation_rule("CONV-NO-HANG", Outcome.HANG, always=True)
def _no_hang(evidence: ConversationEvidence) -> Iterator[Violation]:
    if evidence.record.hung:
        actual = f"stopped: {evidence.record.hung}"
        yield Violation("conversation", "an end within the limits", actual)


@conversation_rule(
    "CONV-ENDING",
    Outcome.MISMATCH,
    yields_to=(
        *("CONV-CALL-FROM-BROKEN-TURN", "CONV-CALLS-MISSING", "CONV-LIMITS"),
        "CONV-UNUSABLE-DONE",
    ),
)
def _ending(evidence: ConversationEvidence) -> Iterator[Violation]:
    conversation, expected = evidence.record.conversation, evidence.script.expect.ending
    if _ends_at_hidden_length(evidence):
        return
    if conversation and expected is not None and conversation.ending != expected:
        # An early end that loses calls is as bad as losing them.
        worse = Outcome.LOST_CALL if evidence.matches.lost else None
        reply = evidence.requests[-1].reply if evidence.requests else None
        # After a body without an answer, `empty` tells the user the same.
        has_none = reply is not None and reply.broken and not (reply.text or reply.calls)
        reported = conversation.ending == "error" or (conversation.ending == "empty" and has_none)
        came = evidence.own_design if reported else ""
        found = _shown_ending(conversation)
        yield Violation("ending", expected, found, outcome=worse, came=came)


def _shown_ending(conversation: Conversation) -> str:
    """Return the ending, and the message of the failure that caused it, if there is one."""
    failure = conversation.turns[-1].turn.failure if conversation.turns else None
    if failure is None or conversation.ending != "error":
        return conversation.ending
    return f"{conversation.ending}: {failure.message}"


@conversation_rule("CONV-CALLS-MISSING", Outcome.MISMATCH)
def _calls_missing(evidence: ConversationEvidence) -> Iterator[Violation]:
    conversation, requests = evidence.record.conversation, evidence.requests
    if conversation is None or conversation.ending != "done" or not requests:
        return
    if requests[-1].reply.calls_missing:
        # The model wanted to call a tool, and the user believes that it was called.
        worse = Outcome.LOST_CALL if evidence.matches.lost else None
        expected = "another request, or an ending that is not done"
        yield Violation("ending", expected, conversation.ending, outcome=worse)


@conversation_rule("CONV-UNUSABLE-DONE", Outcome.MISMATCH)
def _unusable_done(evidence: ConversationEvidence) -> Iterator[Violation]:
    conversation, records = evidence.record.conversation, evidence.records
    if conversation is None or conversation.ending != "done" or not records:
        return
    last = records[-1]
    if last.turn.parse_errors and not last.turn.tool_calls:
        worse = Outcome.LOST_CALL if evidence.matches.lost else None
        expected = "another request, or an ending that is not done"
        yield Violation("ending", expected, conversation.ending, outcome=worse)


def _ends_at_hidden_length(evidence: ConversationEvidence) -> bool:
    """Return whether only the finish reason, which the agent does not expose, shows the ending."""
    if "finish" not in evidence.hides or not evidence.requests:
        return False
    return evidence.requests[-1].reply.truncated


@conversation_rule("CONV-ANSWER-CHANGED", Outcome.MISMATCH, yields_to=_NO_ANSWER)
def _answer_changed(evidence: ConversationEvidence) -> Iterator[Violation]:
    conversation = evidence.record.conversation
    if conversation is None or not evidence.requests:
        return
    expected, answer = _last_visible_text(evidence), conversation.answer
    if conversation.ending == "done" and expected is not None:
        if squeezed(answer) != squeezed(expected):
            yield Violation("answer", expected, answer)
        return
    written = _written_by_model(evidence, answer)
    if written is not None and written.calls:
        yield Violation("answer", "no markup of a call", answer)


def _last_visible_text(evidence: ConversationEvidence) -> str | None:
    """Return the visible text of the last reply; None if the bytes do not determine it."""
    reply = evidence.requests[-1].reply
    if PROMPTS[evidence.task.prompt].protocol == "react":
        _, label, answer = reply.text.rpartition(_REACT_ANSWER)
        return answer if label and not reply.broken else None
    if reply.broken or reply.calls is None or reply.calls or reply.rejected:
        return None
    written = _written_by_model(evidence, reply.text)
    if written is not None:
        return written.text if written.text_known and not written.calls else None
    # In the action protocol, other objects than those of the protocol may be an answer too.
    is_object = read_arguments(reply.text.strip()).value is not None
    return reply.text if reply.text_known and not is_object else None


def _written_by_model(evidence: ConversationEvidence, text: str) -> WrittenReply | None:
    """Return what `text` contains in the format of a prompt that describes calls, if it is one."""
    if evidence.requests[-1].tools is not None or not evidence.task.tools:
        return None
    return written_reply(text, frozenset(tool.name for tool in evidence.task.tools))


@conversation_rule("CONV-ANSWER", Outcome.MISMATCH, yields_to=(*_NO_ANSWER, "CONV-ANSWER-CHANGED"))
def _answer(evidence: ConversationEvidence) -> Iterator[Violation]:
    conversation, expected = evidence.record.conversation, evidence.script.expect.answer
    if conversation is None or expected is None:
        return
    if isinstance(expected, str):
        if conversation.answer != expected:
            yield Violation("answer", expected, conversation.answer)
        return
    for value, found in expected.differences(conversation.answer):
        yield Violation("answer", value, found, came=evidence.own_design)


@conversation_rule("CONV-CUT-INVARIANT", Outcome.MISMATCH, of="many", always=True)
def _same_under_other_reads(evidence: ConversationEvidence) -> Iterator[Violation]:
    found = (
        violation
        for reads, other in evidence.others.items()
        if reads != AGAIN
        for violation in _first_difference(evidence, other, f"reads {reads}")
    )
    yield from islice(found, 1)


@conversation_rule("CONV-REPEATABLE", Outcome.MISMATCH, of="many", always=True)
def _same_again(evidence: ConversationEvidence) -> Iterator[Violation]:
    if AGAIN in evidence.others:
        yield from _first_difference(evidence, evidence.others[AGAIN], "the same again")


def _first_difference(
    evidence: ConversationEvidence, other: SessionRecord, label: str
) -> Iterator[Violation]:
    """Yield a violation for the first difference between two runs of the agent.

    Args:
        evidence: the first run.
        other: the record of the other run.
        label: a description of the other run, such as its reads.
    """
    record, dialect = evidence.record, evidence.task.dialect
    pairs: tuple[tuple[str, object, object], ...] = (
        ("conversation", record.error or record.hung, other.error or other.hung),
        ("executed", _executed(evidence, record), _executed(evidence, other)),
        ("requests", _bodies(record), _bodies(other)),
        ("conversation", record.conversation, other.conversation),
    )
    for path, before, after in pairs:
        if before != after and _masked(before, record, dialect) != _masked(after, other, dialect):
            worse = Outcome.SILENT_WRONG if path == "executed" else None
            actual = f"with {label}: {_value_text(after)}"
            raised = "" if record.error == other.error else other.raised or record.raised
            yield Violation(path, _value_text(before), actual, outcome=worse, raised=raised)
            return


def _executed(evidence: ConversationEvidence, record: SessionRecord) -> tuple[Execution, ...]:
    """Return the executed calls; those of one turn sorted if the agent may run them in parallel."""
    if not evidence.foreign:
        return record.executions
    return tuple(sorted(record.executions, key=lambda it: (it.after, it.tool, it.arguments)))


def _masked(value: object, record: SessionRecord, dialect: str) -> str:
    """Return `value` as text, with parts masked that differ between equal conversations."""
    ids = list(_iter_call_ids(record, dialect))
    known = sent_ids(ids, [sent.answer.body for sent in record.sent])
    return mask(repr(value), number_ids(ids, known))


def _iter_call_ids(record: SessionRecord, dialect: str) -> Iterator[str]:
    """Yield the ids of calls in the agent's turns, requests and messages."""
    turns = record.conversation.turns if record.conversation else ()
    for each in turns:
        yield from ids_of_turn(each.turn)
    messages_of = message_form(dialect).messages_of
    histories = [messages_of(request_body(sent.request.body) or {}) for sent in record.sent]
    messages = record.conversation.messages if record.conversation else ()
    for message in chain(*histories, messages):
        yield from (call_id for call_id, _, _ in calls_of(message))


def _value_text(value: object) -> str:
    if isinstance(value, Conversation):
        return f"{value.ending}: {value.answer}"
    return repr(value)


def _bodies(record: SessionRecord) -> list[bytes]:
    return [sent.request.body for sent in record.sent]
