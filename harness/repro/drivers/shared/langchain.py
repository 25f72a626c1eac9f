"""The chunks of LangChain messages.

Text and reasoning are taken from the chunks, calls from `tool_calls` and `invalid_tool_calls` of
their sum, usage from its metadata. LangChain parses arguments while they are incomplete, and
returns values. The values of an incomplete text are what agent code gets. Its agent loop executes
`tool_calls` until a message has none, whatever the finish reason is.
"""

import json

from harness.repro.drivers.shared.ends import failure_of


def usage_of(total):
    """Return the counts of tokens, if there are any."""
    return total.usage_metadata


def events_of(chunks, documented, end, failure=failure_of, usage=usage_of, older=False):
    """Yield what LangChain gives its user.

    `end` returns the event of the end for the sum of the chunks; `failure` returns code and message
    of a documented exception; `older`
    says whether a message may have a call of OpenAI's older API.
    """
    total = None
    try:
        for chunk in chunks:
            total = chunk if total is None else total + chunk
            yield from content_of(chunk)
    except documented as error:
        code, message = failure(error)
        for call in total.tool_call_chunks if total is not None else ():
            yield "rejected", call["id"], call["name"], call["args"], message or code
        yield "failure", code, message
        return
    if total is None:
        yield "failure", "empty_stream", "no chunk came"
        return
    counts = usage(total)
    if counts:
        yield "usage", counts["input_tokens"], counts["output_tokens"]
    kind, *ended = end(total)
    calls = list(calls_of(total))
    if older:
        calls += older_call_of(total)
    yield from calls
    if kind == "finish" and ended[-1] == "stop" and calls:  # a message without calls is the answer
        ended[-1] = "tool_calls"
    yield kind, *ended


def content_of(chunk):
    """Yield reasoning and text of a chunk."""
    # In text alone there is no reasoning, and LangChain takes long to sort the blocks of a chunk.
    if not isinstance(chunk.content, str) or "reasoning_content" in chunk.additional_kwargs:
        for block in chunk.content_blocks:
            if block["type"] == "reasoning":
                yield "reasoning", block.get("reasoning")
    # An integration may hand over parts in the provider's own form.
    parts = [] if isinstance(chunk.content, str) else chunk.content
    own = [part.get("text") for part in parts if isinstance(part, dict) and "type" not in part]
    yield "text", str(chunk.text) or "".join(text for text in own if isinstance(text, str))


def calls_of(total):
    """Yield the calls that the agent loop executes, and those that it answers with an error."""
    for call in total.tool_calls:
        if call["name"]:
            yield "call", call["id"], call["name"], call["args"]
        else:
            why = "LangChain's tool node executes no tool without a name"
            yield "rejected", call["id"], "", json.dumps(call["args"]), why
    for call in total.invalid_tool_calls:
        why = call.get("error") or "LangChain could not parse the arguments"
        yield "rejected", call["id"], call["name"], call["args"], why


def older_call_of(total):
    """Yield the call of OpenAI's older API."""
    older = total.additional_kwargs.get("function_call")
    if older and not total.tool_calls:  # it has no id, because agent code needs none
        yield "call", "function_call", older.get("name"), older.get("arguments")
