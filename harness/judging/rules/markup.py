"""Rules about the markup of text calls: none of it shows, and text is not held back for it."""

from collections.abc import Iterator
from typing import Any

from harness.judging.expectation import ExpectedCall
from harness.judging.results import Outcome
from harness.judging.rule import Rule, TurnEvidence, Violation
from harness.judging.rules.deltas import first_late_text
from harness.text_calls import MARKERS
from harness.turns.arguments import parse
from harness.turns.deltas import ToolCall

# More than this need not be held back to see whether it begins a call.
HELD_CHARACTERS = 256
# JSON that turns out to be no call may be any length.
_UNDECIDED = ("{", "[", "```", "~~~")

_MARKER_PREFIXES = frozenset(
    mark[:size] for mark in (*MARKERS, *_UNDECIDED) for size in range(1, len(mark) + 1)
)
_LONGEST = max(map(len, _MARKER_PREFIXES))


def markers_in_text(seen: TurnEvidence) -> list[str]:
    """Return the markers that the text has more often than it should."""
    expected = seen.expectation
    actual = seen.replay.turn.text
    if "text" not in expected.judged or actual == expected.text or is_text_doubled(seen):
        return []
    return surplus_markers(actual, expected.text)


def is_text_doubled(seen: TurnEvidence) -> bool:
    """Whether the text is the expected one two times over."""
    expected = seen.expectation
    actual, text = expected.spaced(seen.replay.turn.text), expected.spaced(expected.text)
    twice = (text * 2, f"{text} {text}") if expected.loose_space else (text * 2,)
    return bool(text) and actual in twice


def markers_in_name(call: ToolCall, wanted: ExpectedCall) -> list[str]:
    """Return the markers that a call's name has and should not."""
    return [] if call.name == wanted.name else surplus_markers(call.name, wanted.name)


def markers_in_arguments(call: ToolCall, wanted: ExpectedCall) -> list[str]:
    """Return the markers that a call's arguments have and should not."""
    if call.kind == "custom" or wanted.kind == "custom":
        return surplus_markers(call.arguments, wanted.arguments_text)
    expected = parse(wanted.arguments_text).value if wanted.arguments_text else None
    return surplus_markers(
        _strings(parse(call.arguments).value, call.arguments),
        _strings(wanted.arguments if expected is None else expected, wanted.arguments_text),
    )


def surplus_markers(actual: str, expected: str) -> list[str]:
    """Return the markers that `actual` holds more often than `expected`."""
    return [mark for mark in MARKERS if mark in actual and _more(mark, actual, expected)]


def _more(mark: str, actual: str, expected: str) -> bool:
    return actual.count(mark) > expected.count(mark)


def marker_prefix_length(text: str, end: int) -> int:
    """Return how many characters of `text` before `end` may be the beginning of a marker."""
    tail = text[max(0, end - _LONGEST) : end]
    return next((len(tail) - at for at in range(len(tail)) if tail[at:] in _MARKER_PREFIXES), 0)


def may_begin_call(text: str, at: int) -> bool:
    """Whether JSON or code begins at `at`, which may be a call for as long as it is open."""
    return text[at:].lstrip().startswith(_UNDECIDED)


def _strings(value: dict[str, Any] | None, raw: str) -> str:
    """Return all keys and strings in `value`, a line each; what is no object as it is."""
    if value is None:
        return raw
    said: list[str] = []
    left: list[object] = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            said.append(item)
        elif isinstance(item, dict):
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            left += item
    return "\n".join(said)


def _text_no_markup(seen: TurnEvidence) -> Iterator[Violation]:
    if marks := markers_in_text(seen):
        yield Violation("text", f"text without {marks}", seen.replay.turn.text)


def _call_no_markup(seen: TurnEvidence) -> Iterator[Violation]:
    if "calls" not in seen.expectation.judged:
        return
    for place, actual in seen.pairing.pairs:
        call, wanted = seen.replay.turn.tool_calls[actual], seen.expectation.calls[place]
        if marks := markers_in_name(call, wanted):
            yield Violation(f"calls[{place}].name", f"a name without {marks}", call.name)
        elif marks := markers_in_arguments(call, wanted):
            without = f"arguments without {marks}"
            yield Violation(f"calls[{place}].arguments", without, call.arguments)


def _not_held_back(seen: TurnEvidence) -> Iterator[Violation]:
    """Hold the text up to the first markup, which no reader changes, to a bounded delay."""
    if not seen.expectation.loose_space:
        return
    raw = seen.strict.text
    same = _common_prefix_length(raw, seen.replay.turn.text)
    marks = [(end, min(count, same) - HELD_CHARACTERS) for end, count in seen.strict.text_marks]
    late = first_late_text(seen, [(end, count) for end, count in marks if count > 0])
    if late is None or may_begin_call(raw, late.said):
        return
    wanted = f"{late.wanted} characters of text after {late.allowed} bytes"
    yield Violation("text", wanted, f"after {late.at} bytes", late.offset)


def _common_prefix_length(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return next(at for at in range(most) if one[at] != other[at])


RULES = (
    Rule(
        "TEXT-NO-MARKUP",
        "MUST",
        "No marker of a text dialect shows in the text that the reply does not quote.",
        Outcome.LEAK,
        ("TEXT-LEAK-AND-CALL",),
        _text_no_markup,
    ),
    Rule(
        "CALL-NO-MARKUP",
        "MUST",
        "No marker of a text dialect is part of a name or of arguments.",
        Outcome.SILENT_WRONG,
        ("HARMONY-NAME-POLLUTED", "TEXT-GLM-NAME-LEAK", "TEXT-MARKUP-IN-ARGS"),
        _call_no_markup,
    ),
    Rule(
        "TEXT-HELD-BACK",
        "MUST",
        "No more text is held back than may be the beginning of markup.",
        Outcome.MISMATCH,
        ("TEXT-OPEN-TAG-SPLIT", "TEXT-ALIGNED-STREAM"),
        _not_held_back,
    ),
)
