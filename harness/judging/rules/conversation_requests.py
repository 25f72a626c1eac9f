"""Define rules about requests: their number, the agent's limits, and their expected content."""

from collections import Counter
from collections.abc import Iterator

from harness.dialects.kit.parse_request import SYSTEM_ROLES, Json
from harness.judging.conversations.evidence import (
    FINAL_HISTORY,
    ConversationEvidence,
    RequestEvidence,
    conversation_rule,
)
from harness.judging.conversations.expected_request import (
    MISSING,
    ExpectedMessages,
    ExpectedRequest,
    member_of,
    text_differences,
)
from harness.judging.conversations.session import json_or_repr, same_value
from harness.judging.rule import Violation
from harness.judging.rules.conversation_history import HISTORY_RULES
from harness.results.outcome import Outcome
from harness.turns.arguments import meaning
from harness.turns.messages import role_of, text_of


def _expected_count(evidence: ConversationEvidence) -> int:
    count = evidence.script.expect.request_count
    return evidence.interactions if count is None else count


@conversation_rule(
    "CONV-SURPLUS-REQUEST",
    Outcome.MISMATCH,
    yields_to=("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-LIMITS"),
)
def _surplus(evidence: ConversationEvidence) -> Iterator[Violation]:
    expected = _expected_count(evidence)
    for index in range(expected, len(evidence.requests)):
        yield Violation(f"requests[{index}]", f"requests: {expected}", "one more")


@conversation_rule(
    "CONV-UNPLAYED",
    Outcome.MISMATCH,
    yields_to=(
        "CONV-CALL-FROM-BROKEN-TURN",
        "CONV-CALLS-MISSING",
        "CONV-ENDING",
        "CONV-UNUSABLE-DONE",
    ),
)
def _unplayed(evidence: ConversationEvidence) -> Iterator[Violation]:
    # A conversation that stops early and so loses calls is as bad as losing them.
    worse = Outcome.LOST_CALL if evidence.matches.lost else None
    expected = _expected_count(evidence)
    for index in range(len(evidence.requests), expected):
        path = f"requests[{index}]"
        yield Violation(path, f"requests: {expected}", "never sent", outcome=worse)


@conversation_rule("CONV-LIMITS", Outcome.MISMATCH)
def _limits(evidence: ConversationEvidence) -> Iterator[Violation]:
    limits, questions = evidence.task.limits, len(evidence.task.questions)
    most = limits.rounds * questions + evidence.probes
    if len(evidence.requests) > most:
        yield Violation("requests", f"at most {most}", len(evidence.requests))
    yield from _too_many_messages(evidence)
    calls = Counter((each.tool, meaning(each.arguments)) for each in evidence.executions)
    for (tool, _), count in calls.items():
        if count > limits.identical_calls * questions:
            expected = f"the same call at most {limits.identical_calls} times for a question"
            yield Violation("executed", expected, f"{tool} {count} times")
    retries = 0
    for index, record in enumerate(evidence.records):
        # After a reply that can be used, the agent may retry again.
        retries = retries + record.meta.retries if record.meta.retries else 0
        if retries > limits.retries:
            yield Violation(f"turns[{index}].meta.retries", f"at most {limits.retries}", retries)
            return


def _too_many_messages(evidence: ConversationEvidence) -> Iterator[Violation]:
    """Yield the first request with more messages than allowed, and than what always remains.

    These are the system text, the last question and the newest turn.
    """
    most = evidence.task.limits.messages
    for index, request in enumerate(evidence.requests if most is not None else ()):
        roles = list(map(role_of, request.messages))
        newest = roles[::-1].index("assistant") + 1 if "assistant" in roles else len(roles)
        remaining = sum(role in SYSTEM_ROLES for role in roles) + 1 + newest
        if len(roles) > max(most or 0, remaining):
            yield Violation(f"requests[{index}].messages", f"at most {most}", len(roles))
            return


@conversation_rule(
    "CONV-REQUEST",
    Outcome.MISMATCH,
    yields_to=(
        *HISTORY_RULES,
        "CONV-CALL-LOST",
        "CONV-EARLIER-LOST",
        "CONV-LIMITS",
        "CONV-NO-CRASH",
        "CONV-NO-HANG",
        "CONV-NOT-RUN-TOLD",
        "CONV-PROBE-LEAKED",
        "CONV-QUESTION-LOST",
        "CONV-RESULT-CUT",
        "CONV-RESULT-VALUE-LOST",
        "CONV-STRATEGY",
        "CONV-TOOLS-OFFERED",
    ),
)
def _each(evidence: ConversationEvidence) -> Iterator[Violation]:
    # CONV-SURPLUS-REQUEST and CONV-UNPLAYED compare the number of requests.
    pairs = zip(evidence.script.expect.listed_requests, evidence.requests, strict=False)
    for index, (expected, request) in enumerate(pairs):
        for path, value, found in _differences(expected, request):
            separator = "" if path.startswith("/") else "."
            place = f"requests[{index}]{separator}{path}"
            yield Violation(place, value, found, came=evidence.own_design)


@conversation_rule(
    "CONV-HISTORY",
    Outcome.MISMATCH,
    yields_to=(
        *HISTORY_RULES,
        "CONV-EARLIER-LOST",
        "CONV-ENDING",
        "CONV-UNPLAYED",
        "CONV-SURPLUS-REQUEST",
    ),
)
def _at_the_end(evidence: ConversationEvidence) -> Iterator[Violation]:
    expected, conversation = evidence.script.expect.history, evidence.record.conversation
    if expected is None or conversation is None:
        return
    messages = conversation.messages
    for path, value, found in _message_differences(expected, messages, {"messages": [*messages]}):
        separator = "" if path.startswith("/") else "."
        place = f"{FINAL_HISTORY}{separator}{path}"
        yield Violation(place, value, found, came=evidence.own_design)


def _differences(
    expected: ExpectedRequest, request: RequestEvidence
) -> Iterator[tuple[str, object, object]]:
    yield from _message_differences(expected, request.messages, request.body)
    for value, found in text_differences(expected.system, request.system):
        yield "system", value, found
    if expected.has_tools is not None and expected.has_tools != (request.tools is not None):
        yield "tools", "some" if expected.has_tools else "none", request.tools or "none"
    if expected.tools is not None and expected.tools != (request.tools or ()):
        yield "tools", " ".join(expected.tools), " ".join(request.tools or ())
    yield from _member_differences(expected, request)


def _message_differences(
    expected: ExpectedMessages, messages: tuple[object, ...], body: Json
) -> Iterator[tuple[str, object, object]]:
    roles = tuple(map(role_of, messages))
    if expected.roles is not None and expected.roles != roles:
        yield "messages", " ".join(expected.roles), " ".join(roles)
    last = roles[-1] if roles else "none"
    if expected.last_role is not None and expected.last_role != last:
        yield f"messages[{len(roles) - 1}].role", expected.last_role, last
    text = text_of(messages[-1]) if messages else ""
    for value, found in text_differences(expected.says, text):
        yield f"messages[{len(roles) - 1}].content", value, found
    for name, wanted in expected.texts.items():
        member = member_of(body, name)
        if not isinstance(member, str):
            yield name, "a text", _shown(member)
            continue
        for value, found in text_differences(wanted, member):
            yield name, value, found


def _member_differences(
    expected: ExpectedRequest, request: RequestEvidence
) -> Iterator[tuple[str, object, object]]:
    for name, value in expected.fields.items():
        member = member_of(request.body, name)
        if not same_value(value, None if member is MISSING else member):
            yield name, json_or_repr(value), _shown(member)
    for name, present in expected.has_fields.items():
        member = member_of(request.body, name)
        if present != (member is not MISSING):
            yield name, "any value" if present else "no member", _shown(member)


def _shown(member: object) -> str:
    return "no member" if member is MISSING else json_or_repr(member)
