"""Shorten a long history without leaving a call without result, or a result without call.

The system text, the last question and as many of the newest messages as fit are kept. Messages are
removed in blocks of a turn's calls and all of their results, also if these are in a user message.
Always pass the complete history: a shortened one contains a notice, which would be repeated.
"""

from collections.abc import Iterator, Sequence
from itertools import dropwhile, takewhile
from typing import Final

import msgspec

from harness.conversation.feedback import has_results
from harness.conversation.wording import Language
from harness.turns.exact_json import encode_json
from harness.turns.messages import Message, user

_LEADING: Final = ("system", "developer")
_NOTICES: Final[dict[Language, str]] = {
    "en": "[{count} earlier messages were left out here.]",
    "zh": "[此处省略了较早的 {count} 条消息。]",
}


class HistoryLimit(msgspec.Struct, frozen=True):
    """How much of a history may be sent.

    Fields:
        messages, characters: maximum numbers, of the messages as JSON; None for any number.
        notice: add a notice that messages were left out.
        language: of the notice.
    """

    messages: int | None = None
    characters: int | None = None
    notice: bool = True
    language: Language = "en"


def limit_history(messages: Sequence[Message], limit: HistoryLimit) -> tuple[Message, ...]:
    """Return `messages`, or as many as fit.

    Only the system text, the last question and the newest block may exceed the limit, because they
    are always kept.
    """
    if _fits(messages, limit):
        return tuple(messages)
    head, blocks = _head(messages), _blocks(messages)
    kept = _chosen_blocks(head, blocks, limit)
    body = _without_orphans([message for block in kept for message in block], messages)
    left_out = len(messages) - len(head) - len(body)
    if not left_out or not limit.notice:
        return (*head, *body)
    notice = _NOTICES[limit.language].format(count=f"{left_out:,}")
    return (*head, *_with_notice(body, notice))


def _fits(messages: Sequence[Message], limit: HistoryLimit) -> bool:
    if limit.messages is not None and len(messages) > limit.messages:
        return False
    return limit.characters is None or sum(map(_size, messages)) <= limit.characters


def _size(message: Message) -> int:
    return len(encode_json(message).decode())


def _head(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(takewhile(lambda message: message.get("role") in _LEADING, messages))


def _blocks(messages: Sequence[Message]) -> list[list[Message]]:
    """Return what follows the head, in blocks that are kept or removed together."""
    blocks: list[list[Message]] = []
    waiting: set[str] = set()
    for message in messages[len(_head(messages)) :]:
        role = message.get("role")
        if role == "user":  # results that are still missing do not follow any more
            waiting.clear()
        if blocks and (role == "tool" or waiting or has_results(message)):
            blocks[-1].append(message)
        else:
            blocks.append([message])
        waiting |= set(_call_ids(message))
        if role == "tool":
            waiting.discard(str(message.get("tool_call_id")))
    return blocks


def _without_orphans(body: Sequence[Message], messages: Sequence[Message]) -> list[Message]:
    """Return `body` without late results of removed calls."""
    left = {call_id for message in body for call_id in _call_ids(message)}
    gone = {call_id for message in messages for call_id in _call_ids(message)} - left
    return [
        each
        for each in body
        if each.get("role") != "tool" or str(each.get("tool_call_id")) not in gone
    ]


def _call_ids(message: Message) -> Iterator[str]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("id"), str):
            yield call["id"]


def _chosen_blocks(
    head: Sequence[Message], blocks: list[list[Message]], limit: HistoryLimit
) -> list[list[Message]]:
    """Return the blocks to keep: the last question, the newest, and what fits before it."""
    if not blocks:
        return []
    asked = [index for index, block in enumerate(blocks) if block[0].get("role") == "user"]
    question = asked[-1] if asked else len(blocks) - 1
    first = len(blocks) - 1
    budget = _Budget(head, limit)
    for index in {question, first}:
        budget.take(blocks[index])
    while first > 0:
        block = blocks[first - 1]
        # The notice is part of the first user message, or else a separate message.
        alone = limit.notice and question >= first and block[0].get("role") != "user"
        if first - 1 != question and not budget.has(block, int(alone)):
            break
        first -= 1
        if first != question:
            budget.take(blocks[first])
    apart = [blocks[question]] if question < first else []
    kept = [*apart, *blocks[first:]]
    # Without a notice, the first message must not be one of these roles.
    opening = ("tool",) if limit.notice or not asked else ("tool", "assistant")
    return list(dropwhile(lambda block: block[0].get("role") in opening, kept))


class _Budget:
    """What is left of the limit, after the notice."""

    def __init__(self, head: Sequence[Message], limit: HistoryLimit) -> None:
        notice = user(_NOTICES[limit.language].format(count=f"{10**9:,}") + "\n\n")
        size_of_notice = _size(notice) if limit.notice else 0
        self._messages = limit.messages
        self._characters = limit.characters and limit.characters - size_of_notice
        self.take(head)

    def take(self, block: Sequence[Message]) -> None:
        """Spend what `block` needs."""
        if self._messages is not None:
            self._messages -= len(block)
        if self._characters is not None:
            self._characters -= sum(map(_size, block))

    def has(self, block: Sequence[Message], more: int) -> bool:
        """Whether `block` and `more` further messages fit."""
        if self._messages is not None and len(block) + more > self._messages:
            return False
        return self._characters is None or sum(map(_size, block)) <= self._characters


def _with_notice(body: list[Message], notice: str) -> list[Message]:
    """Put the notice before a question's text, because some providers reject two user messages."""
    content = body[0].get("content") if body and body[0].get("role") == "user" else None
    if isinstance(content, list):
        return [body[0] | {"content": [{"type": "text", "text": notice}, *content]}, *body[1:]]
    if isinstance(content, str):
        return [body[0] | {"content": f"{notice}\n\n{content}"}, *body[1:]]
    return [user(notice), *body]
