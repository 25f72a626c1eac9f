"""The agno package: `process_response_stream` and `get_function_calls_to_run`."""

from agno.exceptions import AgnoError
from agno.models.base import MessageData
from agno.models.message import Message
from agno.models.openai import OpenAIChat
from agno.tools.function import Function

DOCUMENTED = (AgnoError,)


def drive(base_url):
    """Return the turn as agent code gets it; the package reads no finish reason."""
    model = OpenAIChat(id="any", base_url=base_url, api_key="none", max_retries=0)
    asked, reply = [Message(role="user", content="any")], Message(role="assistant")
    responses = list(model.process_response_stream(asked, reply, MessageData()))
    calls, rejected, are_checked = [], [], False
    for call in reply.tool_calls or ():
        function = call.get("function", {})
        name, errors = function.get("name", ""), []
        known = {name: Function(name=name)} if name else {}
        message = Message(role="assistant", tool_calls=[call])
        to_run = model.get_function_calls_to_run(message, errors, known)
        calls += [(it.call_id, it.function.name, it.arguments or {}) for it in to_run]
        rejected += [name for _ in errors]
        are_checked = are_checked or not function.get("arguments")
    return {
        "text": "".join(response.content or "" for response in responses),
        "calls": calls,
        "rejected": rejected,
        "validates": are_checked,
    }
