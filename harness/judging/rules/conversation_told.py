"""Define rules about what an agent tells: the question, the results of tools, and what did not run.

They compare values and not sentences, so that an agent may use any words, in any language.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from harness.judging.conversations.evidence import (
    ConversationEvidence,
    RequestEvidence,
    conversation_rule,
)
from harness.judging.conversations.session import Execution, json_or_repr
from harness.judging.rule import Violation
from harness.judging.rules.conversation_stored import added_messages
from harness.results.outcome import Outcome
from harness.turns.exact_json import join_surrogates, squeezed
from harness.turns.messages import role_of, text_of

# A result that is missing, or that is not a text, cannot be compared.
_RESULTS: Final = (
    "CONV-ANSWER",
    "CONV-CALL-FROM-BROKEN-TURN",
    "HIST-CALL-CHANGED",
    "HIST-MISSING-RESULT",
    "HIST-RESULT-ERROR-LOST",
    "HIST-RESULT-NON-STRING",
)
_ENDS: Final = ("CONV-ENDING", "CONV-NO-CRASH", "CONV-NO-HANG", "CONV-UNPLAYED")
# Digits, also in groups: 20,000 and 20.000 and 20 000 and 20_000 are one number.
_NUMBER: Final = re.compile(r"\d+(?:[.,  '_]\d{3})*(?!\d)")
_GROUPING: Final = re.compile(r"\D")
_ZERO: Final = re.compile(r"(?<![\d.])0(?!\.?\d)")
_LIST_MARK: Final = re.compile(r"^\s*\d+[.):]\s", re.MULTILINE)
_TAG: Final = re.compile(r"</?[a-z_]+(?: [^<>]*)?>")
_WORD: Final = re.compile(r"[^\W\d_]+")
# A language without spaces writes a sentence as one run of letters.
_IDEOGRAPHS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FEWEST_WORDS: Final = 3
# A notice may count the line break before it, and what a client trims.
_COUNT_TOLERANCE: Final = 2
_NOTICE_AT_MOST: Final = 400
_FEWEST_NOTICE_WORDS: Final = 2


@conversation_rule("CONV-QUESTION-LOST", Outcome.MISMATCH, yields_to=_ENDS)
def _question_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    asked = [
        text_of(message)
        for request in evidence.requests
        for message in request.messages
        if role_of(message) == "user"
    ]
    for index, question in enumerate(evidence.task.questions):
        if not any(question in text for text in asked):
            yield Violation(f"questions[{index}]", question, " / ".join(dict.fromkeys(asked)))


@conversation_rule("CONV-RESULT-CUT", Outcome.MISMATCH, yields_to=(*_ENDS, *_RESULTS))
def _result_cut(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index, execution, texts in _shown_results(evidence):
        value = json.loads(execution.result)
        if not isinstance(value, str) or not value.strip():
            continue
        value = join_surrogates(value)
        if any(value in text or _tells_characters(value, text) for text in texts):
            continue
        expected = f"the text, or a part of it and how many of its {len(value):,} characters miss"
        kept = max((_prefix_length(value, text) for text in texts), default=0)
        found = f"differs from character {kept} on: {value[kept : kept + 80]!r} is not there"
        yield Violation(f"requests[{index}].messages", expected, found)


@conversation_rule(
    "CONV-RESULT-VALUE-LOST",
    Outcome.MISMATCH,
    yields_to=(*_ENDS, *_RESULTS),
)
def _value_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    # One text may show the results of several calls.
    results = [json.loads(each.result) for each in evidence.executions if not each.error]
    texts_of = (it for each in results for it in (*_leaves(each), *_keys(each)))
    known = frozenset(it for it in texts_of if isinstance(it, str))
    for index, execution, texts in _shown_results(evidence):
        # Numbers stay as they are written, because a large one changes if it is parsed.
        value = json.loads(execution.result, parse_int=_Number, parse_float=_Number)
        if isinstance(value, str):
            continue
        found = (list(_lost_leaves(value, text, known)) for text in texts)
        lost = min(found, key=len, default=["all"])
        if lost:
            expected = f"{lost[0]!r}, or how much of the result is missing"
            yield Violation(f"requests[{index}].messages", expected, " / ".join(texts)[:400])


@conversation_rule(
    "CONV-NOT-RUN-TOLD", Outcome.MISMATCH, yields_to=(*_ENDS, *_RESULTS, "CONV-CALL-LOST")
)
def _not_run_told(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index, request, added in _next_messages(evidence):
        if _has_unrun_call(evidence, index, request) and not _is_told(evidence, request, added):
            expected = "words that say why a call of the last reply did not run"
            found = " / ".join(map(text_of, added)) or "no message"
            yield Violation(f"requests[{index + 1}].messages", expected, found)


def tells_what_did_not_run(evidence: ConversationEvidence) -> bool:
    """Return whether the model was told of each turn with a call that did not run.

    If the task limits the number of messages, that cannot be seen, and does not count as told.
    """
    told = {
        index
        for index, request, added in _next_messages(evidence)
        if _is_told(evidence, request, added)
    }
    return all(
        index in told
        for index, request in enumerate(evidence.requests)
        if _has_unrun_call(evidence, index, request)
    )


def _is_told(evidence: ConversationEvidence, request: RequestEvidence, added: list[object]) -> bool:
    return _own_words(evidence, request, map(text_of, added)) >= _FEWEST_WORDS


@conversation_rule("CONV-USER-TOLD", Outcome.MISMATCH, yields_to=(*_ENDS, "CONV-ANSWER"))
def _user_told(evidence: ConversationEvidence) -> Iterator[Violation]:
    conversation, requests = evidence.record.conversation, evidence.requests
    # Only an agent that asks again once promises the user a reason.
    if conversation is None or not requests or evidence.policies.get("retry") != "once":
        return
    last, reported = requests[-1], evidence.records and evidence.records[-1].meta.parse_errors
    reply = last.reply
    is_unusable = reply.rejected or reply.calls_missing or (reported and not reply.broken)
    if conversation.ending == "done" or not (is_unusable and evidence.script.expect.retries):
        return
    if _own_words(evidence, last, [conversation.answer]) < _FEWEST_WORDS:
        expected = "words that say that no call of the last reply ran"
        yield Violation("answer", expected, conversation.answer or "no text")


def _next_messages(
    evidence: ConversationEvidence,
) -> Iterator[tuple[int, RequestEvidence, list[object]]]:
    """Yield each request of the user, and the messages that the agent added after its reply.

    A task that limits the number of messages is left out, because old messages may be missing.
    """
    if evidence.task.limits.messages is not None:
        return
    for index, (request, later) in enumerate(
        zip(evidence.requests, evidence.requests[1:], strict=False)
    ):
        if index >= evidence.probes:
            pairs = added_messages(request.messages, later.messages)
            yield index, request, [each for _, each in pairs]


def _shown_results(evidence: ConversationEvidence) -> Iterator[tuple[int, Execution, list[str]]]:
    """Yield the index of a request, a call that ran before it, and the texts that may show it."""
    for index, _, added in _next_messages(evidence):
        # A text in markup may escape the end of its block.
        texts = [
            text_of(each).replace("<\\/", "</") for each in added if role_of(each) != "assistant"
        ]
        for execution in evidence.executions:
            if execution.after == index + 1 and not execution.error:
                yield index + 1, execution, texts


def _has_unrun_call(evidence: ConversationEvidence, index: int, request: RequestEvidence) -> bool:
    reply = request.reply
    if reply.broken or reply.calls is None:
        # What an agent does after a failed provider is its choice; it may send the same again.
        return reply.truncated and reply.calls_missing
    ran = sum(each.after == index + 1 for each in evidence.executions)
    return reply.rejected > 0 or len(reply.calls) > ran


def _own_words(
    evidence: ConversationEvidence, request: RequestEvidence, texts: Iterable[str]
) -> int:
    """Return how many words in `texts` neither the model, the user nor a tool wrote."""
    reply, task = request.reply, evidence.task
    known = [reply.text, reply.reasoning, *task.questions, *(tool.name for tool in task.tools)]
    known += [part for call in reply.calls or () for part in (call.name, call.arguments)]
    known += [each.result or each.error for each in evidence.executions]
    others = frozenset(_words(" ".join(known)))
    return sum(word not in others for word in set(_words(" ".join(texts))))


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(_TAG.sub(" ", join_surrogates(text)).casefold()):
        found = _IDEOGRAPHS.findall(word)
        yield from found or (word,)


class _Number(str):
    """A number as the result writes it."""

    __slots__ = ()


class _Flag(msgspec.Struct, frozen=True):
    """A member that is true or false. A text shows it by the name of the member or by the value."""

    name: str
    value: bool

    def __repr__(self) -> str:
        """Return the member as JSON writes it."""
        return f"{self.name}: {json_or_repr(self.value)}"


def _leaves(value: Any, name: str = "") -> Iterator[str | _Flag]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    elif isinstance(value, bool):
        yield _Flag(name, value)
    elif isinstance(value, str) and value.strip():
        yield value


def _lost_leaves(
    value: object, text: str, known: frozenset[str] = frozenset()
) -> Iterator[str | _Flag]:
    """Yield each value that `text` lacks, unless `text` says that some are missing."""
    if not _tells_rest(value, text, known):
        joined = squeezed(text)
        yield from (leaf for leaf in _leaves(value) if not _is_shown(leaf, text, joined))


def _is_shown(leaf: str | _Flag, text: str, joined: str) -> bool:
    if isinstance(leaf, _Flag):
        return leaf.name in text or str(leaf.value).casefold() in text.casefold()
    if isinstance(leaf, _Number):
        # Many other numbers contain a zero.
        is_there = _ZERO.search(text) is not None if leaf == "0" else leaf in text
        return is_there or repr(float(leaf)) in text
    escaped = (json.dumps(leaf, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True))
    if leaf in text or any(each in text for each in escaped):
        return True
    lines = filter(None, map(squeezed, leaf.splitlines()))
    return all(line in joined for line in lines)


def _prefix_length(value: str, text: str) -> int:
    """Return the length of the longest start of `value` that `text` contains."""
    low, high = 0, len(value)
    while low < high:
        middle = (low + high + 1) // 2
        if value[:middle] in text:
            low = middle
        else:
            high = middle - 1
    return low


def _numbers(text: str) -> set[int]:
    found = (_GROUPING.sub("", each) for each in _NUMBER.findall(text))
    return {int(digits) for digits in found if len(digits) < len("10 000 000 000")}


def _tells_characters(value: str, text: str) -> bool:
    """Return whether `text` has the start of `value`, and says how much of it is missing."""
    kept = _prefix_length(value, text)
    end = len(value)
    while kept and end > kept and value[end - 1 :] in text[text.index(value[:kept]) + kept :]:
        end -= 1  # an agent may keep the end too
    numbers = _numbers(text.replace(value[:kept], " "))
    missing = {end - kept, len(value) - kept}
    close = range(-_COUNT_TOLERANCE, _COUNT_TOLERANCE + 1)
    return (
        kept > 0
        and len(value) in numbers
        and any(count + off in numbers for count in missing for off in close)
    )


def _tells_rest(value: object, text: str, known: frozenset[str] = frozenset()) -> bool:
    """Return whether `text` says how many entries or characters of a JSON result are missing.

    `known` has the texts of the results, whose lines say nothing about what is missing.
    """
    numbers = _numbers(_own_lines(value, text, known)[-_NOTICE_AT_MOST:])
    entries, characters = set(_list_sizes(value)), len(json_or_repr(value))
    # Each agent writes the result in its own form, so only the order of its length is known.
    lengths = range(max(characters // 2, len(text) - _COUNT_TOLERANCE), 3 * characters)
    return any(
        missing < total and (total in entries or total in lengths)
        for total in numbers
        for missing in numbers
    )


def _own_lines(value: object, text: str, others: frozenset[str]) -> str:
    """Return the lines of `text` with words that a result does not contain.

    It is "" if the text shows no text of the result, because then it is about another result.
    """
    leaves = {leaf for leaf in _leaves(value) if isinstance(leaf, str)}
    shown = {leaf for leaf in leaves if leaf in text and not isinstance(leaf, _Number)}
    if leaves and not shown and any(not isinstance(leaf, _Number) for leaf in leaves):
        return ""
    for known in sorted({*shown, *_keys(value), *others}, key=len, reverse=True):
        text = text.replace(known, " ") if len(known) > 1 else text
    lines = _LIST_MARK.sub(" ", text).splitlines()
    return "\n".join(line for line in lines if len(list(_words(line))) >= _FEWEST_NOTICE_WORDS)


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict | list):
        yield from value if isinstance(value, dict) else ()
        for item in value.values() if isinstance(value, dict) else value:
            yield from _keys(item)


def _list_sizes(value: object) -> Iterator[int]:
    if isinstance(value, dict | list):
        if isinstance(value, list):
            yield len(value)
        for item in value.values() if isinstance(value, dict) else value:
            yield from _list_sizes(item)
