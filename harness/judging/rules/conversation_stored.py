"""Rules about what a history contains of a turn: its text, its calls, and the result of each call.

Compared are the bytes of the reply, what was executed, and the messages that were added after the
reply. Turns of prompts that describe their tools are not compared, because there an agent writes
the calls as text.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from harness.dialects.kit.parse_request import SYSTEM_ROLES
from harness.judging.conversations.evidence import (
    FINAL_HISTORY,
    ConversationEvidence,
    RequestEvidence,
    conversation_rule,
)
from harness.judging.results import Outcome
from harness.judging.rule import Violation
from harness.turns.exact_json import join_surrogates
from harness.turns.messages import Message, role_of, text_of

# Problems of a history in which messages or their order are wrong, so that content is too.
_BROKEN_HISTORY: Final = ("HIST-ORPHAN-RESULT", "HIST-FORM")


class StoredTurn(msgspec.Struct, frozen=True):
    """A complete turn, and what one later history has after the messages of its request.

    Fields:
        index: of the request that the turn answered.
        where: the path of the history.
        messages: index in the history -> message.
    """

    index: int
    request: RequestEvidence
    where: str
    messages: dict[int, Message]


def _stored_turns(evidence: ConversationEvidence) -> Iterator[StoredTurn]:
    """Yield each complete turn with the next history, and with the last if all of it is kept."""
    requests, limited = evidence.requests, evidence.task.limits.messages is not None
    histories = [(f"requests[{index}]", each.messages) for index, each in enumerate(requests)]
    if evidence.record.conversation is not None:
        histories.append((FINAL_HISTORY, evidence.record.conversation.messages))
    for index, request in enumerate(requests):
        if request.tools is None or request.reply.broken or request.reply.calls is None:
            continue
        later = [index + 1] if limited else sorted({index + 1, len(histories) - 1})
        for where, messages in (histories[number] for number in later if number < len(histories)):
            if _last_question(request.messages) in map(_question, messages):  # not a probe
                added = dict(_iter_added(() if limited else request.messages, messages))
                yield StoredTurn(index, request, where, added)


def _question(message: object) -> str:
    return text_of(message) if role_of(message) == "user" else ""


def _last_question(messages: tuple[object, ...]) -> str:
    return next(filter(None, map(_question, reversed(messages))), "")


def _iter_added(
    before: tuple[object, ...], after: tuple[object, ...]
) -> Iterator[tuple[int, Message]]:
    """Yield the messages of `after` that follow as many as `before` has, instructions apart."""
    left = sum(role_of(message) not in SYSTEM_ROLES for message in before)
    for number, message in enumerate(after):
        if role_of(message) in SYSTEM_ROLES or not isinstance(message, dict):
            continue
        if left <= 0:
            yield number, message
        left -= 1


@conversation_rule(
    "HIST-TEXT-LOST",
    "The visible text of a complete turn is in the history.",
    Outcome.MISMATCH,
    ("HIST-TEXT-LOST",),
    yields_to=_BROKEN_HISTORY,
)
def _text_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    reported = set[int]()
    for turn in _stored_turns(evidence):
        reply = turn.request.reply
        if not reply.text_known or turn.index in reported:
            continue
        stored = [text_of(each) for each in turn.messages.values() if role_of(each) == "assistant"]
        if _squeezed(reply.text) not in _squeezed("".join(stored)):
            reported.add(turn.index)
            found = " / ".join(filter(None, stored)) or "no text"
            yield Violation(f"{turn.where}.messages", reply.text, found)


def _squeezed(text: str) -> str:
    """Return `text` without white space, which a client may change between parts."""
    return "".join(join_surrogates(text).split())
