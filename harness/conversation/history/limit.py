"""Shorten a long history, but never leave a call without its result, or a result without its call.

The function keeps the system text, the last question and as many of the newest messages as fit. It
removes a turn's calls together with all of their results, also if a user message contains the
results. Always pass the complete history: a shortened one contains a notice, which would be
repeated.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, dropwhile, takewhile
from typing import Final

from harness.conversation.feedback import is_question
from harness.conversation.wording import Language
from harness.turns.messages import Message

_NOTICES: Final[dict[Language, str]] = {
    "en": "[{count} earlier messages were left out here.]",
    "zh": "[此处省略了较早的 {count} 条消息。]",
}


def limit_history(
    messages: Sequence[Message], most: int | None, language: Language
) -> tuple[Message, ...]:
    """Return `messages`, or as many as fit, with a notice in the first question that remains.

    Args:
        messages: a system text, then questions, each before the turns that answer it.
        most: the maximum number of messages; None for any number. The result may be longer only
            because the system text, the last question and the newest turn always remain.
        language: the language of the notice.
    """
    if most is None:
        return tuple(messages)
    head = tuple(takewhile(lambda message: message["role"] == "system", messages))
    kept = _kept(_blocks(messages[len(head) :]), most - len(head))
    left_out = len(messages) - len(head) - len(kept)
    if not left_out:
        return (*head, *kept)
    notice = _NOTICES[language].format(count=f"{left_out:,}")
    # Some providers reject two user messages in a row, so the notice is part of the question.
    question = kept[0] | {"content": f"{notice}\n\n{kept[0]['content']}"}
    return (*head, question, *kept[1:])


def _blocks(messages: Sequence[Message]) -> list[list[Message]]:
    """Group the messages: each question alone, and each turn together with its results."""
    blocks: list[list[Message]] = []
    for message in messages:
        if message["role"] == "assistant" or is_question(message):
            blocks.append([message])
        else:
            blocks[-1].append(message)
    return blocks


def _kept(blocks: Sequence[list[Message]], most: int) -> list[Message]:
    """Return the newest groups of messages that fit, which begin with a question.

    If no question fits, return the last question and the newest turns.
    """
    last = max(at for at, block in enumerate(blocks) if is_question(block[0]))
    first = len(blocks) - 1
    left = most - len(blocks[first]) - (last < first)
    while first and len(blocks[first - 1]) <= left:
        first -= 1
        left -= len(blocks[first]) * (first != last)
    kept: Iterable[list[Message]] = blocks[first:]
    if last < first:
        kept = chain((blocks[last],), kept)
    else:
        kept = dropwhile(lambda block: not is_question(block[0]), kept)
    return list(chain.from_iterable(kept))
