"""The chunks of LangChain messages."""


def summed(chunks, finish="finish_reason"):
    """Return the turn in the sum of the chunks, as the agents of LangChain get it."""
    chunks = list(chunks)
    if not chunks:
        return {"text": "", "calls": [], "failed": True}
    message = sum(chunks[1:], chunks[0])
    calls = [(call["id"], call["name"], call["args"]) for call in message.tool_calls]
    older = message.additional_kwargs.get("function_call")
    if older and not calls:
        calls = [("function_call", older.get("name"), older.get("arguments"))]
    return {
        "text": "".join(map(text_of, chunks)),
        "calls": calls,
        "rejected": [call["name"] for call in message.invalid_tool_calls],
        "validates": message.response_metadata.get(finish) in ("length", "max_tokens"),
        "finish": message.response_metadata.get(finish),
        "failed": bool(message.additional_kwargs.get("refusal")),
    }


def text_of(chunk):
    """Return the text of a chunk, also that of parts in the provider's own form."""
    parts = [] if isinstance(chunk.content, str) else chunk.content
    own = [part.get("text") for part in parts if isinstance(part, dict) and "type" not in part]
    return chunk.text or "".join(text for text in own if isinstance(text, str))
