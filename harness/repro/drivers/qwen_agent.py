"""The qwen-agent package: `get_chat_model(...).chat(stream=True)` with the raw API.

Each item is the list of messages so far. Text, reasoning and calls are taken from them; its agents
execute the calls of the last list. The package reads neither finish reason nor usage.
"""

from qwen_agent.llm import get_chat_model
from qwen_agent.llm.base import ModelServiceError
from qwen_agent.llm.schema import Message

from harness.repro.drivers.shared.ends import failure_of
from harness.repro.drivers.shared.named import named

DOCUMENTED = (ModelServiceError,)


def connect(base_url):
    """Return the model."""
    options = {"use_raw_api": True, "max_retries": 0}
    server = {"model_type": "oai", "model_server": base_url, "api_key": "none"}
    return get_chat_model({"model": "any", **server, "generate_cfg": options})


def drive(client):
    """Yield what agent code gets."""
    messages, text, reasoning = [], "", ""
    try:
        for messages in client.chat([Message(role="user", content="any")], stream=True):
            before = reasoning, text
            reasoning = "".join(it.reasoning_content or "" for it in messages)
            text = "".join(it.content for it in messages)
            if reasoning != before[0]:
                yield "reasoning", reasoning.removeprefix(before[0])
            if text != before[1]:
                yield "text", text.removeprefix(before[1])
    except DOCUMENTED as error:
        yield "failure", *failure_of(error.exception)
        return
    if not messages:
        yield "failure", "empty_stream", "no message came"
        return
    for message in messages:
        if call := message.function_call:
            yield named("call", message.extra.get("function_id"), call.name, call.arguments)
    yield "finish", None, "other"
