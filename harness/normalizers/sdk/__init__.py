"""Adapters for third-party SDKs (peers), and the public functions to write another one.

An adapter uses a library as its users do: over the library's own HTTP client, without retries, at
the layer that hands calls to agent code. It repairs and hides nothing. An exception that the
library does not document is a crash. A call that it hands over is executed, unless the library's
own agent loop would not execute it. The package of a library is an extra and is imported when it
is first needed. Only this folder imports SDKs.

A documented exception that reaches the caller is a reported failure: yield `failure_delta`, with
or without a `withheld_call` for each call that was received so far. If the recorded connection
broke, `replay_client` raises the error of the HTTP library after the last read. An adapter may let
it pass, in whatever exception: the harness counts it as a failure of the turn.
"""

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from harness.dialects.kit.parse_request import as_text
from harness.normalizers.protocol import CAPABILITIES
from harness.playback.transports import Answer, CassetteTransport, with_bases
from harness.turns.deltas import (
    DECIDED_BY_CALLS,
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallStart,
)
from harness.turns.verdicts import end_of_call, unusable_reason
from harness.wire.interaction import Interaction, Request

__all__ = [
    "failure_delta",
    "finish_delta",
    "handed_call",
    "replay_client",
    "withheld_call",
]


def handed_call(
    index: int, call_id: object, name: object, arguments: object, kind: CallKind = "function"
) -> Iterator[Delta]:
    """Yield the deltas of one call that a library handed to agent code.

    Names and ids are kept unchanged, even if they are empty. Agent code that parses the arguments
    strictly executes the call or reports it, and so does this function.

    Args:
        index: of the call among those that were handed over.
        call_id: as given; a value that is not text becomes "".
        name: as `call_id`.
        arguments: text; any other value is written as JSON.
        kind: of the call.
    """
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    yield ToolCallStart(index, as_text(call_id), as_text(name), kind)
    if written:
        yield ArgumentsDelta(index, written)
    # An empty name is not reported here, because the library handed the call over.
    yield end_of_call(index, unusable_reason("any", written, kind, cut_short=False), written)


def named_call(
    index: int, call_id: object, name: object, arguments: object, problem: str = ""
) -> Iterator[Delta]:
    """Yield the deltas of one call for an agent loop that looks a tool up by its name.

    Such a loop executes no call without a name.

    Args:
        index: of the call, as for `handed_call`.
        call_id: as given.
        name: as given.
        arguments: as for `handed_call`.
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

    The library did not hand it over, or its own agent loop would not execute it.

    Args:
        index: of the call, as for `handed_call`.
        call_id: as received so far.
        name: as received so far.
        arguments: as received so far.
        reason: the exception of the library, or its text.
    """
    text = as_text(arguments)
    yield ToolCallStart(index, as_text(call_id), as_text(name))
    if text:
        yield ArgumentsDelta(index, text)
    yield end_of_call(index, str(reason) or type(reason).__name__, text)


def finish_delta(
    reason: object, reasons: Mapping[str, FinishReason], refusal: object = None
) -> Delta:
    """Return the end of an answer that a library handed over.

    Args:
        reason: the provider's finish reason; None if the library has none. That is a finish
            without a reason and not a failure, because the library reported none.
        reasons: the meaning of each finish reason.
        refusal: the model's refusal, if it refused to answer.
    """
    if refusal:
        return StreamFailure("refusal", str(refusal))
    raw = "" if reason is None else str(reason)
    return Finish(reasons.get(raw, FinishReason.OTHER), raw)


def finish_by_calls(
    reason: object, reasons: Mapping[str, FinishReason], *, has_calls: bool
) -> Delta:
    """Return the end of an answer as an agent loop sees it that continues if there are calls.

    Args:
        reason: as for `finish_delta`. If there is none, the answer is handed over without one.
        reasons: as for `finish_delta`.
        has_calls: whether the answer has calls, which decide unless it was cut short.
    """
    raw = "" if reason is None else str(reason)
    meaning = reasons.get(raw, FinishReason.OTHER)
    if raw and has_calls and meaning in DECIDED_BY_CALLS:
        meaning = FinishReason.TOOL_CALLS
    return Finish(meaning, raw)


def failure_delta(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a library that may not be installed
    """Return the failure for a documented exception of a library.

    Args:
        problem: with `message`, and optionally `code`, `type` and `status_code`. Without any of
            these, it is an interruption if another exception caused it, as one of the network.
    """
    status = getattr(problem, "status_code", None)
    codes = (getattr(problem, "code", None), getattr(problem, "type", None))
    other = "interrupted" if getattr(problem, "__cause__", None) else "error"
    code = next((str(code) for code in codes if code), f"http_{status}" if status else other)
    return StreamFailure(code, str(getattr(problem, "message", problem)))


# Users of a library cannot choose what providers send. Clients for AWS and for the Realtime API are
# other classes of it, and what these libraries do not read of a response they keep or ignore.
CAPABILITIES_OF_ADAPTERS: Final = frozenset(CAPABILITIES) - {
    "aws-framing",
    "realtime-events",
    "calls-in-unknown-members",
}
# The policy `arguments: append` excludes arguments that are repeated.
CAPABILITIES_OF_APPENDERS: Final = CAPABILITIES_OF_ADAPTERS - {"repeated-arguments"}

Http = Literal["httpx", "httpx2"]

# A library needs an address, but no name is ever resolved.
BASE_URL: Final = "http://replay.invalid/v1"


def client_options(http: Any) -> dict[str, Any]:  # noqa: ANN401 - as `replay_client` returns it
    """Return the options of a library's client that sends its requests through `http`."""
    return {"api_key": "none", "base_url": BASE_URL, "max_retries": 0, "http_client": http}


def replay_client(library: Http, interaction: Interaction, reads: Iterable[bytes]) -> Any:  # noqa: ANN401 - one of two modules that may not be installed
    """Return a `Client` of httpx or httpx2 that answers every request with `reads`.

    If the recorded connection broke, the client raises the library's own error after the last read.

    Args:
        library: name of the module.
        interaction: provides status and headers, and how the body ended.
        reads: the body, read by read.
    """
    client, answers = lasting_client(library)
    answers.use(interaction, reads)
    return client


class Answers:
    """Answers every request with the interaction of the turn that is replayed at that time."""

    def __init__(self) -> None:
        self._answer: Answer | None = None

    def __call__(self, _request: Request) -> Answer | None:
        """Return the answer to a request."""
        return self._answer

    def use(self, interaction: Interaction, reads: Iterable[bytes]) -> None:
        """Answer the requests that follow with `reads`, as `replay_client` does."""
        self._answer = interaction, filter(None, reads)


def lasting_transport(library: Http) -> tuple[Any, Answers]:
    """Return a transport for many turns, and the object that gives it the answer of each.

    Most libraries take longer to build their client than to read a stream, so an adapter keeps one
    in each process.

    Args:
        library: name of the module.
    """
    http: Any = importlib.import_module(library)
    answers = Answers()
    return with_bases(http, CassetteTransport, "BaseTransport")(http, answers), answers


def lasting_client(library: Http, name: str = "Client") -> tuple[Any, Answers]:
    """Return a client with a `lasting_transport`, and the object that gives it the answers.

    Args:
        library: name of the module.
        name: of the class, `Client` or `AsyncClient`.
    """
    transport, answers = lasting_transport(library)
    return getattr(importlib.import_module(library), name)(transport=transport), answers
