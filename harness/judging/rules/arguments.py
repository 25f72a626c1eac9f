"""Define rules about arguments: usable ones are exact, unusable ones are reported as errors."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property

from harness.dialects.table import DIALECTS
from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.reasons import failure_reason, with_reason
from harness.judging.repairs import is_demanded
from harness.judging.rule import Violation
from harness.judging.rules.markup import markers_in_arguments, markers_in_name
from harness.judging.rules.stream_content import (
    as_sent,
    changed_arguments,
    has_lone_surrogate,
    lacks_finish,
    may_read_as,
    unusable_arguments,
    values_read,
)
from harness.results.expectation import ExpectedCall, ExpectedRejection
from harness.results.finding import Came
from harness.results.outcome import Outcome
from harness.turns.arguments import parse, same_value
from harness.turns.deltas import (
    CUT_SHORT,
    SNIPPET_CHARACTERS,
    FinishReason,
    ParseError,
    ToolCall,
)
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import CallReading
from harness.turns.schema_check import Checker, misfit
from harness.turns.turn import Tool

_CHECKER = Checker()
_NOTHING_RUN = "a parse error, nothing executed"
_MOST_SHOWN = 50
_BETWEEN = "\x00\x01\x00"
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
# Escapes of single characters, and the zeros at the end of a number.
_LOST_IN_PARSING = re.compile(r"\\[bfnrt\\]|(\.\d*?)0+\b")
_NULL = "null"
# The rest of an escape, or of a surrogate pair of them, at the end of a truncated text.
_TRUNCATED_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")


def _is_usable(call: ToolCall) -> bool:
    return call.kind != "function" or parse(call.arguments).value is not None


def _is_same(call: ToolCall, expected: str) -> bool:
    if call.kind == "custom":
        return call.arguments == expected
    return same_value(call.arguments, expected)


def _has_markup(call: ToolCall, expected: ExpectedCall) -> bool:
    return bool(markers_in_name(call, expected) or markers_in_arguments(call, expected))


@turn_rule("CALL-ARGUMENTS-EXACT", Outcome.SILENT_WRONG, field="calls")
def _exact(evidence: TurnEvidence) -> Iterator[Violation]:
    for index, expected, call in evidence.paired_calls():
        text = expected.json_text
        if call.kind != expected.kind:
            yield Violation(f"calls[{index}].kind", expected.kind, call.kind)
        elif _is_usable(call) and not (
            _is_same(call, text)
            or _has_markup(call, expected)
            or _is_reported_repair(evidence, call, text)
        ):
            came = changed_arguments(text, call.arguments) if call.kind == "function" else ""
            came = came or _index_of_block(evidence)
            yield Violation(f"calls[{index}].arguments", text, call.arguments, came=came)
    if "rejected" not in evidence.judged:
        return
    readings = (evidence.oracle, *evidence.oracle.alternatives)
    calls = [call for reading in readings for call in reading.calls or ()]
    sent = _arguments_by_name(calls)
    words = {name: _Texts(map(_words, texts)) for name, texts in sent.items()}
    for index, error in enumerate(evidence.turn.parse_errors):
        if error.name in sent and not words[error.name].have(_words(error.snippet)):
            first = next(iter(sent[error.name]))
            path, text = f"parse_errors[{index}].snippet", first[:SNIPPET_CHARACTERS]
            came = evidence.form_of_calls if first and first in error.snippet else ""
            yield Violation(path, text, error.snippet, came=came, outcome=Outcome.MISMATCH)


class _Texts:
    """Many texts, searched without comparing each with each."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = dict.fromkeys(texts)
        self._all = _BETWEEN.join(self._texts)

    def have(self, part: str) -> bool:
        """Return whether one of the texts is or contains `part`."""
        return part in self._texts or part in self._all


def _is_reported_repair(evidence: TurnEvidence, call: ToolCall, text: str) -> bool:
    """Return whether the client reports its repair, and the tool's schema requires the repair."""
    if call.kind != "function" or not call.sent or not same_value(call.sent, text):
        return False
    tools = _tools_named(evidence, call.name)
    return any(is_demanded(tool, text, call.arguments, _CHECKER) for tool in tools)


def _tools_named(evidence: TurnEvidence, name: str) -> list[Tool]:
    return [tool for tool in evidence.offered_tools if tool.name == name]


def _index_of_block(evidence: TurnEvidence) -> Came:
    """Return "as-documented" if the stream has a wrong index of a block in Anthropic's API."""
    return "as-documented" if "ANT-BLOCK-INDEX" in evidence.oracle.quirks else ""


def _words(text: str) -> str:
    """Return the letters and digits of `text`, because a parsing library drops other characters."""
    plain = _LOST_IN_PARSING.sub(r"\1", _unescaped(_TRUNCATED_ESCAPE.sub("", text)))
    return "".join(filter(str.isalnum, plain)).casefold()


@turn_rule("ARGUMENTS-USABLE", Outcome.SILENT_WRONG)
def _usable(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.expectation.failure is not None:
        return
    for index, call in enumerate(evidence.turn.tool_calls):
        parsed = parse(call.arguments)
        if parsed.value is None and call.kind == "function":
            expected = f"a JSON object: {parsed.error}"
            came = unusable_arguments(call.arguments) or _unusable_value(evidence, index)
            actual = None if call.arguments == _NULL else call.arguments
            yield Violation(f"calls[{index}].arguments", expected, actual, came=came)


def _unusable_value(evidence: TurnEvidence, index: int) -> Came:
    """Return why a library may hand over a value that is not an object; "" if it must not.

    It is null if the stream has no arguments, or infinite if the number in the stream is too large.
    """
    call = evidence.turn.tool_calls[index]
    sent = [it.arguments for it in evidence.oracle.calls or () if it.name == call.name]
    if call.arguments == _NULL:
        is_usable = evidence.expected_call(index) is not None
        none = ("", _NULL) if is_usable else (_NULL,)
        return "null-arguments" if any(text.strip() in none for text in sent) else ""
    is_object = call.arguments.startswith("{")
    is_large = is_object and any(may_read_as(text, call.arguments) for text in sent)
    return "number-form" if is_large else ""


@turn_rule("BROKEN-CALL-NOT-RUN", Outcome.SILENT_WRONG, field="calls")
def _broken_not_run(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.expectation.failure is not None:
        return
    for index in evidence.pairing.surplus:
        call = evidence.turn.tool_calls[index]
        if call.name and evidence.is_unreported(call) and _is_usable(call):
            actual = f"{call.name} {call.arguments}"
            expected = with_reason(_NOTHING_RUN, evidence, call.name, call.id)
            came = _sent_instead(evidence, call)
            yield Violation(f"calls[{index}]", expected, actual, came=came)


def _sent_instead(evidence: TurnEvidence, call: ToolCall) -> Came:
    """Return what the stream contained instead of usable arguments of `call`; "" if unknown."""
    of_name = [each for each in evidence.oracle.calls or () if each.name == call.name]
    actions = {each.name for each in of_name if each.kind == "action"}  # never without content
    quoted = [
        (it.name, it.snippet) for it in evidence.expectation.rejected if it.name not in actions
    ]
    written = "" if call.arguments.strip() == "{}" else call.arguments  # both: there are none
    emitted = [each for each in evidence.turn.tool_calls if each.name == call.name]
    is_sent = not {(call.name, call.arguments), (call.name, written)}.isdisjoint(quoted) or (
        0 < _count(emitted, call) <= _count(of_name, call)  # a usable call may run only once
    )
    # No text may be the start of a text that the limit cut; an object is never sent in part.
    if is_sent and (written or DIALECTS[evidence.interaction.dialect].arguments == "object"):
        return "as-sent"
    sent = [each.arguments for each in of_name]
    sent += [text for name, text in quoted if name == call.name]
    if not written and any(text.strip() == "null" for text in sent):
        return "null-arguments"
    read = (each for each in sent if may_read_as(each, call.arguments))
    return next(filter(None, map(unusable_arguments, read)), "")


def _count(calls: Iterable[ToolCall | CallReading], call: ToolCall) -> int:
    """Return how many of `calls` have the kind and the arguments of `call`."""
    return sum((it.kind, it.arguments) == (call.kind, call.arguments) for it in calls)


@turn_rule("TRUNCATED-CALL-NOT-RUN", Outcome.SILENT_WRONG, field="failure")
def _truncated_not_run(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.expectation.failure is None:
        return
    reason = failure_reason(evidence.oracle) or evidence.expectation.failure
    expected = f"no call from a turn that failed: {reason}"
    calls = evidence.oracle.calls
    # An SDK hands calls over while they stream, and cannot take one back.
    hands_over = evidence.kind == "sdk" or lacks_finish(evidence)
    sent = {name: _Sent(texts) for name, texts in _arguments_by_name(calls or ()).items()}
    for index, call in enumerate(evidence.turn.tool_calls):
        # If the calls of the stream are ambiguous, it may have been sent.
        is_sent = calls is None or (call.name in sent and sent[call.name].has(call.arguments))
        actual, came = f"{call.name} {call.arguments}", as_sent(is_sent=hands_over and is_sent)
        yield Violation(f"calls[{index}]", expected, actual, came=came)


def _arguments_by_name(calls: Iterable[CallReading]) -> dict[str, dict[str, None]]:
    """Return name -> the different arguments of the calls with this name, in order."""
    found: dict[str, dict[str, None]] = {}
    for each in calls:
        found.setdefault(each.name, {})[each.arguments] = None
    return found


class _Sent:
    """The different arguments of calls with one name; each is parsed once, and only if needed."""

    def __init__(self, texts: Mapping[str, None]) -> None:
        self._texts = texts

    def has(self, arguments: str) -> bool:
        """Return whether a client may read one of the texts as these arguments."""
        return arguments in self._texts or not self._values.isdisjoint(values_read(arguments))

    @cached_property
    def _values(self) -> frozenset[Hashable]:
        return frozenset().union(*map(values_read, self._texts))


@turn_rule("PARSE-ERROR-REPORTED", Outcome.LOST_CALL, field="rejected")
def _reported(evidence: TurnEvidence) -> Iterator[Violation]:
    if evidence.replay.reports_failure:
        return  # an exception that reaches the caller need not contain the calls received so far
    surplus = [evidence.turn.tool_calls[index] for index in evidence.pairing.surplus]
    executed = {call.name for call in surplus} | {call.id for call in surplus if call.id}
    for index in evidence.pairing.unreported:
        missed = evidence.expectation.rejected[index]
        is_run = not {missed.name, missed.id}.isdisjoint(executed)
        if not is_run and not (not missed.name and executed):
            said = f"{missed.name or 'a call'} rejected"
            said = with_reason(said, evidence, missed.name or "", missed.id or "")
            # One rejection may be of several calls that the client joined.
            came = as_sent(is_sent=_is_cut_last(evidence, missed)) or evidence.form_of_calls
            yield Violation(f"parse_errors[{index}]", said, "nothing", came=came)


def _is_cut_last(evidence: TurnEvidence, missed: ExpectedRejection) -> bool:
    """Return whether the answer was cut in this call, its last one, and the client says that."""
    finish, sent = evidence.turn.finish, evidence.oracle.calls or ()
    is_last = bool(sent) and (missed.name, missed.id or sent[-1].id) == (sent[-1].name, sent[-1].id)
    end = evidence.expectation.finish
    return is_last and end in CUT_SHORT and finish is not None and finish.reason is end


@turn_rule("GOOD-CALL-NOT-REJECTED", Outcome.LOST_CALL, field="calls")
def _good_not_rejected(evidence: TurnEvidence) -> Iterator[Violation]:
    missing = _missing_names(evidence)
    misfits: dict[str, Came] = {}
    for error in () if evidence.invents_failure else evidence.pairing.unexpected:
        if error.name in missing:
            actual = f"rejected: {error.error}"
            came = _finish_of(evidence) or has_lone_surrogate(evidence)
            if not came:
                if error.name not in misfits:
                    misfits[error.name] = _misfit(evidence, error)
                came = misfits[error.name] or evidence.form_of_calls
            yield Violation("parse_errors", f"{error.name} executed", actual, came=came)


def _finish_of(evidence: TurnEvidence) -> Came:
    """Return why the finish value does not announce calls: a filter, or another word."""
    if evidence.expectation.finish is FinishReason.CONTENT_FILTER:
        return "failure"
    if "FINISH-UNKNOWN" in evidence.oracle.quirks:
        return "unknown-value"
    finish, sent = evidence.turn.finish, evidence.oracle.finishes
    is_other = finish is not None and finish.reason is not FinishReason.TOOL_CALLS
    return as_sent(is_sent=is_other and finish is not None and finish.raw in sent)


def _misfit(evidence: TurnEvidence, error: ParseError) -> Came:
    """Return "misfit" if no missing call of that name fits the schema of its tool, else ""."""
    tools = {tool.name: tool for tool in _tools_named(evidence, error.name)} or None
    missing = (evidence.expectation.calls[index] for index in evidence.pairing.missing)
    values = [parse(call.json_text).value for call in missing if call.name == error.name]
    fits = (value is None or not misfit(error.name, value, tools, _CHECKER) for value in values)
    return "" if any(fits) else "misfit"


@turn_rule("PARSE-ERROR-NOT-INVENTED", Outcome.MISMATCH, field="rejected")
def _not_invented(evidence: TurnEvidence) -> Iterator[Violation]:
    missing = _missing_names(evidence)
    for error in evidence.pairing.unexpected:
        if error.name not in missing:
            actual, came = f"{error.name}: {error.error}", evidence.form_of_calls
            yield Violation("parse_errors", "no further parse error", actual, came=came)


def _missing_names(evidence: TurnEvidence) -> set[str]:
    return {evidence.expectation.calls[index].name for index in evidence.pairing.missing}


@turn_rule("PARSE-ERROR-TOLD", Outcome.MISMATCH)
def _explained(evidence: TurnEvidence) -> Iterator[Violation]:
    for index, error in enumerate(evidence.turn.parse_errors):
        if not error.error:
            yield Violation(f"parse_errors[{index}].error", "what was wrong", "")
        if len(error.snippet) > SNIPPET_CHARACTERS:
            limit = f"at most {SNIPPET_CHARACTERS} characters"
            yield Violation(f"parse_errors[{index}].snippet", limit, len(error.snippet))
    if "rejected" not in evidence.judged:
        return
    snippets = [error.snippet for error in evidence.turn.parse_errors]
    if not snippets:
        return
    written, unescaped = _Texts(snippets), _Texts(map(_unescaped, snippets))
    for index, rejection in enumerate(evidence.expectation.rejected):
        sent = rejection.snippet
        if not (written.have(sent) or unescaped.have(_unescaped(_TRUNCATED_ESCAPE.sub("", sent)))):
            yield Violation(f"parse_errors[{index}].snippet", sent, snippets[:_MOST_SHOWN])


def _unescaped(text: str) -> str:
    return join_surrogates(_ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text))


@turn_rule("PARSE-ERROR-NAME", Outcome.MISMATCH, field="rejected")
def _without_name(evidence: TurnEvidence) -> Iterator[Violation]:
    names = [error.name for error in evidence.turn.parse_errors]
    left = names.count("")
    for index, rejection in enumerate(evidence.expectation.rejected):
        if rejection.name == "" and index not in evidence.pairing.unreported:
            if not left:
                yield Violation(f"parse_errors[{index}].name", "no name", names)
                return
            left -= 1


@turn_rule("PARSE-ERROR-IDENTIFIED", Outcome.MISMATCH, field="rejected")
def _identified(evidence: TurnEvidence) -> Iterator[Violation]:
    if not evidence.exposes_ids:
        return
    reported = dict.fromkeys(error.id for error in evidence.turn.parse_errors)
    shown = [error.id for error in evidence.turn.parse_errors[:_MOST_SHOWN]]
    for index, rejection in enumerate(evidence.expectation.rejected):
        missed = index in evidence.pairing.unreported
        if rejection.id is not None and not missed and rejection.id not in reported:
            yield Violation(f"parse_errors[{index}].id", rejection.id, shown)
