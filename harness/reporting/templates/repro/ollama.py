"""The ollama package: the parts of `Client.chat`, or of `Client.generate`."""

import ollama

DOCUMENTED = (ollama.ResponseError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = ollama.Client(host=base_url)
    if "prompt" in REQUEST:
        parts = list(client.generate(model="any", prompt="any", stream=True))
        texts, calls = [part.response for part in parts], []
    else:
        messages = [{"role": "user", "content": "any"}]
        parts = list(client.chat(model="any", messages=messages, stream=True))
        texts = [part.message.content for part in parts]
        calls = [call.function for part in parts for call in part.message.tool_calls or ()]
    last = [part for part in parts if part.done][-1:]
    return {
        "text": "".join(text or "" for text in texts),
        "calls": [("", call.name, call.arguments) for call in calls if last],
        "finish": (last[0].done_reason or "stop") if last else None,
        "failed": not last,
    }
