"""Two lists of messages, the recorded client's and the agent's -> where their structure differs.

No rule is made of it: that client was no oracle, and both of two ways may be right. Compared
are roles, calls, ids, results, what stands beside calls and what only the provider can read and
wants back; not the instructions, which are each client's own prompt, and not members that only
one provider knows.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import dropwhile
from typing import Literal, TypeAlias

import msgspec

from harness.judging.conversations import chat_form
from harness.judging.conversations.recording import INSTRUCTIONS
from harness.turns.arguments import same_value

Part = Literal[
    "roles", "content", "text", "sealed", "calls", "name", "id", "arguments", "answers", "result"
]

# For the recorded history and for the one that was sent: id that nobody gave -> its call's number.
_Numbers: TypeAlias = tuple[dict[str, str], dict[str, str]]


class HistoryDifference(msgspec.Struct, frozen=True):
    """One place where the structure differs.

    Fields:
        part: what of the message differs.
        path: such as `messages[1].tool_calls[0].id`, counted behind the instructions.
        recorded, sent: what the two clients have there.
    """

    part: Part
    path: str
    recorded: str
    sent: str


def history_differences(
    recorded: Sequence[object], sent: Sequence[object], given: Collection[str]
) -> tuple[HistoryDifference, ...]:
    """Return where two histories differ in structure; roles that differ hide all else.

    Args:
        recorded: the messages of the recorded request, in OpenAI's form.
        sent: those of the agent's.
        given: ids that the provider gave; another is its client's invention, so that such calls
            are counted, and their results follow the count.
    """
    before, after = _without_instructions(recorded), _without_instructions(sent)
    roles = [list(map(chat_form.role_of, each)) for each in (before, after)]
    if roles[0] != roles[1]:
        return (HistoryDifference("roles", "messages", *map(" ".join, roles)),)
    numbers = _call_numbers(before, given), _call_numbers(after, given)
    return tuple(
        found
        for place, pair in enumerate(zip(before, after, strict=True))
        for found in _message_differences(f"messages[{place}]", *pair, numbers)
    )


def _without_instructions(messages: Sequence[object]) -> list[object]:
    return list(dropwhile(lambda each: chat_form.role_of(each) in INSTRUCTIONS, messages))


def _call_numbers(messages: Sequence[object], given: Collection[str]) -> dict[str, str]:
    """Return for each id that nobody gave which call of the conversation it is."""
    found = (call_id for message in messages for call_id, _, _ in chat_form.calls_of(message))
    return {
        call_id: f"call {number}"
        for number, call_id in enumerate(found, start=1)
        if call_id not in given
    }


def _message_differences(
    path: str, recorded: object, sent: object, numbers: _Numbers
) -> Iterator[HistoryDifference]:
    kinds = _content_kind(recorded), _content_kind(sent)
    texts = chat_form.text_of(recorded), chat_form.text_of(sent)
    is_result = chat_form.role_of(recorded) == "tool"
    if kinds[0] != kinds[1]:
        yield HistoryDifference("result" if is_result else "content", f"{path}.content", *kinds)
    elif texts[0] != texts[1]:
        yield HistoryDifference("result" if is_result else "text", f"{path}.content", *texts)
    if is_result:
        answered = _answered_call(recorded, numbers[0]), _answered_call(sent, numbers[1])
        if answered[0] != answered[1]:
            yield HistoryDifference("answers", f"{path}.tool_call_id", *answered)
    sealed = _sealed_kinds(recorded), _sealed_kinds(sent)
    if sealed[0] != sealed[1]:
        yield HistoryDifference("sealed", f"{path}.sealed", *sealed)
    yield from _call_differences(path, recorded, sent, numbers)


def _call_differences(
    path: str, recorded: object, sent: object, numbers: _Numbers
) -> Iterator[HistoryDifference]:
    before, after = tuple(chat_form.calls_of(recorded)), tuple(chat_form.calls_of(sent))
    if len(before) != len(after):
        yield HistoryDifference("calls", f"{path}.tool_calls", str(len(before)), str(len(after)))
        return
    for place, (one, other) in enumerate(zip(before, after, strict=True)):
        call = f"{path}.tool_calls[{place}]"
        pairs = numbers[0].get(one[0], one[0]), numbers[1].get(other[0], other[0])
        if pairs[0] != pairs[1]:
            yield HistoryDifference("id", f"{call}.id", *pairs)
        if one[1] != other[1]:
            yield HistoryDifference("name", f"{call}.function.name", one[1], other[1])
        if one[2] != other[2] and not same_value(one[2], other[2]):
            yield HistoryDifference("arguments", f"{call}.function.arguments", one[2], other[2])


def _content_kind(message: object) -> str:
    """Return `null`, `''` or `text`; a key that is not there is null, and parts are text."""
    content = message.get("content") if isinstance(message, dict) else None
    if content is None:
        return "null"
    return "text" if chat_form.text_of(message) else "''"


def _sealed_kinds(message: object) -> str:
    """Return what of a message only its provider can read, such as signatures of thoughts."""
    kinds = message.get("sealed") if isinstance(message, dict) else None
    return " ".join(map(str, kinds)) if isinstance(kinds, list) else ""


def _answered_call(message: object, numbers: dict[str, str]) -> str:
    call_id = message.get("tool_call_id") if isinstance(message, dict) else None
    return numbers.get(str(call_id), str(call_id or ""))
