"""What a library hands to agent code -> deltas; shared by all adapters.

Libraries leave arguments as text, and so does this: agent code that parses it strictly runs the
call or reports it. Names and ids are handed over as they are, empty ones too.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.turns.calls import CallKind
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallStart,
)
from harness.turns.verdicts import fault, verdict


def handed_call(
    index: int, call_id: object, name: object, arguments: object, kind: CallKind = "function"
) -> Iterator[Delta]:
    """Yield the deltas of one call that a library gave out.

    Args:
        index: of the call among those that were given out.
        call_id: as given; what is no text becomes an empty one.
        name: as `call_id`.
        arguments: text; anything else is written as JSON.
        kind: of the call.
    """
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    yield ToolCallStart(index, _text(call_id), _text(name), kind)
    if written:
        yield ArgumentsDelta(index, written)
    # The name is the library's affair: an empty one must not turn into a reported call.
    yield verdict(index, fault("any", written, kind, cut_short=False), written)


def withheld_call(
    index: int, call_id: object, name: object, arguments: object, why: object
) -> Iterator[Delta]:
    """Yield the deltas of a call that a library began to read, and did not give out.

    Args:
        index: of the call, as for `handed_call`, and so the next three.
        call_id: as far as it came.
        name: as far as it came.
        arguments: as far as they came.
        why: what it raised instead.
    """
    text = _text(arguments)
    yield ToolCallStart(index, _text(call_id), _text(name))
    if text:
        yield ArgumentsDelta(index, text)
    yield verdict(index, str(why) or type(why).__name__, text)


def told_end(reason: object, words: Mapping[str, FinishReason], refusal: object = None) -> Delta:
    """Return the end of an answer that a library gave out.

    Args:
        reason: the provider's word for it; None where the library has none, and says nothing of it.
        words: those that are known.
        refusal: what the model said in place of an answer.
    """
    if refusal:
        return StreamFailure("refusal", str(refusal))
    if reason is None:
        return StreamFailure("interrupted", "the answer has no finish reason")
    raw = str(reason)
    return Finish(words.get(raw, FinishReason.OTHER), raw)


def told_failure(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a library that may not be installed
    """Return the failure that a library's own, documented exception tells.

    Args:
        problem: with `message`, and where the library has them `code`, `type`, `status_code`.
    """
    status = getattr(problem, "status_code", None)
    codes = (getattr(problem, "code", None), getattr(problem, "type", None))
    code = next((str(code) for code in codes if code), f"http_{status}" if status else "error")
    return StreamFailure(code, str(getattr(problem, "message", problem)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
