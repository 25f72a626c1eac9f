"""The ollama package: `Client.chat` with `stream=True`, or `Client.generate`.

Calls come complete in a part of the stream. The loop of the package's documentation collects them
and executes them after the stream, so they are handed over if a part said `done`.
"""

import ollama

from harness.repro.drivers.shared.ollama_words import FINISH, failure_of_ollama

DOCUMENTED = (ollama.ResponseError,)


def connect(base_url, http=None):
    """Return the client, which takes a transport."""
    return ollama.Client(host=base_url, transport=http)


def drive(client, request):
    """Yield what agent code gets."""
    if "prompt" in request:  # the API has two endpoints
        parts = client.generate(model="any", prompt="any", stream=True)
    else:
        messages = [{"role": "user", "content": "any"}]
        parts = client.chat(model="any", messages=messages, stream=True)
    last, calls, failure = None, [], None
    try:
        for part in parts:
            message = getattr(part, "message", None)
            yield "reasoning", (message or part).thinking
            yield "text", message.content if message else part.response
            calls += (message and message.tool_calls) or ()
            last = part if part.done else last
    except DOCUMENTED as error:
        failure = failure_of_ollama(error)
    if failure is None and last is None:
        failure = "interrupted", "no part said done"
    # The class of a call has no id in version 0.6.
    found = [(getattr(it, "id", None) or "", it.function.name, it.function) for it in calls]
    if failure:
        for call_id, name, function in found:
            yield "rejected", call_id, name, str(function.arguments), failure[1]
        yield "failure", *failure
        return
    yield "usage", last.prompt_eval_count, last.eval_count
    for call_id, name, function in found:
        yield "call", call_id, name, function.arguments
    # Servers of 2024 had no reason.
    yield "finish", last.done_reason, FINISH.get(last.done_reason or "stop", "other")
