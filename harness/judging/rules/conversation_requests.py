"""Rules about requests: as many as expected, within the limits, and each as expected."""

from collections import Counter
from collections.abc import Iterator

from harness.judging.conversations import chat_form
from harness.judging.conversations.evidence import ConversationEvidence, RequestEvidence
from harness.judging.conversations.rule import ConversationRule
from harness.judging.conversations.script import ExpectedRequest
from harness.judging.conversations.session import as_text, same_value
from harness.judging.results import Outcome
from harness.judging.rule import Violation
from harness.judging.rules.conversation_calls import match_calls
from harness.judging.rules.conversation_history import HISTORY_RULES
from harness.turns.arguments import meaning


def _expected_request_count(seen: ConversationEvidence) -> int:
    count = seen.script.expect.request_count
    return seen.interactions if count is None else count


def _surplus(seen: ConversationEvidence) -> Iterator[Violation]:
    for place in range(_expected_request_count(seen), len(seen.asked)):
        yield Violation(
            f"requests[{place}]", f"{_expected_request_count(seen)} requests", "one more"
        )


def _unplayed(seen: ConversationEvidence) -> Iterator[Violation]:
    # A conversation that stops too early and so loses calls is as bad as losing them.
    worse = Outcome.LOST_CALL if match_calls(seen).lost else None
    for place in range(len(seen.asked), _expected_request_count(seen)):
        wanted = f"{_expected_request_count(seen)} requests"
        yield Violation(f"requests[{place}]", wanted, "never sent", outcome=worse)


def _limits(seen: ConversationEvidence) -> Iterator[Violation]:
    limits, questions = seen.task.limits, len(seen.task.questions)
    conversation = seen.record.conversation
    turns = conversation.turns if conversation else ()
    probes = sum(record.meta.probe is not None for record in turns)
    most = limits.rounds * questions + probes
    if len(seen.asked) > most:
        yield Violation("requests", f"at most {most}", len(seen.asked))
    made = Counter((run.tool, meaning(run.arguments)) for run in seen.runs)
    for (tool, _), count in made.items():
        if count > limits.identical_calls * questions:
            expected = f"the same call at most {limits.identical_calls} times for a question"
            yield Violation("executed", expected, f"{tool} {count} times")
    for place, record in enumerate(turns):
        if record.meta.retries > limits.retries:
            path = f"turns[{place}].meta.retries"
            yield Violation(path, f"at most {limits.retries}", record.meta.retries)


def _each(seen: ConversationEvidence) -> Iterator[Violation]:
    pairs = zip(seen.script.expect.requests, seen.asked, strict=False)  # others say what lacks
    for place, (expected, asked) in enumerate(pairs):
        for path, wanted, found in _differences(expected, asked):
            yield Violation(f"requests[{place}].{path}", wanted, found)


def _differences(
    wanted: ExpectedRequest, asked: RequestEvidence
) -> Iterator[tuple[str, object, object]]:
    roles = tuple(map(chat_form.role_of, asked.messages))
    if wanted.roles is not None and wanted.roles != roles:
        yield "messages", " ".join(wanted.roles), " ".join(roles)
    last = roles[-1] if roles else "none"
    if wanted.last_role is not None and wanted.last_role != last:
        yield f"messages[{len(roles) - 1}].role", wanted.last_role, last
    text = chat_form.text_of(asked.messages[-1]) if asked.messages else ""
    for part in wanted.says:
        if part not in text:
            yield f"messages[{len(roles) - 1}].content", f"a text that contains {part!r}", text
    if wanted.has_tools is not None and wanted.has_tools != (asked.tools is not None):
        yield "tools", "some" if wanted.has_tools else "none", asked.tools or "none"
    if wanted.tools is not None and wanted.tools != (asked.tools or ()):
        yield "tools", " ".join(wanted.tools), " ".join(asked.tools or ())
    for name, value in wanted.fields.items():
        if not same_value(value, asked.body.get(name)):
            yield name, as_text(value), as_text(asked.body.get(name))


RULES = (
    ConversationRule(
        "CONV-SURPLUS-REQUEST",
        "MUST",
        "No request is sent beyond those of the conversation.",
        Outcome.MISMATCH,
        ("TURN-EMPTY-IS-DONE", "RETRY-AFTER-PARTIAL"),
        _surplus,
        yields_to=frozenset(("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-LIMITS")),
    ),
    ConversationRule(
        "CONV-UNPLAYED",
        "MUST",
        "The conversation goes on to its end.",
        Outcome.MISMATCH,
        ("TURN-EMPTY-IS-NOT-DONE", "PROVIDER-REJECTS-OWN-CALL"),
        _unplayed,
        yields_to=frozenset(("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING")),
    ),
    ConversationRule(
        "CONV-LIMITS",
        "MUST",
        "Rounds, identical calls and retries stay within the limits.",
        Outcome.MISMATCH,
        ("LOOP-IDENTICAL", "LOOP-PARSE-RETRY"),
        _limits,
    ),
    ConversationRule(
        "CONV-REQUEST",
        "MUST",
        "Each request is as the scenario says.",
        Outcome.MISMATCH,
        ("PARALLEL-FALSE-DROPPED",),
        _each,
        yields_to=HISTORY_RULES,
    ),
)
