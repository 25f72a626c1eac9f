"""Adapter of langchain-qwq: `ChatQwen.stream` and the sum of its chunks, as agents use it.

The class extends the one of langchain-openai with the reasoning of Qwen's API, so everything else
is taken from its chunks as there.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.langchain_openai import iter_deltas
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    model, answers = _model()
    answers.use(interaction, reads)
    yield from iter_deltas(model, interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("langchain_qwq")
    http, answers = sdk.lasting_client("httpx2")
    return library.ChatQwen(model="replay", **sdk.client_options(http)), answers


normalizer = Normalizer(
    name="langchain-qwq",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - {"custom-tools", "several-choices"},
    # As langchain-openai, which it extends for one provider; it streams one choice only, too.
    kind="sdk",
    role="peer",
    summary="langchain-qwq: ChatQwen.stream and the sum of its chunks",
    policies={"names": "append", "arguments": "append"},
    needs=("langchain_qwq", "openai", "httpx2"),
    extra="langchain-qwq",
)
