"""Adapter of the mistralai package: `client.chat.stream`.

It hands over chunks, so this module joins the calls. Text, thinking, finish and usage are taken
from the chunks.
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

FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
}


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    errors: Any = importlib.import_module("mistralai.client.errors")
    turn = _Turn()
    client, answers = _client()
    answers.use(interaction, reads)
    try:
        with client.chat.stream(model="replay", messages=[]) as stream:
            for event in stream:
                yield from turn.take(event.data)
    except errors.MistralError as problem:
        yield from turn.calls.failed(sdk.failure_delta(problem))
    else:
        yield from turn.end()


@cache
def _client() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("mistralai.client")
    http, answers = sdk.lasting_client("httpx2")
    return library.Mistral(api_key="none", server_url=sdk.BASE_URL, client=http), answers


class _Turn:
    """The facts received so far in one stream."""

    def __init__(self) -> None:
        self.calls = Fragments(by_id=True)
        self._finish: object = None
        self._usage: Any = None

    def take(self, chunk: Any) -> Iterator[Delta]:  # noqa: ANN401 - a chunk of a package that may not be installed
        """Yield the deltas of one chunk."""
        self._usage = chunk.usage or self._usage
        for choice in (choice for choice in chunk.choices if choice.index == 0):
            yield from _content(choice.delta.content)
            self.calls.add(choice.delta.tool_calls or ())
            self._finish = choice.finish_reason or self._finish

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        if self._usage is not None:
            yield UsageDelta(Usage(self._usage.prompt_tokens, self._usage.completion_tokens))
        if self._finish == "error":
            yield from self.calls.failed(StreamFailure("error", "the finish reason is error"))
        else:
            yield from self.calls.end(self._finish, FINISH)


def _content(content: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Yield text and thinking: content is text, or a list of chunks, or absent."""
    if isinstance(content, str):
        if content:
            yield TextDelta(content)
        return
    for chunk in content or ():
        if chunk.type == "text" and chunk.text:
            yield TextDelta(chunk.text)
        elif chunk.type == "thinking":
            yield from (ReasoningDelta(part.text) for part in chunk.thinking if part.type == "text")


normalizer = Normalizer(
    name="mistralai",
    normalize=normalize,
    dialects=frozenset(("mistral",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS,
    kind="sdk",
    role="peer",
    summary="the mistralai package: chat.stream, its chunks joined by index",
    needs=("mistralai", "httpx2"),
    extra="mistralai",
)
