"""Define the rule about earlier turns: each later request contains what was asked and found.

A model has no memory. It does not know what a request does not contain.
"""

from collections.abc import Iterator

from harness.judging.conversations.evidence import (
    FINAL_HISTORY,
    ConversationEvidence,
    conversation_rule,
)
from harness.judging.rule import Violation
from harness.judging.rules.conversation_stored import added_messages
from harness.results.outcome import Outcome
from harness.turns.exact_json import squeezed
from harness.turns.messages import role_of, text_of

# A server that keeps the conversation knows the earlier turns from one of these members.
_KEPT_BY_SERVER = ("previous_response_id", "conversation")


@conversation_rule(
    "CONV-EARLIER-LOST",
    Outcome.MISMATCH,
    yields_to=(
        *("CONV-ENDING", "CONV-NO-CRASH", "CONV-NO-HANG", "CONV-UNPLAYED"),
        *("HIST-FORM", "HIST-ORPHAN-RESULT", "HIST-TEXT-LOST"),
    ),
)
def _earlier_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    if evidence.task.limits.messages is not None:
        return
    if evidence.policies.get("truncation") == "summary":
        return
    known: list[tuple[str, str]] = []
    for index, (where, messages) in enumerate(_histories(evidence), evidence.probes):
        shown = {side: _text_of_side(messages, side) for side in ("model", "user")}
        for side, text in known:
            if squeezed(text) not in shown[side]:
                found = " / ".join(filter(None, map(text_of, messages)))
                yield Violation(f"{where}.messages", text, found)
                return
        known += _new_texts(evidence, index, messages)


def _histories(evidence: ConversationEvidence) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield the path and messages of each request of the user, and of the final history."""
    for index, request in enumerate(evidence.requests):
        if any(request.body.get(member) for member in _KEPT_BY_SERVER):
            return
        if index >= evidence.probes:
            yield f"requests[{index}]", request.messages
    if evidence.record.conversation is not None:
        yield FINAL_HISTORY, evidence.record.conversation.messages


def _new_texts(
    evidence: ConversationEvidence, index: int, messages: tuple[object, ...]
) -> Iterator[tuple[str, str]]:
    """Yield the texts that all histories after this one must have, each with its side.

    They are the questions, the results of the turn before, and the answer before a new question.
    """
    asked = {it for it in evidence.task.questions if _is_asked(it, messages)}
    yield from (("user", question) for question in sorted(asked))
    if not evidence.probes < index <= len(evidence.requests):
        return
    before = evidence.requests[index - 1]
    if any(each.after == index for each in evidence.executions):
        for _, message in added_messages(before.messages, messages):
            if role_of(message) != "assistant":
                yield "user", text_of(message)
    reply = before.reply
    is_answer = reply.calls == () and reply.text_known and not (reply.broken or reply.rejected)
    if is_answer and any(not _is_asked(question, before.messages) for question in asked):
        yield "model", reply.text


def _is_asked(question: str, messages: tuple[object, ...]) -> bool:
    return any(question in text_of(each) for each in messages if role_of(each) == "user")


def _text_of_side(messages: tuple[object, ...], side: str) -> str:
    """Return the texts of the model, or those of the user and the tools, without white space."""
    texts = (text_of(it) for it in messages if (role_of(it) == "assistant") == (side == "model"))
    return squeezed("\n".join(texts))
