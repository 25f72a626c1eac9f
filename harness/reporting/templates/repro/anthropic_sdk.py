"""The anthropic package: `messages.stream` and its final message."""

import anthropic

PACKAGES = ("anthropic",)
DOCUMENTED = (anthropic.AnthropicError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = anthropic.Anthropic(base_url=base_url, api_key="none", max_retries=0)
    with client.messages.stream(model="any", max_tokens=1, messages=[]) as stream:
        message = stream.get_final_message()
    # The tool runner of this package executes no call of a message that was truncated.
    complete = message.stop_reason in {"tool_use", "end_turn", "stop_sequence"}
    calls = [block for block in message.content if block.type == "tool_use" and complete]
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [(call.id, call.name, call.input) for call in calls],
        "finish": message.stop_reason,
    }
