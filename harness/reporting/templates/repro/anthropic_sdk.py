"""The anthropic package: `messages.stream` and its final message."""

import anthropic

DOCUMENTED = (anthropic.AnthropicError,)
FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = anthropic.Anthropic(base_url=base_url, api_key="none", max_retries=0)
    with client.messages.stream(model="any", max_tokens=1, messages=[]) as stream:
        message = stream.get_final_message()
    # The tool runner of this package executes no call of a message that was truncated.
    complete = message.stop_reason in {"tool_use", "end_turn", "stop_sequence"}
    blocks = [block for block in message.content if block.type == "tool_use"]
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [(block.id, block.name, block.input) for block in blocks if complete],
        "rejected": [block.name for block in blocks if not complete],
        "finish": message.stop_reason,
    }
