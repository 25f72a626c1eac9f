"""A recording of a whole conversation -> the script that it stands for, or why it has none.

Each recorded request holds what came of the reply before it: the calls that the client ran,
what they gave and what the user said next. So nobody has to write that down: an agent gets
the same questions and the same results, and what it sends is laid beside what was sent.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from harness.conversation.asking import BODIES
from harness.conversation.conversation import Ending
from harness.conversation.task import Limits
from harness.judging.conversations import chat_form
from harness.judging.conversations.followed import (
    INSTRUCTIONS,
    Messages,
    may_call,
    questions_in,
    why_not,
)
from harness.judging.conversations.script import (
    ConversationExpected,
    ConversationScript,
    ExpectedAnswer,
    ExpectedExecution,
    MockAnswer,
)
from harness.judging.conversations.session import Sent, offered
from harness.judging.conversations.truth import Truth, truth_of
from harness.turns.arguments import parse
from harness.turns.schema_check import Checker, misfit
from harness.wire.cassette import Cassette

_CHECKER: Final = Checker()
# The replies are fixed, so nothing can be called for ever.
_ANY_NUMBER: Final = 1_000


class NotHad(msgspec.Struct, frozen=True):
    """Why an agent cannot have the conversation of a recording."""

    why: str


class _Answer(msgspec.Struct, frozen=True):
    """A recorded call, and what its tool returned."""

    name: str
    arguments: dict[str, Any]
    result: str


def script_of_recording(cassette: Cassette) -> ConversationScript | NotHad:
    """Return what the recorded requests say of the conversation.

    What must come out is taken from them and from a strict reading of the replies, never from
    an agent; what both leave open stays open.
    """
    if len(cassette.interactions) < 2:  # noqa: PLR2004 - one request has no next one
        return NotHad("it has one request only")
    if cassette.dialect not in BODIES:
        return NotHad(f"agents do not ask in the dialect {cassette.dialect}")
    bodies = [chat_form.body_of(each.request.body) for each in cassette.interactions]
    requests = [chat_form.messages_of(cassette.dialect, body) for body in bodies]
    truths = [truth_of(Sent(it.request, it, n)) for n, it in enumerate(cassette.interactions)]
    why = why_not(requests, truths)
    return NotHad(why) if why else _script(cassette, requests, truths)


def _script(
    cassette: Cassette, requests: Sequence[Messages], truths: Sequence[Truth]
) -> ConversationScript:
    last = requests[-1]
    answers = tuple(_answers(last))
    questions = [chat_form.text_of(each) for each in last if chat_form.role_of(each) == "user"]
    said = [chat_form.text_of(each) for each in last if chat_form.role_of(each) in INSTRUCTIONS]
    return ConversationScript(
        questions=tuple(questions),
        expect=_expected(cassette, answers, truths),
        tools=_mocks(answers),
        system="\n\n".join(said),
        capabilities=_shown(requests),
        limits=_limits(requests),
        recorded=tuple(requests),
    )


def _answers(messages: Messages) -> Iterator[_Answer]:
    """Yield the calls that have a result, in the order of their results."""
    calls: dict[str, tuple[str, str]] = {}
    for message in messages:
        calls |= {call_id: (name, text) for call_id, name, text in chat_form.calls_of(message)}
        call_id = message.get("tool_call_id") if isinstance(message, dict) else None
        name, text = calls.get(str(call_id), ("", ""))
        value = parse(text).value
        if name and value is not None and chat_form.role_of(message) == "tool":
            yield _Answer(name, value, chat_form.text_of(message))


def _mocks(answers: Sequence[_Answer]) -> dict[str, tuple[MockAnswer, ...]]:
    found: dict[str, tuple[MockAnswer, ...]] = {}
    for each in answers:
        answer = MockAnswer(each.result, arguments=each.arguments)
        found[each.name] = (*found.get(each.name, ()), answer)
    return found


def _expected(
    cassette: Cassette, answers: Sequence[_Answer], truths: Sequence[Truth]
) -> ConversationExpected:
    last = truths[-1]
    return ConversationExpected(
        ending=_ending(last),
        answer=ExpectedAnswer(last.text if last.text_known and _ending(last) == "done" else None),
        executed=_executed(cassette, answers, truths),
        parse_errors=None,
    )


def _executed(
    cassette: Cassette, answers: Sequence[_Answer], truths: Sequence[Truth]
) -> tuple[ExpectedExecution, ...] | None:
    """Return the calls that must be run; None where that is left open.

    It is where the bytes leave a call open, and where one does not fit its tool: that may be
    run, or be answered with why not.
    """
    tools = {tool.name: tool for tool in offered(cassette)}
    if any(truth.calls is None for truth in truths[:-1]) or any(
        misfit(each.name, each.arguments, tools, _CHECKER) for each in answers
    ):
        return None
    return tuple(ExpectedExecution(each.name, each.arguments) for each in answers)


def _ending(last: Truth) -> Ending | None:
    """Return how the conversation ends with its last reply; None where that is left open."""
    if last.broken or last.calls is None:
        return None
    if may_call(last):
        return "limit"
    return "done" if last.text.strip() else "empty"


def _shown(requests: Sequence[Messages]) -> dict[str, bool]:
    """Return the capabilities that the recording itself shows."""
    counts = [len(tuple(chat_form.calls_of(each))) for each in requests[-1]]
    shown = {"supports_tool_use": any(counts), "supports_parallel_tools": max(counts) > 1}
    return {name: True for name, is_shown in shown.items() if is_shown}


def _limits(requests: Sequence[Messages]) -> Limits:
    """Return limits that the recorded client kept to; nothing is asked for twice."""
    rounds = max(Counter(map(questions_in, requests)).values())
    return Limits(rounds=rounds, identical_calls=_ANY_NUMBER, retries=0)
