"""The chunks of LangChain messages -> deltas, for the adapters of its integrations.

Text and reasoning are taken from the chunks, calls from `tool_calls` and `invalid_tool_calls` of
their sum, usage from its metadata. LangChain parses arguments while they are incomplete, and
returns values. The values of an incomplete text are what agent code gets. Its agent loop executes
`tool_calls` until a message has none, whatever the finish reason is; but it sends an error to the
model if the arguments do not fit a tool that is a Python function. An incomplete text is judged by
such a tool, because most tools are.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from harness.normalizers import sdk
from harness.normalizers.sdk.validation import validation_error
from harness.turns.arguments import parse
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

# The tool that the adapters offer: some integrations read calls only if a request has tools.
TOOL: Final = {
    "type": "function",
    "function": {
        "name": "replay",
        "description": "replay",
        "parameters": {"type": "object", "properties": {}},
    },
}


class Integration(msgspec.Struct, frozen=True):
    """The facts that differ between the integrations.

    Fields:
        errors: the exceptions that the integration documents.
        end: returns the end of the answer, given the sum of the chunks.
        failure: returns the failure for one of `errors`.
        usage: returns the counts of tokens in the sum of the chunks, if there are any.
        older: whether `additional_kwargs` may have a call of OpenAI's older API.
    """

    errors: tuple[type[BaseException], ...]
    end: Callable[[Any], Delta]
    failure: Callable[[Any], StreamFailure] = sdk.failure_delta
    usage: Callable[[Any], Any] = lambda total: total.usage_metadata
    older: bool = False


def deltas_of(
    chunks: Iterable[Any], integration: Integration, interaction: Interaction
) -> Iterator[Delta]:
    """Yield the deltas that LangChain gives its user.

    Args:
        chunks: the result of the method `stream` of a chat model.
        integration: of that chat model.
        interaction: has the request with the tools.
    """
    total: Any = None
    try:
        for chunk in chunks:
            total = chunk if total is None else total + chunk
            yield from _content(chunk)
    except integration.errors as problem:
        yield from _failed(total, integration.failure(problem))
    else:
        yield from _final_deltas(total, integration, interaction)


def _content(chunk: Any) -> Iterator[Delta]:  # noqa: ANN401 - a value of a package that may not be installed
    # In text alone there is no reasoning, and LangChain takes long to sort the blocks of a chunk.
    if not isinstance(chunk.content, str) or "reasoning_content" in chunk.additional_kwargs:
        for block in chunk.content_blocks:
            if block["type"] == "reasoning" and block.get("reasoning"):
                yield ReasoningDelta(block["reasoning"])
    text = str(chunk.text) or "".join(_untyped(chunk.content))
    if text:
        yield TextDelta(text)


def _untyped(content: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Yield the text of parts that an integration hands over in the provider's own form."""
    for part in () if isinstance(content, str) else content:
        if isinstance(part, dict) and "type" not in part and isinstance(part.get("text"), str):
            yield part["text"]


def _failed(total: Any, failure: StreamFailure) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Report a failure: agent code gets no call, and the reason."""
    why = failure.message or failure.code
    for index, call in enumerate(total.tool_call_chunks if total is not None else ()):
        yield from sdk.withheld_call(index, call["id"], call["name"], call["args"], why)
    yield failure


def _final_deltas(
    total: Any,  # noqa: ANN401 - as above
    integration: Integration,
    interaction: Interaction,
) -> Iterator[Delta]:
    if total is None:
        yield StreamFailure("empty_stream", "no chunk came")
        return
    usage = integration.usage(total)
    if usage:
        yield UsageDelta(Usage(usage["input_tokens"], usage["output_tokens"]))
    end = integration.end(total)
    is_cut = isinstance(end, Finish) and end.reason is FinishReason.LENGTH
    calls = (
        *_calls(total, interaction, is_cut=is_cut),
        *(_older_call(total) if integration.older else ()),
    )
    yield from calls
    yield _as_the_loop_sees_it(end, has_calls=bool(calls))


def _calls(total: Any, interaction: Interaction, *, is_cut: bool) -> Iterator[Delta]:  # noqa: ANN401 - as above
    """Yield the calls; the tools check arguments that LangChain completed, as the loop does."""
    completed = {each["id"] for each in total.tool_call_chunks if parse(each["args"] or "").error}
    for index, call in enumerate(total.tool_calls):
        written = json.dumps(call["args"])
        is_checked = is_cut or call["id"] in completed
        misfit = validation_error(interaction, call["name"], written) if is_checked else ""
        if call["name"] and misfit:
            yield from sdk.withheld_call(index, call["id"], call["name"], written, misfit)
        elif call["name"]:
            yield from sdk.handed_call(index, call["id"], call["name"], call["args"])
        else:
            why = "LangChain's tool node executes no tool without a name"
            yield from sdk.withheld_call(index, call["id"], "", written, why)
    for index, call in enumerate(total.invalid_tool_calls, len(total.tool_calls)):
        why = call.get("error") or "LangChain could not parse the arguments"
        yield from sdk.withheld_call(index, call["id"], call["name"], call["args"], why)


def _older_call(total: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    older = total.additional_kwargs.get("function_call")
    if older and not total.tool_calls:
        # It has no id in this API, because agent code needs none.
        yield from sdk.handed_call(0, "function_call", older.get("name"), older.get("arguments"))


def _as_the_loop_sees_it(end: Delta, *, has_calls: bool) -> Delta:
    """Return the end for the agent loop: a message without calls is the answer."""
    if isinstance(end, Finish) and end.reason is FinishReason.STOP:
        return Finish(FinishReason.TOOL_CALLS if has_calls else FinishReason.STOP, end.raw)
    return end
