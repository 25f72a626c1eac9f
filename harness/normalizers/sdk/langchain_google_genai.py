"""Adapter of langchain-google-genai: `ChatGoogleGenerativeAI.stream` and the sum of its chunks."""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.dialects.gemini.read import FAILED, FINISHES
from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.langchain_chunks import TOOL, Integration, deltas_of
from harness.turns.deltas import Delta, StreamFailure
from harness.wire.interaction import Interaction


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    errors: Any = importlib.import_module("google.genai.errors")
    chat_models: Any = importlib.import_module("langchain_google_genai.chat_models")
    documented = (
        chat_models.ChatGoogleGenerativeAIError,
        errors.APIError,
        errors.UnknownApiResponseError,
    )
    model, answers = _model()
    answers.use(interaction, reads)
    chunks = model.stream([("user", "replay")])
    yield from deltas_of(chunks, Integration(documented, _end, _failure), interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    langchain: Any = importlib.import_module("langchain_google_genai")
    transport, answers = sdk.lasting_transport("httpx")
    model = langchain.ChatGoogleGenerativeAI(
        model="gemini-replay",
        api_key="none",
        base_url=sdk.BASE_URL,
        vertexai=False,
        max_retries=1,  # the package documents that 1 means no retry
        client_args={"transport": transport},
    )
    return model.bind_tools([TOOL]), answers


def _failure(problem: Any) -> StreamFailure:  # noqa: ANN401 - an exception of a package that may not be installed
    """Return the failure with the status that the API sent, which the cause of a problem has."""
    known = problem if hasattr(problem, "status") else problem.__cause__
    if hasattr(known, "status"):
        return StreamFailure(str(known.status or known.code), str(known.message))
    return sdk.failure_delta(problem)


def _end(total: Any) -> Delta:  # noqa: ANN401 - the sum of the chunks
    reason = total.response_metadata.get("finish_reason")
    blocked = (total.response_metadata.get("prompt_feedback") or {}).get("block_reason")
    if reason is None and blocked is not None:
        reason = blocked.value
    return StreamFailure(reason) if reason in FAILED else sdk.finish_delta(reason, FINISHES)


normalizer = Normalizer(
    name="langchain-google-genai",
    normalize=normalize,
    dialects=frozenset(("gemini",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"partial-arguments", "other-encodings"},
    kind="sdk",
    role="peer",
    summary="langchain-google-genai: ChatGoogleGenerativeAI.stream and the sum of its chunks",
    needs=("langchain_google_genai", "google.genai", "httpx"),
    extra="langchain-google-genai",
)
