"""Adapter of langchain-mistralai: `ChatMistralAI.stream` and the sum of its chunks."""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.langchain_chunks import TOOL, Integration, deltas_of
from harness.normalizers.sdk.mistral import FINISH
from harness.turns.deltas import Delta, StreamFailure
from harness.wire.interaction import Interaction


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    httpx: Any = importlib.import_module("httpx")
    model, answers = _model()
    answers.use(interaction, reads)
    chunks = model.stream([("user", "replay")])
    # The package retries after these two, which its sync method `stream` does not.
    documented = (httpx.HTTPStatusError, httpx.RequestError)
    yield from deltas_of(chunks, Integration(documented, _end, _failure), interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    httpx: Any = importlib.import_module("httpx")
    langchain: Any = importlib.import_module("langchain_mistralai")
    transport, answers = sdk.lasting_transport("httpx")
    client = httpx.Client(base_url=sdk.BASE_URL, transport=transport)
    model = langchain.ChatMistralAI(model="replay", api_key="none", max_retries=1, client=client)
    return model.bind_tools([TOOL]), answers


def _failure(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a package that may not be installed
    response = getattr(problem, "response", None)
    if response is None:
        return sdk.failure_delta(problem)
    return StreamFailure(f"http_{response.status_code}", str(problem))


def _end(total: Any) -> Delta:  # noqa: ANN401 - the sum of the chunks
    reason = total.response_metadata.get("finish_reason")
    if reason == "error":
        return StreamFailure(reason, "the finish reason is error")
    return sdk.finish_delta(reason, FINISH)


normalizer = Normalizer(
    name="langchain-mistralai",
    normalize=normalize,
    dialects=frozenset(("mistral",)),
    # The class has no option for several choices.
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"several-choices"},
    kind="sdk",
    role="peer",
    summary="langchain-mistralai: ChatMistralAI.stream and the sum of its chunks",
    needs=("langchain_mistralai", "httpx"),
    extra="langchain-mistralai",
)
