"""Adapter of langchain-anthropic: `ChatAnthropic.stream` and the sum of its chunks."""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.anthropic_messages import FINISH, failure_of
from harness.normalizers.sdk.langchain_chunks import TOOL, Integration, deltas_of
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    anthropic: Any = importlib.import_module("anthropic")
    model, answers = _model()
    answers.use(interaction, reads)
    integration = Integration((anthropic.APIError,), _end, failure_of)
    yield from deltas_of(model.stream([("user", "replay")]), integration, interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    anthropic: Any = importlib.import_module("anthropic")
    langchain: Any = importlib.import_module("langchain_anthropic")
    http, answers = sdk.lasting_client("httpx2")
    model = langchain.ChatAnthropic(model="replay", api_key="none", max_retries=0)
    # The class has no option for an HTTP client, so its cached client is set.
    vars(model)["_client"] = anthropic.Anthropic(**sdk.client_options(http))
    return model.bind_tools([TOOL]), answers


def _end(total: Any) -> Delta:  # noqa: ANN401 - the sum of the chunks
    return sdk.finish_delta(total.response_metadata.get("stop_reason"), FINISH)


normalizer = Normalizer(
    name="langchain-anthropic",
    normalize=normalize,
    dialects=frozenset(("anthropic",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"other-encodings"},
    # As langchain-openai, it documents that ids and finish reasons are those of the API.
    kind="sdk",
    role="peer",
    summary="langchain-anthropic: ChatAnthropic.stream and the sum of its chunks",
    needs=("langchain_anthropic", "anthropic", "httpx2"),
    extra="langchain-anthropic",
)
