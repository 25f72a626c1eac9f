"""Rules about requests: as many as expected, within the limits, and each as expected."""

from collections import Counter
from collections.abc import Iterator

from harness.judging.conversations.evidence import (
    ConversationEvidence,
    RequestEvidence,
    conversation_rule,
)
from harness.judging.conversations.script import ExpectedRequest, as_texts
from harness.judging.conversations.session import json_or_repr, same_value
from harness.judging.results import Outcome
from harness.judging.rule import Violation
from harness.judging.rules.conversation_history import HISTORY_RULES
from harness.turns.arguments import meaning
from harness.turns.messages import role_of, text_of


def _expected_count(evidence: ConversationEvidence) -> int:
    count = evidence.script.expect.request_count
    return evidence.interactions if count is None else count


@conversation_rule(
    "CONV-SURPLUS-REQUEST",
    "No request is sent beyond those of the conversation.",
    Outcome.MISMATCH,
    ("TURN-EMPTY-IS-DONE", "RETRY-AFTER-PARTIAL"),
    yields_to=("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-LIMITS"),
)
def _surplus(evidence: ConversationEvidence) -> Iterator[Violation]:
    expected = _expected_count(evidence)
    for index in range(expected, len(evidence.requests)):
        yield Violation(f"requests[{index}]", f"{expected} requests", "one more")


@conversation_rule(
    "CONV-UNPLAYED",
    "The agent continues the conversation to its end.",
    Outcome.MISMATCH,
    ("TURN-EMPTY-IS-NOT-DONE", "PROVIDER-REJECTS-OWN-CALL"),
    yields_to=("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING"),
)
def _unplayed(evidence: ConversationEvidence) -> Iterator[Violation]:
    # A conversation that stops early and so loses calls is as bad as losing them.
    worse = Outcome.LOST_CALL if evidence.matches.lost else None
    expected = _expected_count(evidence)
    for index in range(len(evidence.requests), expected):
        path = f"requests[{index}]"
        yield Violation(path, f"{expected} requests", "never sent", outcome=worse)


@conversation_rule(
    "CONV-LIMITS",
    "Rounds, identical calls and retries stay within the limits.",
    Outcome.MISMATCH,
    ("LOOP-IDENTICAL", "LOOP-PARSE-RETRY"),
)
def _limits(evidence: ConversationEvidence) -> Iterator[Violation]:
    limits, questions = evidence.task.limits, len(evidence.task.questions)
    probes = sum(record.meta.probe is not None for record in evidence.records)
    most = limits.rounds * questions + probes
    if len(evidence.requests) > most:
        yield Violation("requests", f"at most {most}", len(evidence.requests))
    calls = Counter((each.tool, meaning(each.arguments)) for each in evidence.executions)
    for (tool, _), count in calls.items():
        if count > limits.identical_calls * questions:
            expected = f"the same call at most {limits.identical_calls} times for a question"
            yield Violation("executed", expected, f"{tool} {count} times")
    for index, record in enumerate(evidence.records):
        if record.meta.retries > limits.retries:
            path = f"turns[{index}].meta.retries"
            yield Violation(path, f"at most {limits.retries}", record.meta.retries)


@conversation_rule(
    "CONV-REQUEST",
    "Each request is as the scenario specifies.",
    Outcome.MISMATCH,
    ("PARALLEL-FALSE-DROPPED",),
    yields_to=(*HISTORY_RULES, "CONV-PROBE-LEAKED"),
)
def _each(evidence: ConversationEvidence) -> Iterator[Violation]:
    # CONV-SURPLUS-REQUEST and CONV-UNPLAYED compare the number of requests.
    pairs = zip(evidence.script.expect.listed_requests, evidence.requests, strict=False)
    for index, (expected, request) in enumerate(pairs):
        for path, value, found in _differences(expected, request):
            yield Violation(f"requests[{index}].{path}", value, found)


def _differences(
    expected: ExpectedRequest, request: RequestEvidence
) -> Iterator[tuple[str, object, object]]:
    roles = tuple(map(role_of, request.messages))
    if expected.roles is not None and expected.roles != roles:
        yield "messages", " ".join(expected.roles), " ".join(roles)
    last = roles[-1] if roles else "none"
    if expected.last_role is not None and expected.last_role != last:
        yield f"messages[{len(roles) - 1}].role", expected.last_role, last
    text = text_of(request.messages[-1]) if request.messages else ""
    for part in as_texts(expected.says):
        if part not in text:
            yield f"messages[{len(roles) - 1}].content", f"a text that contains {part!r}", text
    if expected.has_tools is not None and expected.has_tools != (request.tools is not None):
        yield "tools", "some" if expected.has_tools else "none", request.tools or "none"
    if expected.tools is not None and expected.tools != (request.tools or ()):
        yield "tools", " ".join(expected.tools), " ".join(request.tools or ())
    for name, value in expected.fields.items():
        if not same_value(value, request.body.get(name)):
            yield name, json_or_repr(value), json_or_repr(request.body.get(name))
