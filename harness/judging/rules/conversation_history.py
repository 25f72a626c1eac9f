"""Rules about history: what a provider would refuse or misread in the requests that were sent.

Each request is looked at as it was sent, and the history at the end as it would be sent next.
"""

import json
from collections.abc import Callable, Iterator
from typing import Final

from harness.judging.conversations import chat_form
from harness.judging.conversations.evidence import FINAL_HISTORY, ConversationEvidence
from harness.judging.conversations.rule import ConversationRule
from harness.judging.conversations.session import Execution
from harness.judging.results import Outcome
from harness.judging.rule import Violation
from harness.turns.arguments import same_value
from harness.turns.exact_json import join_surrogates

_FORM: Final = "HIST-FORM"
# Quirk of a problem -> rule; what is not here breaks the form.
_RULE_OF: Final[dict[str, str]] = {
    "HIST-MISSING-RESULT": "HIST-MISSING-RESULT",
    "HIST-ORPHAN-RESULT": "HIST-ORPHAN-RESULT",
    "HIST-SPLIT-PARALLEL": "HIST-SPLIT-PARALLEL",
    "HIST-ARGS-INVALID": "HIST-ARGS-INVALID",
    "HIST-CONTENT-NULL": "HIST-CONTENT-BESIDE-CALLS",
    "HIST-CONTENT-EMPTY": "HIST-CONTENT-BESIDE-CALLS",
    "HIST-TOOLCALLS-EMPTY": "HIST-TOOLCALLS-EMPTY",
    "HIST-REASONING-REQUIRED": "HIST-REASONING-REQUIRED",
    "HIST-SYSTEM-MID": "HIST-SYSTEM-MID",
    "HIST-RESULT-NON-STRING": "HIST-RESULT-NON-STRING",
    "HIST-EMPTY-TURN": "HIST-EMPTY-TURN",
    "DELTA-ID-MISSING": "HIST-ID-MISSING",
    "ID-REUSED-ACROSS-TURNS": "HIST-ID-REUSED",
    "ID-MISTRAL-9": "HIST-ID-PATTERN",
    "ID-ANTHROPIC-PATTERN": "HIST-ID-PATTERN",
    "ID-LENGTH-40": "HIST-ID-PATTERN",
    "NAME-EMPTY": "HIST-NAME",
    "NAME-SANITIZED": "HIST-NAME",
}
# Rule -> what it says.
_TITLES: Final[dict[str, str]] = {
    "HIST-MISSING-RESULT": "Every call in a history has a result before the conversation goes on.",
    "HIST-ORPHAN-RESULT": "Every result answers a call of the turn before it, and each call once.",
    "HIST-SPLIT-PARALLEL": "The calls of one turn stand in one message.",
    "HIST-ARGS-INVALID": "The arguments of calls in a history are JSON objects.",
    "HIST-CONTENT-BESIDE-CALLS": "Beside calls without text, content is null or '' as declared.",
    "HIST-TOOLCALLS-EMPTY": "A message without calls has no key for them.",
    "HIST-REASONING-REQUIRED": "Reasoning goes back to a provider that wants it.",
    "HIST-SYSTEM-MID": "System messages stand first, and never between calls and results.",
    "HIST-RESULT-NON-STRING": "Results are texts.",
    "HIST-EMPTY-TURN": "No message of the assistant is empty.",
    "HIST-ID-MISSING": "Every call in a history has an id.",
    "HIST-ID-REUSED": "Ids of calls are unique in the conversation.",
    "HIST-ID-PATTERN": "Ids of calls are as the provider wants them.",
    "HIST-NAME": "Names of calls are such as providers take.",
    _FORM: "Messages have the form that the API declares.",
}
# So much of an error shows that it was told.
_ERROR_PREFIX_LENGTH: Final = 200
# A call without an id has not the one that it came with, and no result can answer it.
_OF_NO_ID: Final = frozenset(("HIST-ID-MISSING",))


def _problems(rule: str) -> Callable[[ConversationEvidence], Iterator[Violation]]:
    def check(seen: ConversationEvidence) -> Iterator[Violation]:
        for found in seen.problems:
            problem = found.problem
            if _RULE_OF.get(problem.quirk, _FORM) == rule:
                path = f"{found.where}.{problem.path}"
                yield Violation(path, problem.expected, problem.actual)
        if rule == _FORM:
            yield from _unreadable(seen)
        if rule == "HIST-REASONING-REQUIRED":
            yield from _reasoning_blank(seen)

    return check


def _unreadable(seen: ConversationEvidence) -> Iterator[Violation]:
    for place, asked in enumerate(seen.asked):
        if not asked.messages:
            body = asked.sent.request.body[:200]
            yield Violation(f"requests[{place}].messages", "a list of messages", repr(body))


def _reasoning_blank(seen: ConversationEvidence) -> Iterator[Violation]:
    """Where the model reasoned before its calls, the field beside them is not left blank."""
    field = seen.task.capabilities.reasoning_field
    for place, asked in enumerate(seen.asked[:-1]):
        if not (field and asked.truth.calls and asked.truth.reasoning.strip()):
            continue
        messages, before = seen.asked[place + 1].messages, len(asked.messages)
        for number, message in enumerate(messages[before:], start=before):
            said = message.get(field) if isinstance(message, dict) else None
            if any(chat_form.calls_of(message)) and isinstance(said, str) and not said.strip():
                path = f"requests[{place + 1}].messages[{number}].{field}"
                yield Violation(path, asked.truth.reasoning, said)


def _id_changed(seen: ConversationEvidence) -> Iterator[Violation]:
    """Where a call of a reply stands in the next request, it has the id that it came with."""
    if seen.task.dialect == "ollama":  # which has no ids
        return
    known: set[str] = set()
    for place, asked in enumerate(seen.asked[:-1]):
        later = seen.asked[place + 1]
        known |= {call_id for _, call_id, _, _ in _iter_calls(asked.messages)}
        for call in asked.truth.calls or ():
            free = call.id and call.id not in known and seen.fits(call.id)
            known.add(call.id)
            stored = [
                (path, call_id)
                for path, call_id, name, arguments in _iter_calls(later.messages)
                if name == call.name and same_value(arguments, call.arguments)
            ]
            if free and stored and call.id not in [call_id for _, call_id in stored]:
                path, call_id = stored[-1]
                yield Violation(f"requests[{place + 1}].{path}.id", call.id, call_id)


def _iter_calls(messages: tuple[object, ...]) -> Iterator[tuple[str, str, str, str]]:
    for number, message in enumerate(messages):
        for at, call in enumerate(chat_form.calls_of(message)):
            yield (f"messages[{number}].tool_calls[{at}]", *call)


def _partial_stored(seen: ConversationEvidence) -> Iterator[Violation]:
    """What a turn said that failed or was cut off is no complete answer of the assistant."""
    for place, asked in enumerate(seen.asked):
        said = asked.truth.text.strip()
        if not said or not asked.truth.broken.startswith("the turn failed"):
            continue
        for where, messages in _later_histories(seen, place):
            before = len(asked.messages)  # an earlier turn may have said the same
            for number, message in enumerate(messages[before:], start=before):
                mine = chat_form.role_of(message) == "assistant"
                if mine and chat_form.text_of(message).strip() == said:
                    path = f"{where}.messages[{number}].content"
                    yield Violation(path, f"no complete message, since {asked.truth.broken}", said)
                    return


def _later_histories(
    seen: ConversationEvidence, place: int
) -> Iterator[tuple[str, tuple[object, ...]]]:
    for later in range(place + 1, len(seen.asked)):
        yield f"requests[{later}]", seen.asked[later].messages
    if seen.record.conversation is not None:
        yield FINAL_HISTORY, seen.record.conversation.messages


def _error_reported(seen: ConversationEvidence) -> Iterator[Violation]:
    for place, run in enumerate(seen.runs):
        if run.error and place not in seen.stray and not _is_error_reported(seen, run):
            expected = f"the error in what is sent next: {run.error}"
            yield Violation(f"executed[{place}].result", expected, "not there")


def _is_error_reported(seen: ConversationEvidence, run: Execution) -> bool:
    wanted = tuple(_error_encodings(run.error))
    return any(
        spelling in _normalized_text(chat_form.text_of(message))
        for _, messages in _later_histories(seen, run.after - 1)
        for message in messages
        if chat_form.role_of(message) in ("tool", "user")
        for spelling in wanted
    )


def _error_encodings(error: str) -> Iterator[str]:
    """Yield the beginning of an error as an agent may tell it: a long one is cut."""
    text = join_surrogates(error)
    for spelled in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield _normalized_text(spelled)[:_ERROR_PREFIX_LENGTH]


def _normalized_text(text: str) -> str:
    """Return `text` without what only spells it: white space, and signs before a slash."""
    return " ".join(text.replace("\\/", "/").split())


RULES = (
    *(
        ConversationRule(
            rule,
            "MUST",
            title,
            Outcome.MISMATCH,
            tuple(quirk for quirk, of in _RULE_OF.items() if of == rule),
            _problems(rule),
            always=True,
            yields_to=_OF_NO_ID if rule == "HIST-ORPHAN-RESULT" else frozenset(),
        )
        for rule, title in _TITLES.items()
    ),
    ConversationRule(
        "HIST-ID-CHANGED",
        "MUST",
        "A call goes back with the id that it came with, where the provider takes that id.",
        Outcome.MISMATCH,
        ("ID-KIMI-NATIVE",),
        _id_changed,
        always=True,
        yields_to=_OF_NO_ID,
    ),
    ConversationRule(
        "HIST-PARTIAL-STORED",
        "MUST",
        "What a turn said before it failed is not stored as a complete answer.",
        Outcome.MISMATCH,
        ("SSE-EOF-NO-FINISH-TEXT",),
        _partial_stored,
        always=True,
    ),
    ConversationRule(
        "HIST-RESULT-ERROR-LOST",
        "MUST",
        "The error of a tool that failed reaches the model.",
        Outcome.MISMATCH,
        ("HIST-RESULT-ERROR-LOST",),
        _error_reported,
    ),
)
HISTORY_RULES = frozenset(rule.id for rule in RULES)
