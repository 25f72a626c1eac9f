"""Adapter of langchain-ollama: `ChatOllama.stream` and the sum of its chunks, or `OllamaLLM`."""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.langchain_chunks import TOOL, Integration, deltas_of
from harness.normalizers.sdk.ollama import FINISH, code_of
from harness.turns.deltas import Delta, Finish, FinishReason, StreamFailure, TextDelta
from harness.wire.interaction import Interaction


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    ollama: Any = importlib.import_module("ollama")
    exceptions: Any = importlib.import_module("langchain_core.exceptions")
    (chat, completion), answers = _models()
    answers.use(interaction, reads)
    if interaction.request.uri.endswith("/generate"):
        yield from _completion(completion, ollama.ResponseError)
        return
    documented = (ollama.ResponseError, exceptions.OutputParserException)
    chunks = chat.stream([("user", "replay")])
    yield from deltas_of(chunks, Integration(documented, _end, _failure), interaction)


@cache
def _models() -> tuple[tuple[Any, Any], sdk.Answers]:
    """Return the model for chats and the one for completions."""
    langchain: Any = importlib.import_module("langchain_ollama")
    transport, answers = sdk.lasting_transport("httpx")
    options = {
        "model": "replay",
        "base_url": sdk.BASE_URL,
        "sync_client_kwargs": {"transport": transport},
        "reasoning": True,  # otherwise the package drops it
    }
    chat = langchain.ChatOllama(**options)
    return (chat.bind_tools([TOOL]), langchain.OllamaLLM(**options)), answers


def _completion(model: Any, error: type[BaseException]) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Yield the deltas of a completion, whose method `stream` gives text without its end."""
    try:
        (choices,) = model.generate(["replay"]).generations
    except error as problem:
        yield _failure(problem)
    else:
        if choices[0].text:
            yield TextDelta(choices[0].text)
        yield _finish(choices[0].generation_info or {})


def _failure(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a package that may not be installed
    if not hasattr(problem, "status_code"):
        return sdk.failure_delta(problem)
    return StreamFailure(code_of(problem), problem.error)


def _end(total: Any) -> Delta:  # noqa: ANN401 - the sum of the chunks
    return _finish(total.response_metadata)


def _finish(metadata: dict[str, Any]) -> Finish:
    raw = metadata.get("done_reason") or ""
    # Servers of 2024 had no reason for an answer that was done.
    known = raw or ("stop" if metadata.get("done") else "")
    return Finish(FINISH.get(known, FinishReason.OTHER), raw)


normalizer = Normalizer(
    name="langchain-ollama",
    normalize=normalize,
    dialects=frozenset(("ollama",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS,
    kind="sdk",
    # It gives each call a new id, because the class of a call of the package ollama has none.
    hides=frozenset(("ids",)),
    role="peer",
    summary="langchain-ollama: ChatOllama.stream and the sum of its chunks",
    needs=("langchain_ollama", "ollama", "httpx"),
    extra="langchain-ollama",
)
