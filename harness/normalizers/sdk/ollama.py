"""Adapter of the ollama package: `Client.chat` with `stream=True`, or `Client.generate`.

Calls come complete in a part of the stream. The loop of the package's documentation collects them
and executes them after the stream, so they are handed over if a part said `done`.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

FINISH: Final = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}
_MESSAGES: Final = ({"role": "user", "content": "replay"},)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    ollama: Any = importlib.import_module("ollama")
    turn = _Turn()
    client, answers = _client()
    answers.use(interaction, reads)
    if interaction.request.uri.endswith("/generate"):
        parts = client.generate(model="replay", prompt="replay", stream=True)
    else:
        parts = client.chat(model="replay", messages=_MESSAGES, stream=True)
    try:
        for part in parts:
            yield from turn.take(part)
    except ollama.ResponseError as problem:
        yield from turn.failed(StreamFailure(code_of(problem), problem.error))
    else:
        yield from turn.end()


@cache
def _client() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("ollama")
    transport, answers = sdk.lasting_transport("httpx")
    return library.Client(host=sdk.BASE_URL, transport=transport), answers


def code_of(problem: Any) -> str:  # noqa: ANN401 - an exception of a package that may not be installed
    """Return the code of the failure; the status of an error inside a stream is -1."""
    return f"http_{problem.status_code}" if problem.status_code > 0 else "error"


class _Turn:
    """The facts received so far in one stream."""

    def __init__(self) -> None:
        self._calls: list[Any] = []
        self._last: Any = None  # the part that said `done`

    def take(self, part: Any) -> Iterator[Delta]:  # noqa: ANN401 - a part of a package that may not be installed
        """Yield the deltas of one part."""
        message = getattr(part, "message", None)
        thinking, text = (message or part).thinking, message.content if message else part.response
        if thinking:
            yield ReasoningDelta(thinking)
        if text:
            yield TextDelta(text)
        self._calls += (message and message.tool_calls) or ()
        if part.done:
            self._last = part

    def failed(self, failure: StreamFailure) -> Iterator[Delta]:
        """Yield the calls that agent code does not execute, and the failure."""
        for index, call in enumerate(self._calls):
            function, why = call.function, failure.message
            yield from sdk.withheld_call(
                index, _id(call), function.name, str(function.arguments), why
            )
        yield failure

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        last = self._last
        if last is None:
            yield from self.failed(StreamFailure("interrupted", "no part said done"))
            return
        yield UsageDelta(Usage(last.prompt_eval_count, last.eval_count))
        for index, call in enumerate(self._calls):
            yield from sdk.handed_call(
                index, _id(call), call.function.name, call.function.arguments
            )
        raw = last.done_reason or ""  # servers of 2024 had none
        yield Finish(FINISH.get(raw or "stop", FinishReason.OTHER), raw)


def _id(call: Any) -> str:  # noqa: ANN401 - as above
    """Return the id of a call, which the class of version 0.6 does not have."""
    return getattr(call, "id", None) or ""


normalizer = Normalizer(
    name="ollama",
    normalize=normalize,
    dialects=frozenset(("ollama",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS,
    kind="sdk",
    # The class of a call has no id: results are matched by the name of the tool.
    hides=frozenset(("ids",)),
    role="peer",
    summary="the ollama package: Client.chat with stream=True",
    needs=("ollama", "httpx"),
    extra="ollama",
)
