"""Adapter of the groq package: `client.chat.completions.create` with `stream=True`.

It hands over chunks, so this module joins the calls. Text, reasoning, finish and usage are taken
from the chunks.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.fragments import Fragments
from harness.normalizers.sdk.openai_chat import FINISH
from harness.turns.deltas import Delta, ReasoningDelta, StreamFailure, TextDelta, Usage, UsageDelta
from harness.wire.interaction import Interaction

# Some servers leave the index of the choice out.
_FIRST: Final = (0, None)
# The package has no models for these, and the loop in this module identifies calls by index.
_ABSENT: Final = frozenset(("calls-without-index", "client-actions", "custom-tools"))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    groq: Any = importlib.import_module("groq")
    turn = _Turn()
    client, answers = _client()
    answers.use(interaction, reads)
    try:
        for chunk in client.chat.completions.create(model="replay", messages=[], stream=True):
            yield from turn.take(chunk)
    except groq.GroqError as problem:
        yield from turn.calls.failed(sdk.failure_delta(problem))
    else:
        yield from turn.end()


@cache
def _client() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("groq")
    http, answers = sdk.lasting_client("httpx")
    return library.Groq(**sdk.client_options(http)), answers


class _Turn:
    """The facts received so far in one stream."""

    def __init__(self) -> None:
        self.calls = Fragments()
        self._finish: object = None
        self._refusal = ""
        self._usage: Any = None

    def take(self, chunk: Any) -> Iterator[Delta]:  # noqa: ANN401 - a chunk of a package that may not be installed
        """Yield the deltas of one chunk."""
        if chunk is None:
            return
        self._usage = getattr(chunk.x_groq, "usage", None) or chunk.usage or self._usage
        for choice in chunk.choices or ():
            if choice.index in _FIRST:
                self._finish = choice.finish_reason or self._finish
                if choice.delta is not None:
                    yield from self._delta(choice.delta)

    def _delta(self, delta: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
        reasoning = delta.reasoning or getattr(delta, "reasoning_content", None)
        if reasoning:
            yield ReasoningDelta(reasoning)
        if delta.content:
            yield TextDelta(delta.content)
        self._refusal += getattr(delta, "refusal", None) or ""
        self.calls.add(delta.tool_calls or ())
        older = delta.function_call
        if older is not None and (older.name or older.arguments):  # some servers add an empty one
            # It has no id in this API, because agent code needs none.
            self.calls.extend("function_call", "function_call", older.name, older.arguments)

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        if self._refusal:
            yield from self.calls.failed(StreamFailure("refusal", self._refusal))
            return
        if self._usage is not None:
            yield UsageDelta(Usage(self._usage.prompt_tokens, self._usage.completion_tokens))
        yield from self.calls.end(self._finish, FINISH)


normalizer = Normalizer(
    name="groq",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="sdk",
    role="peer",
    summary="the groq package: chat.completions.create, its chunks joined by index",
    policies={"names": "append", "arguments": "append"},
    needs=("groq", "httpx"),
    extra="groq",
)
