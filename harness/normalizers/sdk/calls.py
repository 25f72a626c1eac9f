"""Convert the calls, finish and failure that a library returned to agent code to deltas."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.repro.drivers.shared.ends import failure_of
from harness.turns.deltas import (
    DECIDED_BY_CALLS,
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.json_values import as_text
from harness.turns.verdicts import end_of_call, unusable_reason


def handed_call(  # noqa: PLR0913 - the parts of a call
    index: int,
    call_id: object,
    name: object,
    arguments: object,
    kind: CallKind = "function",
    *,
    parsed: bool = False,
) -> Iterator[Delta]:
    """Yield the deltas of one call that a library gave to agent code.

    Names and ids are kept unchanged, even if they are empty. Agent code that parses raw text
    strictly executes the call or reports it, and so does this function. A value that the library
    parsed is kept unchanged, and the rules judge it.

    Args:
        index: the index of the call among all calls that the library gave to agent code.
        call_id: the id from the library; a value that is not text becomes "".
        name: the name from the library; a value that is not text becomes "".
        arguments: the raw text of the arguments; any other value is one that the library parsed.
        kind: the kind of the call.
        parsed: whether the library parsed the arguments, so that a text is a value, too.
    """
    is_value = parsed or not isinstance(arguments, str)
    written = text_of_value(arguments) if is_value else as_text(arguments)
    yield ToolCallStart(index, as_text(call_id), as_text(name), kind)
    if written:
        yield ArgumentsDelta(index, written)
    if is_value:
        yield ToolCallEnd(index)
        return
    # An empty name is not reported here, because the library handed the call over.
    yield end_of_call(index, unusable_reason("any", written, kind, cut_short=False), written)


def text_of_value(value: object) -> str:
    """Return a value that a library parsed as JSON text; what JSON does not have by its `repr`."""
    try:
        return json.dumps(value, default=_jsonable)
    except (TypeError, ValueError, RecursionError):  # no text as a key, or a value inside itself
        return repr(value)


def _jsonable(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else repr(value)


def named_call(
    index: int, call_id: object, name: object, arguments: object, problem: str = ""
) -> Iterator[Delta]:
    """Yield the deltas of one call for an agent loop that looks a tool up by its name.

    Such a loop executes no call without a name.

    Args:
        index: the index of the call among all calls from the library.
        call_id: the id from the library.
        name: the name from the library.
        arguments: as in `handed_call`.
        problem: why the loop does not execute the call; "" if it does.
    """
    why = problem if name else "no tool is without a name"
    if why:
        yield from withheld_call(index, call_id, name, arguments, why)
    else:
        yield from handed_call(index, call_id, name, arguments)


def withheld_call(
    index: int, call_id: object, name: object, arguments: object, reason: object
) -> Iterator[Delta]:
    """Yield the deltas of a call that agent code does not execute.

    The library did not give the call to agent code, or its own agent loop would not execute it.

    Args:
        index: the index of the call among all calls from the library.
        call_id: the id, as far as it was received.
        name: the name, as far as it was received.
        arguments: the arguments, as far as they were received.
        reason: why the call is not executed: an exception of the library, or a text.
    """
    is_text = arguments is None or isinstance(arguments, str)
    text = as_text(arguments) if is_text else text_of_value(arguments)
    yield ToolCallStart(index, as_text(call_id), as_text(name))
    if text:
        yield ArgumentsDelta(index, text)
    yield end_of_call(index, str(reason) or type(reason).__name__, text)


def finish_delta(
    reason: object, reasons: Mapping[str, FinishReason], refusal: object = None
) -> Delta:
    """Return the finish of an answer from a library, or a failure if the finish reason means one.

    Args:
        reason: the provider's finish reason; None if the library has none. That is a finish without
            a reason and not a failure, because the library reported none.
        reasons: finish reason of the provider -> its meaning.
        refusal: the model's refusal, if it refused to answer.
    """
    if refusal:
        return StreamFailure("refusal", str(refusal))
    raw = "" if reason is None else str(reason)
    return Finish(reasons.get(raw, FinishReason.OTHER), raw)


def finish_by_calls(
    reason: object, reasons: Mapping[str, FinishReason], *, has_calls: bool
) -> Delta:
    """Return the finish of an answer, for agent loops that continue if the answer has calls.

    Args:
        reason: the provider's finish reason; None if the library has none.
        reasons: finish reason of the provider -> its meaning.
        has_calls: whether the answer has calls. They decide the finish, unless the answer was cut
            short.
    """
    raw = "" if reason is None else str(reason)
    meaning = reasons.get(raw, FinishReason.OTHER)
    if raw and has_calls and meaning in DECIDED_BY_CALLS:
        meaning = FinishReason.TOOL_CALLS
    return Finish(meaning, raw)


def failure_delta(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a library that may not be installed
    """Return the failure for an exception that a library documents.

    Args:
        problem: the exception. Its attributes `message`, `code`, `type` and `status_code` are used
            if it has them. If it has none of them and another exception caused it, such as a
            network error, the failure is an interruption.
    """
    return StreamFailure(*failure_of(problem))
