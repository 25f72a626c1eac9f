"""Define rules about how a history stores a turn: its text, its calls, and their results.

The rules compare the bytes of the reply, the executed calls, and the messages after the reply.
They do not check turns of prompts that describe their tools, because there an agent writes the
calls as text.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any, Final, TypeAlias

import msgspec

from harness.dialects.kit.parse_request import CHAT_MESSAGES, SYSTEM_ROLES
from harness.dialects.table import DIALECTS
from harness.judging.conversations.evidence import (
    FINAL_HISTORY,
    ConversationEvidence,
    RequestEvidence,
    conversation_rule,
)
from harness.judging.conversations.session import Execution
from harness.judging.rule import Violation
from harness.results.finding import Came
from harness.results.outcome import Outcome
from harness.turns.arguments import meaning, parse
from harness.turns.exact_json import join_surrogates, squeezed
from harness.turns.messages import Message, calls_of, role_of, sealed_of, text_of

# Problems of a history in which messages or their order are wrong, so that content is too.
_BROKEN_HISTORY: Final = ("HIST-ORPHAN-RESULT", "HIST-FORM")
# Source: OpenAI's API reference, `messages[].tool_calls[].function.name`.
# Kind, data, what it belongs to, and the position of its call, or how many calls are before it.
_SealedEntry: TypeAlias = tuple[str, str, str, int]
# Kinds of sealed data, and what they belong to, without which the provider refuses the request.
_REQUIRED: Final = frozenset((
    ("signature", "reasoning"),
    ("redacted_thinking", "reasoning"),
    ("thoughtSignature", "call"),
))  # fmt: skip
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class StoredTurn(msgspec.Struct, frozen=True):
    """A complete turn, and the messages with which a later history stores it.

    Fields:
        index: the index of the request to which the turn is the reply.
        where: the path of the history, such as `requests[1]`.
        messages: index in the history -> message, for the messages after that request.
    """

    index: int
    request: RequestEvidence
    where: str
    messages: dict[int, Message]

    @property
    def calls(self) -> "Iterator[StoredCall]":
        """Yield the calls in the stored messages."""
        for number, message in self.messages.items():
            for at, (call_id, name, arguments) in enumerate(calls_of(message)):
                path = f"{self.where}.messages[{number}].tool_calls[{at}]"
                yield StoredCall(path, call_id, name, arguments)


class StoredCall(msgspec.Struct, frozen=True):
    """A call in a history; `path` is its location, such as `requests[1].messages[2]...`."""

    path: str
    id: str
    name: str
    arguments: str


def _stored_turns(evidence: ConversationEvidence) -> Iterator[StoredTurn]:
    """Yield each complete turn in the next history, and in the last one if no limit shortens it."""
    requests, limited = evidence.requests, evidence.task.limits.messages is not None
    histories = [(f"requests[{index}]", each.messages) for index, each in enumerate(requests)]
    if evidence.record.conversation is not None:
        histories.append((FINAL_HISTORY, evidence.record.conversation.messages))
    for index, request in enumerate(requests):
        if request.tools is None or request.reply.broken or request.reply.calls is None:
            continue
        later = [index + 1] if limited else sorted({index + 1, len(histories) - 1})
        for where, messages in (histories[number] for number in later if number < len(histories)):
            if _last_question(request.messages) in map(_question, messages):  # not a probe
                added = dict(added_messages(() if limited else request.messages, messages))
                yield StoredTurn(index, request, where, added)


def _question(message: object) -> str:
    return text_of(message) if role_of(message) == "user" else ""


def _last_question(messages: tuple[object, ...]) -> str:
    return next(filter(None, map(_question, reversed(messages))), "")


def added_messages(
    before: tuple[object, ...], after: tuple[object, ...]
) -> Iterator[tuple[int, Message]]:
    """Yield the messages of `after` beyond the number in `before`, except instructions."""
    left = sum(role_of(message) not in SYSTEM_ROLES for message in before)
    for number, message in enumerate(after):
        if role_of(message) in SYSTEM_ROLES or not isinstance(message, dict):
            continue
        if left <= 0:
            yield number, message
        left -= 1


@conversation_rule("HIST-TEXT-LOST", Outcome.MISMATCH, yields_to=_BROKEN_HISTORY)
def _text_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    reported = set[int]()
    for turn in _stored_turns(evidence):
        reply = turn.request.reply
        if not reply.text_known or turn.index in reported:
            continue
        stored = [text_of(each) for each in turn.messages.values() if role_of(each) == "assistant"]
        if squeezed(reply.text) not in squeezed("".join(stored)):
            reported.add(turn.index)
            found = " / ".join(filter(None, stored)) or "no text"
            yield Violation(f"{turn.where}.messages", reply.text, found)


@conversation_rule("HIST-REASONING-VISIBLE", Outcome.MISMATCH, yields_to=_BROKEN_HISTORY)
def _reasoning_visible(evidence: ConversationEvidence) -> Iterator[Violation]:
    for turn in _next_histories(evidence):
        reply = turn.request.reply
        reasoning = squeezed(reply.reasoning)
        if not reasoning or reasoning in squeezed(reply.text):
            continue
        for number, message in turn.messages.items():
            if role_of(message) == "assistant" and reasoning in squeezed(text_of(message)):
                path = f"{turn.where}.messages[{number}].content"
                yield Violation(path, reply.text or "no text", text_of(message))


def _next_histories(evidence: ConversationEvidence) -> Iterator[StoredTurn]:
    """Yield each complete turn in the next history; nothing if the task limits the messages."""
    if evidence.task.limits.messages is not None:
        return
    by_turn = itertools.groupby(_stored_turns(evidence), key=lambda turn: turn.index)
    yield from (next(turns) for _, turns in by_turn)


@conversation_rule("HIST-GROUP-NAME", Outcome.MISMATCH, yields_to=_BROKEN_HISTORY)
def _group_name(evidence: ConversationEvidence) -> Iterator[Violation]:
    if evidence.policies.get("history") != "grouped" or evidence.task.limits.messages is not None:
        return
    reported = set[int]()
    for where, messages in _named_histories(evidence):
        used = set[str]()
        for turn in _assistant_runs(messages):
            names = {number: str(message.get("name") or "") for number, message in turn.items()}
            first = next(filter(None, names.values()), "a name")
            if first in used:
                first = f"another name than {first}, which an earlier turn has"
            used.add(first)
            for number, name in names.items():
                if name != first and number not in reported:
                    reported.add(number)
                    yield Violation(f"{where}.messages[{number}].name", first, name or "no name")


def _named_histories(
    evidence: ConversationEvidence,
) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield the path and messages of each history whose messages may have a name."""
    if DIALECTS[evidence.task.dialect].messages is CHAT_MESSAGES:
        for index, request in enumerate(evidence.requests):
            yield f"requests[{index}]", request.messages
    if evidence.record.conversation is not None:
        yield FINAL_HISTORY, evidence.record.conversation.messages


def _assistant_runs(messages: tuple[object, ...]) -> Iterator[dict[int, Message]]:
    """Yield each run of consecutive messages of the assistant, by their index."""
    for role, numbered in itertools.groupby(enumerate(messages), lambda each: role_of(each[1])):
        if role == "assistant":
            yield {number: each for number, each in numbered if isinstance(each, dict)}


@conversation_rule(
    "HIST-CALL-CHANGED",
    Outcome.MISMATCH,
    yields_to=(
        *_BROKEN_HISTORY,
        *("HIST-ARGS-INVALID", "HIST-NAME"),
        *("CONV-CALL-ARGUMENTS", "CONV-CALL-UNWANTED", "CONV-CALL-LOST"),
    ),
)
def _call_changed(evidence: ConversationEvidence) -> Iterator[Violation]:
    reported = set[int]()
    for turn in _stored_turns(evidence):
        violation = next(_changed_calls(evidence, turn), None)
        if violation is not None and turn.index not in reported:
            reported.add(turn.index)
            yield violation


def _changed_calls(evidence: ConversationEvidence, turn: StoredTurn) -> Iterator[Violation]:
    """Yield a violation for each sent or executed call that the history stores differently."""
    stored = list(turn.calls)
    repaired = {
        _call_key(evidence.executions[index].tool, arguments)
        for index, arguments in evidence.repaired.items()
    }
    sent = [
        (call.name, call.arguments)
        for call in turn.request.reply.calls or ()
        if _call_key(call.name, call.arguments) not in repaired
    ]
    executed = [(each.tool, each.arguments) for each in _executions_of(evidence, turn)]
    for calls in (sent, executed):
        keys = Counter(itertools.starmap(_call_key, calls))
        others = [each for each in stored if not keys[_call_key(each.name, each.arguments)]]
        left = Counter(_call_key(each.name, each.arguments) for each in stored)
        for name, arguments in calls:
            key = _call_key(name, arguments)
            left[key] -= 1
            if left[key] >= 0 or not _is_storable(name, arguments):
                continue
            if others:
                found = f"{others[0].name} {others[0].arguments}"
                yield Violation(others[0].path, f"{name} {arguments}", found)
            elif turn.where != FINAL_HISTORY:  # an agent that stops need not store the last turn
                yield Violation(f"{turn.where}.messages", f"{name} {arguments}", "no such call")


def _call_key(name: str, arguments: str) -> tuple[str, Hashable]:
    return name, meaning(arguments)


def _is_storable(name: str, arguments: str) -> bool:
    """Return whether an API accepts the call unchanged, so that the agent must not change it."""
    return _NAME.fullmatch(name) is not None and parse(arguments).value is not None


def _executions_of(evidence: ConversationEvidence, turn: StoredTurn) -> list[Execution]:
    return [each for each in evidence.executions if each.after == turn.index + 1]


@conversation_rule(
    "HIST-SEALED-LOST",
    Outcome.MISMATCH,
    yields_to=(*_BROKEN_HISTORY, "HIST-CALL-CHANGED", "HIST-MISSING-RESULT"),
)
def _sealed_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    for turn in _next_histories(evidence):
        reply = turn.request.reply
        if turn.where == FINAL_HISTORY or not _executions_of(evidence, turn):
            continue
        # A call that was rejected may be stored as text, and then it has no position.
        is_placed = not reply.rejected
        first = {other: each.value for each in reply.sealed for other in each.others}
        stored = Counter(
            (kind, first.get(value, value), place, at)
            for kind, value, place, at in _sealed_of(turn, is_placed=is_placed)
        )
        expected: Counter[_SealedEntry] = Counter(
            (each.kind, each.value, each.of, each.call if is_placed else 0) for each in reply.sealed
        )
        # What came back in another place, or else whatever came back instead.
        instead = list(stored - expected)
        by_value = {entry[:2]: entry for entry in instead}
        for entry in expected - stored:
            found = by_value.get(entry[:2], instead[0] if instead else None)
            came: Came = "" if entry[::2] in _REQUIRED else "not-required"
            path = f"{turn.where}.messages"
            yield Violation(path, _sealed_text(entry), _sealed_text(found), came=came)


def _sealed_of(turn: StoredTurn, *, is_placed: bool) -> Iterator[_SealedEntry]:
    """Yield the opaque data of the provider that the history sends back, such as signatures.

    Each item has the kind, the data, what it belongs to, and the number of calls before it.
    """
    calls = 0
    for message in turn.messages.values():
        for each in sealed_of(message):
            place = each.get("of", "reasoning")
            at = calls + each.get("call", 0) if is_placed else 0
            yield each["kind"], each.get("value", ""), place, at
        calls += sum(1 for _ in calls_of(message))


def _sealed_text(entry: _SealedEntry | None) -> str:
    if entry is None:
        return "nothing"
    kind, value, place, call = entry
    at = f"of call {call}" if place == "call" else f"of the {place}, after {call} calls"
    return f"{kind} {at}: {value}"


@conversation_rule(
    "HIST-RESULT-SWAPPED",
    Outcome.SILENT_WRONG,
    yields_to=(*_BROKEN_HISTORY, "HIST-ID-REUSED", "HIST-ID-MISSING"),
)
def _result_swapped(evidence: ConversationEvidence) -> Iterator[Violation]:
    word_sets = [(each.after, _result_words(each)) for each in evidence.executions]
    for turn in _stored_turns(evidence):
        calls = _calls_by_key(turn)
        results = _results_by_id(turn)
        before = [each for after, each in word_sets if after <= turn.index + 1]
        for execution in _executions_of(evidence, turn):
            call = calls.get(_call_key(execution.tool, execution.arguments))
            message = call and results.get(call.id)
            if message and _is_of_another(text_of(message[1]), execution, before):
                path = f"{turn.where}.messages[{message[0]}].content"
                yield Violation(path, _outcome_of(execution), text_of(message[1]))


def _calls_by_key(turn: StoredTurn) -> dict[tuple[str, Hashable], StoredCall]:
    """Return (name, arguments) -> stored call, without calls that occur twice in the turn."""
    keyed = [(_call_key(each.name, each.arguments), each) for each in turn.calls]
    counts = Counter(key for key, _ in keyed)
    return {key: call for key, call in keyed if counts[key] == 1}


def _results_by_id(turn: StoredTurn) -> dict[str, tuple[int, Message]]:
    """Return id -> the first result with this id, with its index in the history."""
    found: dict[str, tuple[int, Message]] = {}
    for number, message in turn.messages.items():
        if role_of(message) == "tool":
            found.setdefault(str(message.get("tool_call_id")), (number, message))
    return found


def _is_of_another(text: str, execution: Execution, others: list[frozenset[str]]) -> bool:
    """Return whether `text` is the result of another call, and not of this one.

    `others` has the words of the results of the other calls.
    """
    shown, own = _words(text), _result_words(execution)
    if not own or own <= shown:
        return False
    return any(
        other - own and own - other and other <= shown and shown.isdisjoint(own - other)
        for other in others
    )


def _outcome_of(execution: Execution) -> str:
    return execution.error or execution.result


def _result_words(execution: Execution) -> frozenset[str]:
    """Return the words in the error or in the values of the result of a call."""
    if execution.error:
        return _words(execution.error)
    return frozenset().union(*map(_words, _leaves(json.loads(execution.result))))


def _leaves(value: Any) -> Iterator[str]:  # noqa: ANN401 - any value of JSON
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", join_surrogates(text)))
