"""Compare the structure of the messages of the recorded client and of the agent.

No rule uses the differences, because the recorded client was not an oracle, and both may be
correct. The comparison covers roles, calls, ids, results, content, and data that only the provider
can read. It leaves out instructions, because each client has its own prompt, and members that only
one provider knows.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import dropwhile
from typing import Literal, TypeAlias

import msgspec

from harness.judging.conversations.recording import INSTRUCTIONS
from harness.judging.random_values import number_ids
from harness.turns.arguments import same_value
from harness.turns.messages import calls_of, role_of, sealed_of, text_of

Part = Literal[
    "roles", "content", "text", "sealed", "calls", "name", "id", "arguments", "answers", "result"
]

# Of the recorded history and of the one that was sent: a generated id -> its call's number.
_Numbers: TypeAlias = tuple[dict[str, str], dict[str, str]]


class HistoryDifference(msgspec.Struct, frozen=True):
    """One difference in structure between the recorded messages and those of the agent.

    Fields:
        part: the part of the message that differs.
        path: the location, such as `messages[1].tool_calls[0].id`; the instructions do not count.
        recorded, sent: the values of the recorded client and of the agent.
    """

    part: Part
    path: str
    recorded: str
    sent: str

    def __str__(self) -> str:
        """Return the difference as text for a report."""
        return f"{self.path}: recorded {self.recorded!r}, sent {self.sent!r}"


def history_differences(
    recorded: Sequence[object], sent: Sequence[object], known_ids: Collection[str]
) -> tuple[HistoryDifference, ...]:
    """Return the differences in structure; if the roles differ, only that difference.

    Args:
        recorded: the messages of the recorded request, in the format of OpenAI.
        sent: the messages of the agent's request, in the same format.
        known_ids: ids that the provider sent. A client generates all other ids, so calls with such
            an id, and their results, are compared by their number.
    """
    before, after = _without_instructions(recorded), _without_instructions(sent)
    roles = [list(map(role_of, each)) for each in (before, after)]
    if roles[0] != roles[1]:
        return tuple(_compare("roles", "messages", *map(" ".join, roles)))
    numbers = _call_numbers(before, known_ids), _call_numbers(after, known_ids)
    return tuple(
        found
        for index, pair in enumerate(zip(before, after, strict=True))
        for found in _message_differences(f"messages[{index}]", *pair, numbers)
    )


def _compare(part: Part, path: str, recorded: str, sent: str) -> Iterator[HistoryDifference]:
    if recorded != sent:
        yield HistoryDifference(part, path, recorded, sent)


def _without_instructions(messages: Sequence[object]) -> list[object]:
    return list(dropwhile(lambda each: role_of(each) in INSTRUCTIONS, messages))


def _call_numbers(messages: Sequence[object], known_ids: Collection[str]) -> dict[str, str]:
    """Return id -> the number of its call, for each id that a client generated."""
    return number_ids((found[0] for message in messages for found in calls_of(message)), known_ids)


def _message_differences(
    path: str, recorded: object, sent: object, numbers: _Numbers
) -> Iterator[HistoryDifference]:
    kinds = _content_kind(recorded), _content_kind(sent)
    texts = text_of(recorded), text_of(sent)
    is_result = role_of(recorded) == "tool"
    same_kind = kinds[0] == kinds[1]
    part: Part = "result" if is_result else "text" if same_kind else "content"
    yield from _compare(part, f"{path}.content", *(texts if same_kind else kinds))
    if is_result:
        answered = _answered_call(recorded, numbers[0]), _answered_call(sent, numbers[1])
        yield from _compare("answers", f"{path}.tool_call_id", *answered)
    yield from _compare("sealed", f"{path}.sealed", _sealed_kinds(recorded), _sealed_kinds(sent))
    yield from _call_differences(path, recorded, sent, numbers)


def _call_differences(
    path: str, recorded: object, sent: object, numbers: _Numbers
) -> Iterator[HistoryDifference]:
    before, after = tuple(calls_of(recorded)), tuple(calls_of(sent))
    if len(before) != len(after):
        yield from _compare("calls", f"{path}.tool_calls", str(len(before)), str(len(after)))
        return
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        call = f"{path}.tool_calls[{index}]"
        ids = numbers[0].get(one[0], one[0]), numbers[1].get(other[0], other[0])
        yield from _compare("id", f"{call}.id", *ids)
        yield from _compare("name", f"{call}.function.name", one[1], other[1])
        if not same_value(one[2], other[2]):
            yield from _compare("arguments", f"{call}.function.arguments", one[2], other[2])


def _content_kind(message: object) -> str:
    """Return what the content of a message is: `null` (also if missing), `''` or `text`."""
    content = message.get("content") if isinstance(message, dict) else None
    if content is None:
        return "null"
    return "text" if text_of(message) else "''"


def _sealed_kinds(message: object) -> str:
    """Return the kinds of a message's members that only the provider can read, as one text."""
    return (
        " ".join(each["kind"] for each in sealed_of(message)) if isinstance(message, dict) else ""
    )


def _answered_call(message: object, numbers: dict[str, str]) -> str:
    call_id = message.get("tool_call_id") if isinstance(message, dict) else None
    return numbers.get(str(call_id), str(call_id or ""))
