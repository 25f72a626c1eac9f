"""A recording of a whole conversation -> the script that it stands for, or why it has none.

Each recorded request holds what came of the reply before it: the calls that the client ran,
what they gave and what the user said next. So nobody has to write that down: an agent gets
the same questions and the same results, and what it sends is laid beside what was sent.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import msgspec

from harness.conversation.asking import BODIES
from harness.conversation.conversation import Ending
from harness.conversation.task import Limits
from harness.judging.conversations import chat_form
from harness.judging.conversations.oracle_reply import OracleReply, oracle_reply
from harness.judging.conversations.script import (
    ConversationExpected,
    ConversationScript,
    ExpectedAnswer,
    ExpectedExecution,
    MockAnswer,
)
from harness.judging.conversations.session import SentRequest, same_value, tools_of_cassette
from harness.turns.arguments import meaning, parse
from harness.turns.schema_check import Checker, misfit
from harness.wire.cassette import Cassette

Messages: TypeAlias = tuple[object, ...]

INSTRUCTIONS: Final = ("system", "developer")


def not_replayable_reason(requests: Sequence[Messages], truths: Sequence[OracleReply]) -> str:
    """Return why the requests are no conversation that can be had again; "" where they are.

    Args:
        requests: the messages of each, in OpenAI's form.
        truths: what the reply to each says.
    """
    if not all(requests):
        return "its requests were not kept"
    if _roles_after_instructions(requests[0]) != ["user"]:
        return "it began before the recording"
    steps = zip(pairwise(requests), truths, strict=False)  # no request follows the last reply
    problems = (_step_problem(before, after, truth) for (before, after), truth in steps)
    return next(filter(None, problems), "") or _ending_problem(requests, truths[-1])


def _roles_after_instructions(messages: Messages) -> list[str]:
    roles = map(chat_form.role_of, messages)
    return [role for place, role in enumerate(roles) if place or role not in INSTRUCTIONS]


def _step_problem(before: Messages, after: Messages, truth: OracleReply) -> str:
    """Return why a request is not what an agent would send for the reply before it."""
    if not _begins_with(after, before):
        return "its requests do not follow one another"
    if truth.broken or truth.rejected:
        what = "a reply broke off" if truth.broken else "a reply holds a call that cannot be used"
        return f"{what}, and what a client does then is its own choice"
    new = after[len(before) :]
    return _new_messages_problem(new) or _stored_calls_problem(new, truth)


def _begins_with(after: Messages, before: Messages) -> bool:
    pairs = zip(before, after, strict=False)  # the longer one goes on
    return len(after) > len(before) and all(same_value(*pair) for pair in pairs)


def _new_messages_problem(new: Messages) -> str:
    """Return why what follows a reply is neither its results nor one new question."""
    roles = [chat_form.role_of(message) for message in new]
    if not {"assistant", "tool", "user"}.issuperset(roles):
        return "instructions came in the middle"
    if "user" in roles and "tool" in roles:
        return "the user spoke between results and answer"
    if "tool" not in roles and roles.count("user") + (roles[-1] == "user") != 2:  # noqa: PLR2004 - one, and it is the last
        return "a request holds neither results nor one new question"
    if any(map(_is_more_than_text, new)):
        return "a message holds more than text"
    called = {call_id for message in new for call_id, _, _ in chat_form.calls_of(message)}
    return (
        "" if called.issuperset(_answered_call_ids(new)) else "a result answers no call of its turn"
    )


def _answered_call_ids(new: Messages) -> Iterator[str]:
    """Yield the ids that results name."""
    for message in new:
        if isinstance(message, dict) and chat_form.role_of(message) == "tool":
            yield str(message.get("tool_call_id"))


def _is_more_than_text(message: object) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and not all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    )


def _stored_calls_problem(new: Messages, truth: OracleReply) -> str:
    """Return why the client stored other calls than an agent would; it decides open ones."""
    stored = [call[1:] for message in new for call in chat_form.calls_of(message)]
    if truth.calls is None:
        return "" if stored else "the bytes of a reply leave open what it calls"
    said = Counter((call.name, meaning(call.arguments)) for call in truth.calls)
    same = said == Counter((name, meaning(arguments)) for name, arguments in stored)
    return "" if same else "its client stored other calls than a reply holds"


def _ending_problem(requests: Sequence[Messages], last: OracleReply) -> str:
    """Return why nobody knows what comes last, where the newest reply may want calls run.

    Limits hold for each question alike, so only the longest round can end at them.
    """
    asked = [count_questions(each) for each in requests]
    shorter = Counter(asked)[asked[-1]] < max(Counter(asked).values())
    return "it ends with calls, or what may be some" if shorter and may_call(last) else ""


def may_call(truth: OracleReply) -> bool:
    """Return whether a reply calls a tool, or leaves open whether it does."""
    return truth.calls is None or bool(truth.calls or truth.rejected)


def count_questions(messages: Messages) -> int:
    """Return how often the user has spoken."""
    return sum(chat_form.role_of(message) == "user" for message in messages)


_CHECKER: Final = Checker()
# The replies are fixed, so nothing can be called for ever.
_UNLIMITED: Final = 1_000


class NotReplayable(msgspec.Struct, frozen=True):
    """Why an agent cannot have the conversation of a recording."""

    why: str


class _ToolResult(msgspec.Struct, frozen=True):
    """A recorded call, and what its tool returned."""

    name: str
    arguments: dict[str, Any]
    result: str


def script_from_recording(cassette: Cassette) -> ConversationScript | NotReplayable:
    """Return what the recorded requests say of the conversation.

    What must come out is taken from them and from a strict reading of the replies, never from
    an agent; what both leave open stays open.
    """
    if len(cassette.interactions) < 2:  # noqa: PLR2004 - one request has no next one
        return NotReplayable("it has one request only")
    if cassette.dialect not in BODIES:
        return NotReplayable(f"agents do not ask in the dialect {cassette.dialect}")
    bodies = [chat_form.body_of(each.request.body) for each in cassette.interactions]
    requests = [chat_form.messages_of(cassette.dialect, body) for body in bodies]
    truths = [
        oracle_reply(SentRequest(it.request, it, n)) for n, it in enumerate(cassette.interactions)
    ]
    why = not_replayable_reason(requests, truths)
    return NotReplayable(why) if why else _script(cassette, requests, truths)


def _script(
    cassette: Cassette, requests: Sequence[Messages], truths: Sequence[OracleReply]
) -> ConversationScript:
    last = requests[-1]
    answers = tuple(_iter_tool_results(last))
    questions = [chat_form.text_of(each) for each in last if chat_form.role_of(each) == "user"]
    said = [chat_form.text_of(each) for each in last if chat_form.role_of(each) in INSTRUCTIONS]
    return ConversationScript(
        questions=tuple(questions),
        expect=_expected_conversation(cassette, answers, truths),
        tools=_mock_answers(answers),
        system="\n\n".join(said),
        capabilities=_observed_capabilities(requests),
        limits=_observed_limits(requests),
        recorded=tuple(requests),
    )


def _iter_tool_results(messages: Messages) -> Iterator[_ToolResult]:
    """Yield the calls that have a result, in the order of their results."""
    calls: dict[str, tuple[str, str]] = {}
    for message in messages:
        calls |= {call_id: (name, text) for call_id, name, text in chat_form.calls_of(message)}
        call_id = message.get("tool_call_id") if isinstance(message, dict) else None
        name, text = calls.get(str(call_id), ("", ""))
        value = parse(text).value
        if name and value is not None and chat_form.role_of(message) == "tool":
            yield _ToolResult(name, value, chat_form.text_of(message))


def _mock_answers(answers: Sequence[_ToolResult]) -> dict[str, tuple[MockAnswer, ...]]:
    found: dict[str, tuple[MockAnswer, ...]] = {}
    for each in answers:
        answer = MockAnswer(each.result, arguments=each.arguments)
        found[each.name] = (*found.get(each.name, ()), answer)
    return found


def _expected_conversation(
    cassette: Cassette, answers: Sequence[_ToolResult], truths: Sequence[OracleReply]
) -> ConversationExpected:
    last = truths[-1]
    return ConversationExpected(
        ending=_expected_ending(last),
        answer=ExpectedAnswer(
            last.text if last.text_known and _expected_ending(last) == "done" else None
        ),
        executed=_expected_executions(cassette, answers, truths),
        parse_errors=None,
    )


def _expected_executions(
    cassette: Cassette, answers: Sequence[_ToolResult], truths: Sequence[OracleReply]
) -> tuple[ExpectedExecution, ...] | None:
    """Return the calls that must be run; None where that is left open.

    It is where the bytes leave a call open, and where one does not fit its tool: that may be
    run, or be answered with why not.
    """
    tools = {tool.name: tool for tool in tools_of_cassette(cassette)}
    if any(truth.calls is None for truth in truths[:-1]) or any(
        misfit(each.name, each.arguments, tools, _CHECKER) for each in answers
    ):
        return None
    return tuple(ExpectedExecution(each.name, each.arguments) for each in answers)


def _expected_ending(last: OracleReply) -> Ending | None:
    """Return how the conversation ends with its last reply; None where that is left open."""
    if last.broken or last.calls is None:
        return None
    if may_call(last):
        return "limit"
    return "done" if last.text.strip() else "empty"


def _observed_capabilities(requests: Sequence[Messages]) -> dict[str, bool]:
    """Return the capabilities that the recording itself shows."""
    counts = [len(tuple(chat_form.calls_of(each))) for each in requests[-1]]
    shown = {"supports_tool_use": any(counts), "supports_parallel_tools": max(counts) > 1}
    return {name: True for name, is_shown in shown.items() if is_shown}


def _observed_limits(requests: Sequence[Messages]) -> Limits:
    """Return limits that the recorded client kept to; nothing is asked for twice."""
    rounds = max(Counter(map(count_questions, requests)).values())
    return Limits(rounds=rounds, identical_calls=_UNLIMITED, retries=0)
