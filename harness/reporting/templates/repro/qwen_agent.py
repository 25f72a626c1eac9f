"""The qwen-agent package: `chat(stream=True)` of its OpenAI model, with the raw API."""

from qwen_agent.llm import get_chat_model
from qwen_agent.llm.base import ModelServiceError

DOCUMENTED = (ModelServiceError,)


def drive(base_url):
    """Return the turn as agent code gets it; the package reads no finish reason."""
    options = {"use_raw_api": True, "max_retries": 0}
    model = get_chat_model(
        {
            "model": "any",
            "model_type": "oai",
            "model_server": base_url,
            "api_key": "none",
            "generate_cfg": options,
        }
    )
    *_, messages = [[], *model.chat([{"role": "user", "content": "any"}], stream=True)]
    calls = [message for message in messages if message.get("function_call")]
    return {
        "text": "".join(message["content"] for message in messages),
        "calls": [
            (
                (call.get("extra") or {}).get("function_id"),
                call["function_call"]["name"],
                call["function_call"]["arguments"],
            )
            for call in calls
        ],
    }
