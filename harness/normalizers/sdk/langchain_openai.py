"""Adapter of langchain-openai: `ChatOpenAI.stream` and the sum of its chunks, as agents use it.

Text is taken from the chunks, calls from `tool_calls` and `invalid_tool_calls` of their sum, or
else from `additional_kwargs["function_call"]`; usage from its metadata. LangChain parses arguments
while they are incomplete, and returns values. The values of an incomplete text are what agent code
gets. Its agent loop executes `tool_calls` until a message has none, whatever the finish reason is.
"""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from harness.dialects.kit.parse_request import as_dict
from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.openai_chat import FINISH
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none


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
            for chunk in model.stream([("user", "replay")], **_options(interaction)):
                total = chunk if total is None else total + chunk
                if isinstance(chunk.content, str) and chunk.content:
                    yield TextDelta(chunk.content)
        except openai.OpenAIError as problem:
            yield from _failure_deltas(problem, total)
        else:
            yield from _final_deltas(total)


def _options(interaction: Interaction) -> dict[str, Any]:
    """Return the option of the request without which LangChain reads no refusal."""
    wanted = as_dict(json_or_none(interaction.request.body)).get("response_format")
    return {} if wanted is None else {"response_format": wanted}


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
    calls = tuple(_calls(total))
    yield from calls
    refusal = total.additional_kwargs.get("refusal")
    yield _finish(total.response_metadata.get("finish_reason"), refusal, has_calls=bool(calls))


def _calls(total: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    for index, call in enumerate(total.tool_calls):
        if call["name"]:
            yield from sdk.handed_call(index, call["id"], call["name"], call["args"])
        else:
            why = "LangChain's tool node executes no tool without a name"
            yield from sdk.withheld_call(index, call["id"], "", str(call["args"]), why)
    for index, call in enumerate(total.invalid_tool_calls, len(total.tool_calls)):
        why = call.get("error") or "LangChain could not parse the arguments"
        yield from sdk.withheld_call(index, call["id"], call["name"], call["args"], why)
    older = total.additional_kwargs.get("function_call")
    if older and not total.tool_calls:
        # It has no id in this API, because agent code needs none.
        yield from sdk.handed_call(0, "function_call", older.get("name"), older.get("arguments"))


def _finish(reason: Any, refusal: Any, *, has_calls: bool) -> Delta:  # noqa: ANN401 - as above
    """Return the end as the agent loop sees it: a message without calls is the answer."""
    end = sdk.finish_delta(reason, FINISH, refusal)
    is_open = not end.raw if isinstance(end, Finish) else True
    if isinstance(end, Finish) and (has_calls if is_open else end.reason is FinishReason.STOP):
        return Finish(FinishReason.TOOL_CALLS if has_calls else FinishReason.STOP, end.raw)
    return end


normalizer = Normalizer(
    name="langchain-openai",
    normalize=normalize,
    # LangChain sends requests with custom tools to the Responses API.
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - {"custom-tools"},
    # It targets the official API, and documents that ids and finish reasons are those of the API.
    kind="sdk",
    role="peer",
    summary="langchain-openai: ChatOpenAI.stream and the sum of its chunks",
    policies={"names": "append", "arguments": "append"},
    needs=("langchain_openai", "openai", "httpx2"),
    extra="langchain-openai",
)
