"""The package llama-index-llms-openai-like: the last response of `OpenAILike.stream_chat`."""

import openai
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    model = OpenAILike(
        model="any",
        api_base=base_url,
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )
    responses = list(model.stream_chat([ChatMessage("any")]))
    if not responses:
        return {"calls": [], "failed": True}
    ends = [it.raw.choices[0].finish_reason for it in responses if it.raw.choices]
    finish = ([None] + [word for word in ends if word])[-1]
    calls = model.get_tool_calls_from_response(responses[-1], error_on_no_tool_call=False)
    return {
        "text": "".join(response.delta or "" for response in responses),
        "calls": [(call.tool_id, call.tool_name, call.tool_kwargs) for call in calls],
        "validates": finish == "length",
        "finish": finish,
    }
