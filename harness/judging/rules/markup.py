"""Define rules about the markup of text calls: it is not visible, and delays no other text."""

import re
from collections.abc import Iterator
from typing import Any, Final

from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.rule import Violation
from harness.judging.rules.deltas import first_late_text
from harness.judging.rules.stream_content import as_sent, contains_marks
from harness.results.expectation import ExpectedCall
from harness.results.outcome import Outcome
from harness.text_calls import MARKERS
from harness.turns.arguments import parse
from harness.turns.deltas import ToolCall
from harness.turns.oracle_reading import CallReading

# A reader needs no more characters than this to decide whether a text starts a call.
HELD_CHARACTERS = 256
# JSON or code may have any length before a reader knows whether it is a call.
_UNDECIDED = ("{", "[", "```", "~~~")

_MARKER_PREFIXES = frozenset(
    mark[:size] for mark in (*MARKERS, *_UNDECIDED) for size in range(1, len(mark) + 1)
)
# Two line ends: a blank line.
_LINE_ENDS: Final = re.compile(r"(?:\r?\n){0,2}\r?\Z")
_LONGEST = max(map(len, _MARKER_PREFIXES))


def markers_in_text(evidence: TurnEvidence) -> list[str]:
    """Return the markers of text calls that the turn's text has more often than expected."""
    expected, actual = evidence.expectation, evidence.turn.text
    if "text" not in expected.judged or actual == expected.text or is_text_doubled(evidence):
        return []
    return surplus_markers(actual, expected.text)


def is_text_doubled(evidence: TurnEvidence) -> bool:
    """Return whether the text is the expected text twice."""
    expected = evidence.expectation
    actual, text = expected.spaced(evidence.turn.text), expected.spaced(expected.text)
    doubled = (text * 2, f"{text} {text}") if expected.loose_space else (text * 2,)
    return bool(text) and actual in doubled


def markers_in_name(call: ToolCall, expected: ExpectedCall) -> list[str]:
    """Return the markers of text calls that the name of a call should not contain."""
    return [] if call.name == expected.name else surplus_markers(call.name, expected.name)


def markers_in_arguments(call: ToolCall, expected: ExpectedCall) -> list[str]:
    """Return the markers of text calls that the arguments of a call should not contain."""
    if call.kind == "custom" or expected.kind == "custom":
        return surplus_markers(call.arguments, expected.arguments_text)
    value = parse(expected.arguments_text).value if expected.arguments_text else None
    return surplus_markers(
        _strings(parse(call.arguments).value, call.arguments),
        _strings(expected.arguments if value is None else value, expected.arguments_text),
    )


def surplus_markers(actual: str, expected: str) -> list[str]:
    """Return the markers of text calls that `actual` contains more often than `expected`."""
    return [
        mark for mark in MARKERS if mark in actual and actual.count(mark) > expected.count(mark)
    ]


def marker_prefix_length(text: str, end: int) -> int:
    """Return how many characters before `end` may be the start of a marker of a text call.

    Line ends before a marker may belong to the marker, because chat templates write them.
    """
    tail = text[max(0, end - _LONGEST) : end]
    size = next((len(tail) - at for at in range(len(tail)) if tail[at:] in _MARKER_PREFIXES), 0)
    line_ends = _LINE_ENDS.search(text, max(0, end - size - 5), end - size)
    return size + (len(line_ends[0]) if line_ends else 0)


def may_begin_call(text: str, at: int) -> bool:
    """Return whether the text at `at` begins JSON or code, which may be a call until it ends."""
    return text[at:].lstrip().startswith(_UNDECIDED)


def _strings(value: dict[str, Any] | None, raw: str) -> str:
    """Return all keys and strings in `value`, one on each line; `raw` if `value` is None."""
    if value is None:
        return raw
    found: list[str] = []
    left: list[object] = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            left += item
    return "\n".join(found)


@turn_rule("TEXT-NO-MARKUP", Outcome.LEAK)
def _text_no_markup(evidence: TurnEvidence) -> Iterator[Violation]:
    if marks := markers_in_text(evidence):
        is_sent = contains_marks((evidence.oracle.text,), evidence.turn.text, marks)
        came, expected = as_sent(is_sent=is_sent), f"text without {marks}"
        yield Violation("text", expected, evidence.turn.text, came=came)


@turn_rule("CALL-NO-MARKUP", Outcome.SILENT_WRONG)
def _call_no_markup(evidence: TurnEvidence) -> Iterator[Violation]:
    if "calls" not in evidence.judged and not evidence.expectation.calls_at_most:
        return
    calls = evidence.oracle.calls
    for index, expected, call in evidence.paired_calls():
        if marks := markers_in_name(call, expected):
            sent = None if calls is None else [each.name for each in calls]
            came = as_sent(is_sent=contains_marks(sent, call.name, marks))
            yield Violation(f"calls[{index}].name", f"a name without {marks}", call.name, came=came)
        elif marks := markers_in_arguments(call, expected):
            sent = None if calls is None else [_text_of_arguments(each) for each in calls]
            came = as_sent(is_sent=contains_marks(sent, _text_of_arguments(call), marks))
            text = f"arguments without {marks}"
            yield Violation(f"calls[{index}].arguments", text, call.arguments, came=came)


def _text_of_arguments(call: ToolCall | CallReading) -> str:
    return _strings(parse(call.arguments).value, call.arguments)


@turn_rule("TEXT-HELD-BACK", Outcome.MISMATCH, of="time")
def _not_held_back(evidence: TurnEvidence) -> Iterator[Violation]:
    """Check the delay of text before the first markup, which every normalizer emits unchanged."""
    if not evidence.expectation.has_text_calls:
        return
    raw = evidence.oracle.text
    same = _common_prefix_length(raw, evidence.turn.text)
    marks = [(end, min(count, same) - HELD_CHARACTERS) for end, count in evidence.oracle.text_marks]
    late = first_late_text(evidence, [(end, count) for end, count in marks if count > 0])
    if late is not None and not may_begin_call(raw, late.in_time):
        yield late.violation


def _common_prefix_length(one: str, other: str) -> int:
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return next(at for at in range(most) if one[at] != other[at])
