"""Adapter of langchain-community: `ChatTongyi.stream` and the sum of its chunks.

The class calls the package dashscope. Unless a user asks for what is new in each event, it gets
everything so far in each, and subtracts what came before.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.dashscope import FINISH, stream_options
from harness.normalizers.sdk.langchain_chunks import TOOL, Integration, deltas_of
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

# The reason of an answer that the model has not finished.
_NO_FINISH = "null"
# How the message begins of the `ValueError` that the package raises for the statuses 400 and 401.
_STATUS = "request_id:"


class _StatusError(Exception):
    """A status that the package reports with `ValueError`."""


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    requests: Any = importlib.import_module("requests")
    model, answers = _model()
    answers.use(interaction, reads)
    chunks = _chunks(model.stream([("user", "replay")], **stream_options(interaction)))
    documented = (requests.HTTPError, _StatusError)
    yield from deltas_of(chunks, Integration(documented, _end, usage=_usage), interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    models: Any = importlib.import_module("langchain_community.chat_models")
    session, answers = sdk.lasting_client("requests")
    model = models.ChatTongyi(
        model="replay",
        api_key="none",
        max_retries=1,
        streaming=True,  # otherwise its method `stream` does not stream
        model_kwargs={"session": session},
    )
    return model.bind_tools([TOOL]), answers


def _chunks(chunks: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from chunks
    except ValueError as problem:
        if str(problem).startswith(_STATUS):
            raise _StatusError(str(problem)) from None
        raise


def _end(total: Any) -> Delta:  # noqa: ANN401 - the sum of the chunks
    reason = total.response_metadata.get("finish_reason")
    return sdk.finish_delta(None if reason == _NO_FINISH else reason, FINISH)


def _usage(total: Any) -> Any:  # noqa: ANN401 - as above
    return total.response_metadata.get("token_usage")


normalizer = Normalizer(
    name="langchain-community",
    normalize=normalize,
    dialects=frozenset(("dashscope",)),
    # It always asks for the result format `message`, and has no option for several choices.
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"other-encodings", "several-choices"},
    kind="sdk",
    role="peer",
    summary="langchain-community: ChatTongyi.stream and the sum of its chunks",
    needs=("langchain_community", "dashscope", "requests"),
    extra="langchain-community",
)
