"""The agno package: `Model.process_response_stream`, the step of its agents' loop.

Text and reasoning are taken from the responses that it yields; calls and usage from the message
that it fills. `Model.get_function_calls_to_run` parses the arguments and says which calls the loop
executes. The package reads no finish reason.
"""

from agno.exceptions import AgnoError
from agno.models.base import MessageData
from agno.models.message import Message
from agno.models.openai import OpenAIChat
from agno.tools.function import Function

from harness.repro.drivers.shared.named import named

DOCUMENTED = (AgnoError,)


def connect(base_url, http=None):
    """Return the model."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0, "http_client": http}
    return OpenAIChat(id="any", **options)


def drive(client):
    """Yield what agent code gets."""
    asked, reply = [Message(role="user", content="any")], Message(role="assistant")
    try:
        for response in client.process_response_stream(asked, reply, MessageData()):
            yield "reasoning", response.reasoning_content
            yield "text", response.content
    except DOCUMENTED as error:
        yield "failure", f"http_{error.status_code}", str(error.message)
        return
    if reply.metrics is not None and reply.metrics.total_tokens:
        yield "usage", reply.metrics.input_tokens, reply.metrics.output_tokens
    for call in reply.tool_calls or ():
        yield from events_of(client, call)
    yield "finish", None, "other"


def events_of(client, call):
    """Yield a call as the loop executes it; each name is that of a tool, but no tool has none.

    Its tools check their arguments. That is credited if no text of them came, because a limit may
    have cut the call off, and the package does not say that it did.
    """
    function = call.get("function", {})
    name, written, errors = function.get("name", ""), function.get("arguments"), []
    known = {name: Function(name=name)} if name else {}
    message = Message(role="assistant", tool_calls=[call])
    for each in client.get_function_calls_to_run(message, errors, known):
        found = each.call_id, each.function.name, each.arguments or {}
        yield named("call" if written else "checked", *found)
    for error in errors:
        yield "rejected", call.get("id"), name, written, error.content
