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
from harness.normalizers.sdk.fragments import ChatChunks
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

# The package has no models for these, and the loop in this module identifies calls by index.
_ABSENT: Final = frozenset(("calls-without-index", "client-actions", "custom-tools"))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    groq: Any = importlib.import_module("groq")
    turn = ChatChunks(_usage, _reasoning)
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


def _usage(chunk: Any) -> Any:  # noqa: ANN401 - a chunk of a package that may not be installed
    return getattr(chunk.x_groq, "usage", None) or chunk.usage


def _reasoning(delta: Any) -> Any:  # noqa: ANN401 - as above
    return delta.reasoning or getattr(delta, "reasoning_content", None)


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
