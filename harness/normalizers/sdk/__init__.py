"""Adapters: other people's libraries as normalizers, driven as their users drive them.

An adapter judges a library at the layer that hands calls to agent code, over the library's own
HTTP client, with its retries off. It repairs nothing and hides nothing: what a library raises
that it does not document is a crash, what it hands over is what runs. A library's package is an
extra and is imported when it is first needed; nothing outside this folder imports one.
"""

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from harness.playback.transports import headers_to_send
from harness.turns.deltas import (
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallStart,
)
from harness.turns.verdicts import end_of_call, unusable_reason
from harness.wire.interaction import Interaction

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
    yield end_of_call(index, unusable_reason("any", written, kind, cut_short=False), written)


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
    yield end_of_call(index, str(why) or type(why).__name__, text)


def finish_delta(
    reason: object, words: Mapping[str, FinishReason], refusal: object = None
) -> Delta:
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


def failure_delta(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a library that may not be installed
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


Http = Literal["httpx", "httpx2"]

# Any name that no server bears; a library needs one, and nothing is ever looked up.
BASE_URL = "http://replay.invalid/v1"
KEY = "none"


def replay_client(library: Http, interaction: Interaction, reads: Iterable[bytes]) -> Any:  # noqa: ANN401 - one of two modules that may not be installed
    """Return a `Client` of httpx or httpx2 that answers every request with `reads`.

    Args:
        library: name of the module.
        interaction: gives status and headers.
        reads: the body, read by read.
    """
    http: Any = importlib.import_module(library)
    headers = headers_to_send(interaction.headers)

    def answer(_request: object) -> Any:  # noqa: ANN401 - a response of that module
        # Content that is iterated is streamed, read by read; bytes would come as one read.
        return http.Response(interaction.status, headers=headers, content=filter(None, reads))

    return http.Client(transport=http.MockTransport(answer))
