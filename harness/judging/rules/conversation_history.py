"""Define rules about history: requests contain nothing that a provider would reject or misread.

They check each request as the agent sent it, and the final history as it would be sent next.
"""

import json
from collections.abc import Iterator
from typing import Final

from harness.conversation.history.check import Problem
from harness.dialects.table import DIALECTS
from harness.judging.conversations.evidence import (
    FINAL_HISTORY,
    ConversationEvidence,
    conversation_rule,
)
from harness.judging.conversations.session import Execution
from harness.judging.rule import Violation
from harness.results.duties import load_duties
from harness.results.finding import Came
from harness.results.outcome import Outcome
from harness.turns.arguments import same_value
from harness.turns.exact_json import join_surrogates
from harness.turns.messages import calls_of, namespaces_of, role_of, text_of

_FORM: Final = "HIST-FORM"
_REASONING: Final = "HIST-REASONING-REQUIRED"
# The rules about the problems of a history, each of which has a quirk. A problem violates the rule
# that has its quirk, or else the last rule.
_RULES: Final = (
    "HIST-MISSING-RESULT",
    "HIST-ORPHAN-RESULT",
    "HIST-SPLIT-PARALLEL",
    "HIST-ARGS-INVALID",
    "HIST-CONTENT-BESIDE-CALLS",
    "HIST-TOOLCALLS-EMPTY",
    _REASONING,
    "HIST-SYSTEM-MID",
    "HIST-RESULT-NON-STRING",
    "HIST-RESULTS-GROUPED",
    "HIST-EMPTY-TURN",
    "HIST-ID-MISSING",
    "HIST-ID-REUSED",
    "HIST-ID-PATTERN",
    "HIST-NAME",
    _FORM,
)
_RULE_OF_QUIRK: Final = {quirk: rule for rule in _RULES for quirk in load_duties()[rule].quirks}
# An agent may cut a long error, but reports this many characters of it.
_ERROR_PREFIX_LENGTH: Final = 200
# A call without an id cannot keep the one that it came with, and no result can answer it.
_NO_ID: Final = ("HIST-ID-MISSING",)


def _define_problem_rule(rule: str) -> None:
    yields_to = _NO_ID if rule == "HIST-ORPHAN-RESULT" else ()

    @conversation_rule(rule, Outcome.MISMATCH, always=True, yields_to=yields_to)
    def check(evidence: ConversationEvidence) -> Iterator[Violation]:
        for problem in evidence.problems:
            if _RULE_OF_QUIRK.get(problem.quirk, _FORM) == rule:
                came = evidence.came_of_id(problem.call_id) or _unsent(evidence, problem)
                yield Violation(problem.path, problem.expected, problem.actual, came=came)
        if rule == _FORM:
            yield from _unreadable(evidence)
            yield from _untyped(evidence)
        if rule == _REASONING:
            yield from _reasoning_blank(evidence)


def _untyped(evidence: ConversationEvidence) -> Iterator[Violation]:
    """Yield the first call without the type that OpenAI's chat API requires."""
    if evidence.task.dialect != "openai-chat":
        return
    for index, request in enumerate(evidence.requests):
        for number, message in enumerate(request.messages):
            calls = message.get("tool_calls") if isinstance(message, dict) else None
            for at, call in enumerate(calls if isinstance(calls, list) else ()):
                if isinstance(call, dict) and "function" in call and "type" not in call:
                    path = f"requests[{index}].messages[{number}].tool_calls[{at}].type"
                    yield Violation(path, "function", "no such member")
                    return


def _unsent(evidence: ConversationEvidence, problem: Problem) -> Came:
    """Return why another project's agent may keep a message that it sent nowhere; "" if not.

    It may keep an empty turn, and after a documented exception calls that were not answered.
    """
    conversation = evidence.record.conversation
    if not evidence.foreign or not problem.path.startswith(FINAL_HISTORY) or conversation is None:
        return ""
    if problem.quirk == "HIST-MISSING-RESULT" and conversation.ending == "error":
        return "own-design"
    return "as-sent" if problem.quirk == "HIST-EMPTY-TURN" else ""


for _rule in _RULES:
    _define_problem_rule(_rule)


def _unreadable(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index, request in enumerate(evidence.requests):
        method = request.sent.request.method
        if method != "POST":
            yield Violation(f"requests[{index}].method", "POST", method)
        if not request.messages:
            body = request.sent.request.body[:200]
            yield Violation(f"requests[{index}].messages", "a list of messages", repr(body))


def _reasoning_blank(evidence: ConversationEvidence) -> Iterator[Violation]:
    """Check that a stored message with calls has the model's reasoning, if the API has a field."""
    field = evidence.task.capabilities.reasoning_field
    for index, request in enumerate(evidence.requests[:-1]):
        reasoning = request.reply.reasoning
        if not (field and request.reply.calls and reasoning.strip()):
            continue
        messages, before = evidence.requests[index + 1].messages, len(request.messages)
        for number, message in enumerate(messages[before:], start=before):
            sent = message.get(field) if isinstance(message, dict) else None
            if any(calls_of(message)) and isinstance(sent, str) and not sent.strip():
                yield Violation(
                    f"requests[{index + 1}].messages[{number}].{field}", reasoning, sent
                )


@conversation_rule("HIST-ID-CHANGED", Outcome.MISMATCH, always=True, yields_to=_NO_ID)
def _id_changed(evidence: ConversationEvidence) -> Iterator[Violation]:
    if not DIALECTS[evidence.task.dialect].has_call_ids:
        return
    known: set[str] = set()
    for index, request in enumerate(evidence.requests[:-1]):
        later = evidence.requests[index + 1]
        known |= {call_id for _, call_id, _, _ in _iter_calls(request.messages)}
        for call in request.reply.calls or ():
            free = call.id and call.id not in known and evidence.accepts_id(call.id)
            known.add(call.id)
            stored = [
                (path, call_id)
                for path, call_id, name, arguments in _iter_calls(later.messages)
                if name == call.name and same_value(arguments, call.arguments)
            ]
            if free and stored and call.id not in [call_id for _, call_id in stored]:
                path, call_id = stored[-1]
                yield Violation(f"requests[{index + 1}].{path}.id", call.id, call_id)


@conversation_rule("HIST-NAMESPACE", Outcome.MISMATCH, always=True, yields_to=_NO_ID)
def _namespace_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index, request in enumerate(evidence.requests[:-1]):
        sent = {call.id: call.namespace for call in request.reply.calls or () if call.namespace}
        before = len(request.messages)
        messages = evidence.requests[index + 1].messages
        for number, message in enumerate(messages[before:], start=before):
            for at, (call_id, namespace) in enumerate(namespaces_of(message).items()):
                if sent.get(call_id, namespace) != namespace:
                    path = f"requests[{index + 1}].messages[{number}].tool_calls[{at}].namespace"
                    yield Violation(path, sent[call_id], namespace)


def _iter_calls(messages: tuple[object, ...]) -> Iterator[tuple[str, str, str, str]]:
    for number, message in enumerate(messages):
        for at, call in enumerate(calls_of(message)):
            yield (f"messages[{number}].tool_calls[{at}]", *call)


@conversation_rule("HIST-PARTIAL-STORED", Outcome.MISMATCH, always=True)
def _partial_stored(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index, request in enumerate(evidence.requests):
        text, broken = request.reply.text.strip(), request.reply.broken
        if not text or not broken.startswith("the turn failed"):
            continue
        for where, messages in _later_histories(evidence, index):
            before = len(request.messages)  # an earlier turn may have the same text
            for number, message in enumerate(messages[before:], start=before):
                is_turn = role_of(message) == "assistant"
                if is_turn and text_of(message).strip() == text:
                    path = f"{where}.messages[{number}].content"
                    yield Violation(path, f"no complete message, because {broken}", text)
                    return


def _later_histories(
    evidence: ConversationEvidence, index: int
) -> Iterator[tuple[str, tuple[object, ...]]]:
    for later in range(index + 1, len(evidence.requests)):
        yield f"requests[{later}]", evidence.requests[later].messages
    if evidence.record.conversation is not None:
        yield FINAL_HISTORY, evidence.record.conversation.messages


@conversation_rule("HIST-RESULT-ERROR-LOST", Outcome.MISMATCH)
def _error_sent(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index, execution in enumerate(evidence.executions):
        allowed = execution.error and index not in evidence.forbidden
        if allowed and not _is_error_sent(evidence, execution):
            expected = f"the error in what is sent next: {execution.error}"
            yield Violation(f"executed[{index}].result", expected, "not there")


def _is_error_sent(evidence: ConversationEvidence, execution: Execution) -> bool:
    prefixes = tuple(_error_prefixes(execution.error))
    return any(
        prefix in _normalized_text(text_of(message))
        for _, messages in _later_histories(evidence, execution.after - 1)
        for message in messages
        if role_of(message) in ("tool", "user")
        for prefix in prefixes
    )


def _error_prefixes(error: str) -> Iterator[str]:
    """Yield the first characters of a tool's error, in each encoding that an agent may use."""
    text = join_surrogates(error)
    for encoded in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield _normalized_text(encoded)[:_ERROR_PREFIX_LENGTH]


def _normalized_text(text: str) -> str:
    """Return `text` with each run of white space as one space, and without escapes of slashes."""
    return " ".join(text.replace("\\/", "/").split())


HISTORY_RULES = frozenset(rule.id for rule in conversation_rule.of_module(__name__))
