"""Adapter of langchain-openai: `ChatOpenAI.stream` and the sum of its chunks, as agents use it.

Calls of the older API are taken from `additional_kwargs["function_call"]`.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.fragments import FINISH
from harness.normalizers.sdk.langchain_chunks import Integration, deltas_of
from harness.turns.deltas import Delta
from harness.turns.json_values import as_dict
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    model, answers = _model()
    answers.use(interaction, reads)
    yield from iter_deltas(model, interaction)


def iter_deltas(model: Any, interaction: Interaction) -> Iterator[Delta]:  # noqa: ANN401 - a model of a package that may not be installed
    """Yield the deltas that a chat model of LangChain gives its user.

    Args:
        model: a subclass of `BaseChatOpenAI`, whose client is ready to answer.
        interaction: provides the options of the request.
    """
    openai: Any = importlib.import_module("openai")
    chunks = model.stream([("user", "replay")], **_options(interaction))
    yield from deltas_of(chunks, Integration((openai.OpenAIError,), _end, older=True), interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    langchain: Any = importlib.import_module("langchain_openai")
    http, answers = sdk.lasting_client("httpx2")
    options = sdk.client_options(http)
    return langchain.ChatOpenAI(model="replay", use_responses_api=False, **options), answers


def _end(total: Any) -> Delta:  # noqa: ANN401 - the sum of the chunks
    reason = total.response_metadata.get("finish_reason")
    return sdk.finish_delta(reason, FINISH, total.additional_kwargs.get("refusal"))


def _options(interaction: Interaction) -> dict[str, Any]:
    """Return the option of the request without which LangChain reads no refusal."""
    wanted = as_dict(json_or_none(interaction.request.body)).get("response_format")
    return {} if wanted is None else {"response_format": wanted}


normalizer = Normalizer(
    name="langchain-openai",
    normalize=normalize,
    # LangChain sends requests with custom tools to the Responses API, and streams one choice only.
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - {"custom-tools", "several-choices"},
    # It targets the official API, and documents that ids and finish reasons are those of the API.
    kind="sdk",
    role="peer",
    summary="langchain-openai: ChatOpenAI.stream and the sum of its chunks",
    policies={"names": "append", "arguments": "append"},
    needs=("langchain_openai", "openai", "httpx2"),
    extra="langchain-openai",
)
