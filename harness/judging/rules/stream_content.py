"""Find what the stream contains at the location of a violation.

The level of some rules depends on it, because a client that passes on a fault of the stream is
less to blame than a client that damages a correct stream.
"""

import ast
import json
import math
import re
import warnings
from collections.abc import Hashable, Iterable
from http import HTTPStatus
from typing import Any, Final, NoReturn

from harness.dialects.table import DIALECTS
from harness.judging.evidence import TurnEvidence
from harness.judging.required import is_reframed
from harness.judging.rules.deltas import text_differs
from harness.results.finding import Came
from harness.turns.argument_errors import ArgumentClass
from harness.turns.arguments import parse
from harness.turns.deltas import FinishReason
from harness.wire.sse import ends_in_event

# An escape of half a surrogate pair: a high one without a low one after it, or the reverse.
_LONE_SURROGATE: Final = re.compile(
    r"(?i)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}"
)

# The start of a JSON object as data of an event stream, and in another framing.
_EVENT: Final = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n])data:[ \t]*\{")
_OBJECT: Final = re.compile(rb"\{")
# Closing tags after a complete object.
_TRAILING_MARKUP: Final = re.compile(r"(?<=\})\s*(?:</[\w:|-]+>\s*)+\Z")
# A string, also one that is not closed, so that each character is read once; or a comma after the
# last value of an object or array.
_TRAILING_COMMA: Final = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*[}\]])', re.DOTALL)
# Python's parser needs memory for each bracket.
_LONGEST_LITERAL: Final = 10_000
# The code of a body whose events belong to another API.
_OTHER_API: Final = "unknown_envelope"
_EVENT_STREAM: Final = "text/event-stream"


def answer_of(evidence: TurnEvidence) -> Came:
    """Return "no-answer" if the server sent a success status without any event of the API."""
    interaction = evidence.interaction
    row = DIALECTS.get(interaction.dialect)
    is_stream = interaction.status != HTTPStatus.SWITCHING_PROTOCOLS and (
        row is None or row.content_type == _EVENT_STREAM
    )
    # A WebSocket's messages are objects, whatever the API sends over HTTP.
    event = _EVENT if is_stream else _OBJECT
    is_found = event.search(interaction.body) or is_reframed(interaction)
    is_event = is_found and evidence.expectation.failure != _OTHER_API
    return "no-answer" if interaction.status < HTTPStatus.BAD_REQUEST and not is_event else ""


def as_sent(*, is_sent: bool) -> Came:
    """Return "as-sent" if the stream contains what the client emitted, else ""."""
    return "as-sent" if is_sent else ""


def has_lone_surrogate(evidence: TurnEvidence) -> Came:
    """Return "lone-surrogate" if the body has an escaped half of a surrogate pair, else "".

    It may be escaped twice, in arguments that are JSON text inside of JSON.
    """
    text = evidence.interaction.body.decode(errors="replace").replace("\\\\u", "\\u")
    return "lone-surrogate" if _LONE_SURROGATE.search(text) else ""


def has_only_bad_calls(evidence: TurnEvidence) -> bool:
    """Return whether the turn has or may have an unusable call, and the rest of it is not lost.

    A client that fails then loses neither a usable call nor text: it emitted the text before.
    """
    expected, judged = evidence.expectation, evidence.judged
    has_bad = bool(expected.rejected) or "rejected" not in judged
    is_text_lost = "text" in judged and text_differs(evidence)
    return has_bad and not is_text_lost and not ("calls" in judged and expected.calls)


def without_end(evidence: TurnEvidence) -> Came:
    """Return "undocumented" if an undocumented format explains the missing finish, else ""."""
    return "undocumented" if evidence.is_undocumented and lacks_finish(evidence) else ""


def lacks_finish(evidence: TurnEvidence) -> bool:
    """Return whether neither the stream nor the turn has a finish value, so that a user can see it.

    A client may document that it reads such an end as a stop: the policy `absent-finish: stop`.
    """
    finish = evidence.turn.finish
    is_documented = evidence.normalizer.policies.get("absent-finish") == "stop"
    is_open = finish is not None and (is_documented or finish.reason is FinishReason.OTHER)
    # A client may discard a last event without its blank line.
    has_none = not evidence.oracle.finishes or ends_in_event(evidence.interaction.body)
    return finish is not None and is_open and not finish.raw and has_none


def sent_ids_of_calls(evidence: TurnEvidence) -> list[str] | None:
    """Return the ids of the calls in the stream, with repeats; None if they are ambiguous."""
    calls = evidence.oracle.calls
    return None if calls is None else [call.id for call in calls]


def contains_marks(sent: Iterable[str] | None, actual: str, marks: Iterable[str]) -> bool:
    """Return whether a text of the stream contains each marker at least as often as `actual`.

    It is also True if `sent` is None, because the calls of the stream are ambiguous.
    """
    if sent is None:
        return True
    texts = tuple(sent)
    return all(any(text.count(mark) >= actual.count(mark) for text in texts) for mark in marks)


def unusable_arguments(text: str) -> Came:
    """Return why some parsers accept `text` as arguments, though it is not strict JSON, or ""."""
    if parse(text).kind is ArgumentClass.DUPLICATE_KEYS:
        return "duplicate-keys"
    try:
        value = json.loads(
            _completed(text), strict=False, parse_float=_finite, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        value = _python_literal(text)
    return "json-extension" if isinstance(value, dict) and parse(text).error else ""


def _python_literal(text: str) -> object:
    """Return the value of a Python literal that JSON can express; None for other text."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python warns of unknown escapes
            value = ast.literal_eval(text.strip() if len(text) <= _LONGEST_LITERAL else "")
        written = json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if json.loads(written) == value else None


def changed_arguments(sent: str, actual: str) -> Came:
    """Return why a library may have changed the value of arguments; "" if it must not."""
    if _LONE_SURROGATE.search(sent):
        return "lone-surrogate"
    return "number-form" if may_read_as(sent, actual) else ""


def may_read_as(sent: str, actual: str) -> bool:
    """Return whether some JSON parser may read `sent` as the value of `actual`."""
    return not values_read(sent).isdisjoint(values_read(actual))


def values_read(text: str) -> frozenset[Hashable]:
    """Return what JSON parsers may read `text` as: equal values have equal items.

    It is empty if no parser reads it, also not as a Python literal.
    """
    try:
        return frozenset((_hashable(_value(text)), _hashable(_value(text, take_first=True))))
    except (ValueError, RecursionError):
        literal = _python_literal(text)
        is_object = isinstance(literal, dict)
        return frozenset((_hashable(_value(json.dumps(literal))),) if is_object else ())


def _hashable(value: Any) -> Hashable:  # noqa: ANN401 - of `_value`
    if isinstance(value, dict):
        return frozenset((key, _hashable(inner)) for key, inner in value.items())
    return ("list", *map(_hashable, value)) if isinstance(value, list) else value


def _value(text: str, *, take_first: bool = False) -> Any:  # noqa: ANN401 - any JSON value, to be compared only
    """Return a JSON value with numbers as tuples, so that 1.0 equals 1 but not true.

    If an object has a key twice, the last value counts, or the first if `take_first` is true.
    """
    return json.loads(
        _completed(text),
        strict=False,
        parse_int=lambda digits: (int(digits),),
        parse_float=lambda digits: (float(digits),),
        parse_constant=lambda name: (float(name),),
        object_pairs_hook=lambda pairs: dict(reversed(pairs) if take_first else pairs),
    )


def _completed(text: str) -> str:
    """Return JSON text without commas and tags at its end, which some parsers ignore."""
    return _TRAILING_COMMA.sub(lambda found: found[1] or "", _TRAILING_MARKUP.sub("", text))


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(number)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def refusal_as_text(evidence: TurnEvidence) -> Came:
    """Return "refusal" if the client hands the model's refusal over as text of a complete turn."""
    turn, refusal = evidence.turn, evidence.oracle.refusal
    is_complete = turn.failure is None and turn.finish is not None
    if not refusal or not is_complete or evidence.expectation.failure is None:
        return ""
    return "refusal" if turn.text.strip() == f"{evidence.oracle.text}{refusal}".strip() else ""
