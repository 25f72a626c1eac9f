"""Make a script from the recording of a conversation, or say why agents cannot replay it.

Each recorded request contains the result of the reply before it: the calls that the client
executed, their results, and the next question. An agent gets the same questions and the same
results, and its requests are compared with the recorded ones.

A recording can be replayed if each request has the messages of the request before it, then the
model's message, and then the results of its calls or the next question. Also, no reply may leave
the client a choice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import msgspec

from harness.conversation.task import Limits
from harness.dialects.kit.oracle.written_calls import described_text_dialects
from harness.dialects.table import AGENT_DIALECTS, message_form, request_body
from harness.judging.conversations.oracle_reply import OracleReply, oracle_reply
from harness.judging.conversations.script import (
    ConversationExpected,
    ConversationScript,
    ExpectedExecution,
    MockAnswer,
)
from harness.judging.conversations.session import SentRequest, same_value, tools_of_cassette
from harness.results.conversation import Ending
from harness.turns.arguments import meaning, parse
from harness.turns.messages import calls_of, role_of, text_of
from harness.turns.schema_check import Checker, misfit
from harness.wire.cassette import Cassette

Messages: TypeAlias = tuple[object, ...]

INSTRUCTIONS: Final = ("system", "developer")
_CHECKER: Final = Checker()
# The recorded replies are finite, so no call can repeat for ever.
_UNLIMITED: Final = 1_000


class NotReplayable(msgspec.Struct, frozen=True):
    """Says why an agent cannot replay the conversation of a recording."""

    why: str


class _ToolResult(msgspec.Struct, frozen=True):
    """A recorded call, and what its tool returned."""

    name: str
    arguments: dict[str, Any]
    result: str


def script_from_recording(cassette: Cassette) -> ConversationScript | NotReplayable:
    """Return the script for the conversation in `cassette`, or why agents cannot replay it.

    The expected result comes from the recorded requests and the oracle's readings of the replies,
    never from an agent. It is not judged if both are ambiguous.
    """
    if len(cassette.interactions) < 2:  # noqa: PLR2004 - a conversation has a further request
        return NotReplayable("it has one request only")
    if cassette.dialect not in AGENT_DIALECTS:
        return NotReplayable(f"agents do not support the dialect {cassette.dialect}")
    bodies = [(request_body(each.request.body) or {}) for each in cassette.interactions]
    requests = [message_form(cassette.dialect).messages_of(body) for body in bodies]
    replies = [
        oracle_reply(SentRequest(it.request, it, n)) for n, it in enumerate(cassette.interactions)
    ]
    reason = not_replayable_reason(requests, replies)
    return NotReplayable(reason) if reason else _script(cassette, requests, replies)


def not_replayable_reason(requests: Sequence[Messages], replies: Sequence[OracleReply]) -> str:
    """Return why agents cannot replay the recorded requests; "" if they can.

    Args:
        requests: the messages of each request, in the format of OpenAI.
        replies: the oracle's reading of the reply to each request.
    """
    if not all(requests):
        return "its requests were not stored"
    roles = map(role_of, requests[0])
    if [role for at, role in enumerate(roles) if at or role not in INSTRUCTIONS] != ["user"]:
        return "it began before the recording"
    if any(map(_describes_calls, requests[0])):
        return "its system text describes how to write calls, as each agent does in its own way"
    steps = zip(pairwise(requests), replies, strict=False)  # no request follows the last reply
    problems = (_step_problem(before, after, reply) for (before, after), reply in steps)
    return next(filter(None, problems), "") or _ending_problem(requests, replies[-1])


def _describes_calls(message: object) -> bool:
    is_system = isinstance(message, dict) and role_of(message) in INSTRUCTIONS
    return is_system and bool(described_text_dialects(text_of(message)))


def _step_problem(before: Messages, after: Messages, reply: OracleReply) -> str:
    """Return why an agent would not send a request after the previous reply; "" if it would."""
    unmarked = map(_without_cache_marker, before), map(_without_cache_marker, after)
    common = zip(*unmarked, strict=False)  # the later request is longer
    if len(after) <= len(before) or not all(same_value(*pair) for pair in common):
        return "its requests do not follow one another"
    if reply.broken or reply.rejected:
        what = "is incomplete" if reply.broken else "contains a call that cannot be used"
        return f"a reply {what}, and clients may handle that in different ways"
    new = after[len(before) :]
    return _new_messages_problem(new) or _stored_calls_problem(new, reply)


def _without_cache_marker(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    """Return a message without `cache_control`, which clients move to the newest message.

    Such a marker needs a block, so a message with one text is equal with or without a block.
    """
    if isinstance(value, list):
        return [_without_cache_marker(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _without_cache_marker(it) for key, it in value.items() if key != "cache_control"}
    match kept:
        case {"content": [{"type": "text", "text": str(text), **others}]} if not others:
            kept["content"] = text
    return kept


def _new_messages_problem(new: Messages) -> str:
    """Return why the messages after a reply are neither results nor one new question, or ""."""
    roles = [role_of(message) for message in new]
    if not {"assistant", "tool", "user"}.issuperset(roles):
        return "instructions came in the middle"
    if "user" in roles and "tool" in roles:
        return "the user spoke between results and answer"
    if "tool" not in roles and roles.count("user") + (roles[-1] == "user") != 2:  # noqa: PLR2004 - one, and it is the last
        return "a request contains neither results nor one new question"
    if any(map(_is_more_than_text, new)):
        return "a message contains more than text"
    called = {call_id for message in new for call_id, _, _ in calls_of(message)}
    answered = {
        str(message.get("tool_call_id"))
        for message in new
        if isinstance(message, dict) and role_of(message) == "tool"
    }
    return "" if answered <= called else "a result answers no call of its turn"


def _is_more_than_text(message: object) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and not all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    )


def _stored_calls_problem(new: Messages, reply: OracleReply) -> str:
    """Return why an agent would store other calls, or ""; stored calls resolve ambiguity."""
    stored = [call[1:] for message in new for call in calls_of(message)]
    if reply.calls is None:
        return "" if stored else "the bytes of a reply are ambiguous about its calls"
    calls = Counter((call.name, meaning(call.arguments)) for call in reply.calls)
    same = calls == Counter((name, meaning(arguments)) for name, arguments in stored)
    return "" if same else "its client stored other calls than a reply contains"


def _ending_problem(requests: Sequence[Messages], last: OracleReply) -> str:
    """Return why the ending is not known if the last reply may call tools, or "".

    The limits are the same for each question, so only the longest loop can end at a limit.
    """
    counts = [count_questions(each) for each in requests]
    shorter = Counter(counts)[counts[-1]] < max(Counter(counts).values())
    return "it ends with calls, or with possible calls" if shorter and may_call(last) else ""


def may_call(reply: OracleReply) -> bool:
    """Return whether a reply calls a tool, or may call one because it is ambiguous."""
    return reply.calls is None or bool(reply.calls or reply.rejected)


def count_questions(messages: Messages) -> int:
    """Return the number of messages with the role `user`."""
    return sum(role_of(message) == "user" for message in messages)


def _script(
    cassette: Cassette, requests: Sequence[Messages], replies: Sequence[OracleReply]
) -> ConversationScript:
    last, ending = requests[-1], _expected_ending(replies[-1])
    results = tuple(_iter_tool_results(last))
    answer = replies[-1].text if replies[-1].text_known and ending == "done" else None
    tools: dict[str, tuple[MockAnswer, ...]] = {}
    for each in results:
        mock = MockAnswer(each.result, arguments=each.arguments)
        tools[each.name] = (*tools.get(each.name, ()), mock)
    rounds = max(Counter(map(count_questions, requests)).values())
    return ConversationScript(
        questions=tuple(_texts(last, ("user",))),
        expect=ConversationExpected(
            ending=ending,
            answer=answer,
            executed=_expected_executions(cassette, results, replies),
            parse_errors="any",
        ),
        tools=tools,
        system="\n\n".join(_texts(last, INSTRUCTIONS)),
        capabilities=_observed_capabilities(requests),
        # The recorded client kept within these, and no call has to be repeated.
        limits=Limits(rounds=rounds, identical_calls=_UNLIMITED, retries=0),
        recorded=tuple(requests),
    )


def _texts(messages: Messages, roles: Sequence[str]) -> list[str]:
    return [text_of(each) for each in messages if role_of(each) in roles]


def _iter_tool_results(messages: Messages) -> Iterator[_ToolResult]:
    """Yield the recorded calls that have a result, in the order of their results."""
    calls: dict[str, tuple[str, str]] = {}
    for message in messages:
        calls |= {call_id: (name, text) for call_id, name, text in calls_of(message)}
        call_id = message.get("tool_call_id") if isinstance(message, dict) else None
        name, text = calls.get(str(call_id), ("", ""))
        value = parse(text).value
        if name and value is not None and role_of(message) == "tool":
            yield _ToolResult(name, value, text_of(message))


def _expected_executions(
    cassette: Cassette, results: Sequence[_ToolResult], replies: Sequence[OracleReply]
) -> tuple[ExpectedExecution, ...] | None:
    """Return the calls that an agent must execute; None if that is not judged.

    It is not judged if the bytes are ambiguous about a call, or if a call does not fit its tool.
    An agent may then execute that call, or answer it with the reason.
    """
    tools = {tool.name: tool for tool in tools_of_cassette(cassette)}
    if any(reply.calls is None for reply in replies[:-1]) or any(
        misfit(each.name, each.arguments, tools, _CHECKER) for each in results
    ):
        return None
    return tuple(ExpectedExecution(each.name, each.arguments) for each in results)


def _expected_ending(last: OracleReply) -> Ending | None:
    """Return how the conversation must end with its last reply; None if that is ambiguous."""
    if last.broken or last.calls is None:
        return None
    if may_call(last):
        return "limit"
    return "done" if last.text.strip() else "empty"


def _observed_capabilities(requests: Sequence[Messages]) -> dict[str, bool]:
    """Return the capabilities that the recorded requests show."""
    counts = [len(tuple(calls_of(each))) for each in requests[-1]]
    shown = {"supports_tool_use": any(counts), "supports_parallel_tools": max(counts) > 1}
    return {name: True for name, is_shown in shown.items() if is_shown}
