"""A small agent: asks the model, executes its calls, and sends the results back."""

import json

from client import ServerError, TruncatedError, read_completion

from harness import (
    Conversation,
    Request,
    StreamFailure,
    Task,
    ToolFailed,
    Turn,
    TurnMeta,
    TurnRecord,
    fold,
)
from harness.normalizers import sdk


def converse(task: Task) -> Conversation:
    """Answer the questions of a task one after the other."""
    messages = [{"role": "system", "content": task.system or "You are a helpful assistant."}]
    turns: list[TurnRecord] = []
    ending = "done"
    for question in task.questions:
        messages.append({"role": "user", "content": question})
        ending = answer_question(task, messages, turns)
        if ending != "done":
            break
    return Conversation(tuple(messages), tuple(turns), ending, turns[-1].turn.text)


def answer_question(task: Task, messages: list[dict], turns: list[TurnRecord]) -> str:
    """Add messages until the model answers without a call; return how that ended."""
    for _ in range(task.limits.rounds):
        turn = request_turn(task, messages)
        calls = () if turn.failure else turn.tool_calls
        meta = TurnMeta(parse_errors=turn.parse_errors)
        turns.append(TurnRecord(turn, meta, executed=tuple(call.id for call in calls)))
        if turn.failure:
            return turn.failure.code
        messages.append(assistant_message(turn))
        if not calls and not turn.parse_errors:
            return "done" if turn.text else "empty"
        messages += (tool_message(it.id, f"error: {it.error}") for it in turn.parse_errors)
        for call in calls:
            result = run_tool(task, call.name, json.loads(call.arguments))
            messages.append(tool_message(call.id, result))
    return "limit"


def request_turn(task: Task, messages: list[dict]) -> Turn:
    """Send the history and the tools, and return the turn of the model."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in task.tools
    ]
    body = {"model": task.model, "stream": True, "messages": messages, "tools": tools}
    headers = (("content-type", "application/json"),)
    reply = task.send(Request("POST", task.uri, headers, json.dumps(body).encode()))
    try:
        return fold(sdk.chat_deltas(read_completion(reply.reads)))
    except ServerError as problem:
        return fold([StreamFailure("error", str(problem))])
    except TruncatedError as problem:
        return fold([StreamFailure("interrupted", str(problem))])


def assistant_message(turn: Turn) -> dict:
    """Return the message that stores a turn in the history."""
    message = {"role": "assistant", "content": turn.text or None}
    functions = {call.id: (call.name, call.arguments) for call in turn.tool_calls}
    # The model must see what it wrote, but a provider refuses arguments that are not JSON.
    functions |= {error.id: (error.name, "{}") for error in turn.parse_errors}
    calls = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, (name, arguments) in functions.items()
    ]
    return message | ({"tool_calls": calls} if calls else {})


def tool_message(call_id: str, content: str) -> dict:
    """Return the message with the result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def run_tool(task: Task, name: str, arguments: dict) -> str:
    """Return the result of a tool as text; the model must hear of a failure too."""
    try:
        result = task.call_tool(name, arguments)
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    except KeyError:
        return f"error: the tool {name} does not exist"
    except ToolFailed as problem:
        return f"error: {problem}"
