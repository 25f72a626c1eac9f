"""Adapter of any-llm: `AnyLLM.acompletion` with `stream=True`.

One class asks every provider, and its chunks have the form of OpenAI's chat completions. It hands
over chunks, so this module joins the calls. Text, reasoning, finish and usage are taken from the
chunks.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import asynchronous
from harness.normalizers.sdk.fragments import ChatChunks
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

_PROVIDERS: Final = {
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
}
_ABSENT: Final = frozenset(
    (
        "calls-without-index",  # the loop in this module identifies calls by index
        "client-actions",
        "custom-tools",
        "other-encodings",
        "partial-arguments",
    )
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    exceptions: Any = importlib.import_module("any_llm.exceptions")
    turn = ChatChunks(reasoning=_reasoning)
    client, answers = _client(interaction.dialect)
    answers.use(interaction, reads)

    async def ask(hand_over: asynchronous.HandOver[Any]) -> None:
        messages = [{"role": "user", "content": "replay"}]
        async for chunk in await client.acompletion("replay", messages, stream=True):
            await hand_over(chunk)

    try:
        for chunk in asynchronous.run_turn(ask):
            yield from turn.take(chunk)
    except exceptions.AnyLLMError as problem:
        yield from turn.calls.failed(sdk.failure_delta(problem))
    else:
        yield from turn.end()


@cache
def _client(dialect: str) -> tuple[Any, sdk.Answers]:
    """Return the package's client for an API, with a client of the provider's package."""
    library: Any = importlib.import_module("any_llm")
    # It needs an older version of the package anthropic.
    http, answers = sdk.lasting_async_client("httpx" if dialect == "anthropic" else "httpx2")
    options: dict[str, Any] = {
        "openai-chat": {"http_client": http, "max_retries": 0},
        "anthropic": {"http_client": http, "max_retries": 0},
        "gemini": {"http_options": {"httpx_async_client": http}},
        "mistral": {"async_client": http},
    }[dialect]
    client = library.AnyLLM.create(
        _PROVIDERS[dialect],
        api_key="none",
        api_base=sdk.BASE_URL,
        unified_exceptions=True,  # with the exceptions that the package documents
        **options,
    )
    return client, answers


def _reasoning(delta: Any) -> Any:  # noqa: ANN401 - a delta of a package that may not be installed
    return getattr(delta.reasoning, "content", None)


normalizer = Normalizer(
    name="any-llm",
    normalize=normalize,
    dialects=frozenset(_PROVIDERS),
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    role="peer",
    summary="the any-llm package: AnyLLM.acompletion, its chunks joined by index",
    policies={"names": "append", "arguments": "append"},
    needs=("any_llm", "openai", "anthropic", "google.genai", "mistralai", "httpx", "httpx2"),
    extra="any-llm",
)
