"""Adapter of the cohere package: `ClientV2.chat_stream`.

It hands over events, so this module joins the calls, as the documentation of the API does. Text,
thinking, the plan for the tools, finish and usage are taken from the events.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.fragments import Fragments
from harness.turns.deltas import (
    Delta,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

_FINISH: Final = {
    "COMPLETE": FinishReason.STOP,
    "STOP_SEQUENCE": FinishReason.STOP,
    "TOOL_CALL": FinishReason.TOOL_CALLS,
    "MAX_TOKENS": FinishReason.LENGTH,
}
_FAILED: Final = frozenset(("ERROR", "TIMEOUT"))
_MESSAGES: Final = ({"role": "user", "content": "replay"},)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    core: Any = importlib.import_module("cohere.core")
    sse: Any = importlib.import_module("cohere.core.http_sse")
    turn = _Turn()
    client, answers = _client()
    answers.use(interaction, reads)
    try:
        for event in client.chat_stream(model="replay", messages=_MESSAGES):
            yield from turn.take(event)
    except core.ApiError as problem:
        yield from turn.calls.failed(_failure(problem))
    except sse.SSEError as problem:
        yield from turn.calls.failed(sdk.failure_delta(problem))
    else:
        yield from turn.end()


@cache
def _client() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("cohere")
    http, answers = sdk.lasting_client("httpx")
    client = library.ClientV2(
        api_key="none", base_url=sdk.BASE_URL, httpx_client=http, max_retries=0
    )
    return client, answers


def _failure(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a package that may not be installed
    """Return the failure with the message in the body, which the package keeps there."""
    failure = sdk.failure_delta(problem)
    body = problem.body if isinstance(problem.body, dict) else {}
    return StreamFailure(failure.code, str(body.get("message", failure.message)))


class _Turn:
    """The facts received so far in one stream."""

    def __init__(self) -> None:
        self.calls = Fragments()
        self._end: Any = None  # delta of the last event

    def take(self, event: Any) -> Iterator[Delta]:  # noqa: ANN401 - an event of a package that may not be installed
        """Yield the deltas of one event."""
        delta: Any = getattr(event, "delta", None)
        message: Any = getattr(delta, "message", None)
        match event.type:
            case "content-start" | "content-delta":
                if message.content.thinking:
                    yield ReasoningDelta(message.content.thinking)
                if message.content.text:
                    yield TextDelta(message.content.text)
            case "tool-plan-delta" if message.tool_plan:
                yield ReasoningDelta(message.tool_plan)
            case "tool-call-start":
                call = message.tool_calls
                self.calls.begin(event.index)
                self.calls.extend(event.index, call.id, call.function.name, call.function.arguments)
            case "tool-call-delta":
                self.calls.extend(event.index, "", "", message.tool_calls.function.arguments)
            case "message-end":
                self._end = delta

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        end = self._end
        tokens = end and end.usage and end.usage.tokens
        if tokens:
            yield UsageDelta(Usage(_count(tokens.input_tokens), _count(tokens.output_tokens)))
        finish = end and end.finish_reason
        if end and (end.error or finish in _FAILED):
            code = finish if finish in _FAILED else "error"
            yield from self.calls.failed(StreamFailure(code, end.error or ""))
        else:
            yield from self.calls.end(finish, _FINISH)


def _count(tokens: float | None) -> int | None:
    return None if tokens is None else int(tokens)


normalizer = Normalizer(
    name="cohere",
    normalize=normalize,
    dialects=frozenset(("cohere",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"other-encodings"},
    kind="sdk",
    role="peer",
    summary="the cohere package: ClientV2.chat_stream, its events joined by index",
    needs=("cohere", "httpx"),
    extra="cohere",
)
