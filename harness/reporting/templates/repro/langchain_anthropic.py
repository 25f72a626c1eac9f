"""The package langchain-anthropic: the sum of the chunks of `ChatAnthropic.stream`."""

import anthropic
from langchain_anthropic import ChatAnthropic
from shared.langchain import summed
from shared.langchain_tool import TOOL

DOCUMENTED = (anthropic.APIError,)
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
    model = ChatAnthropic(model="any", base_url=base_url, api_key="none", max_retries=0)
    return summed(model.bind_tools([TOOL]).stream("any"), finish="stop_reason")
