"""Adapter of langchain-openai: `ChatOpenAI.stream` and the sum of its chunks, as agents use it.

Text is taken from the chunks, calls from `tool_calls` and `invalid_tool_calls` of their sum, finish
and usage from its metadata. LangChain parses arguments while they are incomplete, and returns
values. The values of an incomplete text are what agent code gets.
"""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.openai_chat import FINISH
from harness.turns.deltas import Delta, StreamFailure, TextDelta, Usage, UsageDelta
from harness.wire.interaction import Interaction


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user."""
    openai: Any = importlib.import_module("openai")
    langchain: Any = importlib.import_module("langchain_openai")
    total: Any = None
    with sdk.replay_client("httpx2", interaction, reads) as http:
        model = langchain.ChatOpenAI(
            model="replay", use_responses_api=False, **sdk.client_options(http)
        )
        try:
            for chunk in model.stream([("user", "replay")]):
                total = chunk if total is None else total + chunk
                if isinstance(chunk.content, str) and chunk.content:
                    yield TextDelta(chunk.content)
        except openai.APIError as problem:
            yield from _failure_deltas(problem, total)
        else:
            yield from _final_deltas(total)


def _failure_deltas(problem: Any, total: Any) -> Iterator[Delta]:  # noqa: ANN401 - values of a package that may not be installed
    """Report a documented exception: agent code gets no call, and the reason."""
    for index, call in enumerate(total.tool_call_chunks if total is not None else ()):
        yield from sdk.withheld_call(index, call["id"], call["name"], call["args"], problem)
    yield sdk.failure_delta(problem)


def _final_deltas(total: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    if total is None:
        yield StreamFailure("empty_stream", "no chunk came")
        return
    if total.usage_metadata:
        usage = total.usage_metadata
        yield UsageDelta(Usage(usage["input_tokens"], usage["output_tokens"]))
    for index, call in enumerate(total.tool_calls):
        yield from sdk.handed_call(index, call["id"], call["name"], call["args"])
    for index, call in enumerate(total.invalid_tool_calls, len(total.tool_calls)):
        why = call.get("error") or "LangChain could not parse the arguments"
        yield from sdk.withheld_call(index, call["id"], call["name"], call["args"], why)
    finish = total.response_metadata.get("finish_reason")
    yield sdk.finish_delta(finish, FINISH, total.additional_kwargs.get("refusal"))


normalizer = Normalizer(
    name="langchain-openai",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS,
    role="peer",
    summary="langchain-openai: ChatOpenAI.stream and the sum of its chunks",
    policies={"names": "append", "arguments": "append"},
    needs=("langchain_openai", "openai", "httpx2"),
    extra="langchain-openai",
)
