"""The package langchain-anthropic: `ChatAnthropic.stream` and the sum of its chunks."""

import anthropic
from langchain_anthropic import ChatAnthropic

from harness.repro.drivers.shared.anthropic_words import FINISH, failure_with_body
from harness.repro.drivers.shared.langchain import events_of
from harness.repro.drivers.shared.langchain_tool import TOOL

DOCUMENTED = (anthropic.APIError,)


def connect(base_url):
    """Return the model; the class has no option for an HTTP client."""
    model = ChatAnthropic(model="any", base_url=base_url, api_key="none", max_retries=0)
    return model.bind_tools([TOOL])


def drive(client):
    """Yield what agent code gets."""
    return events_of(client.stream([("user", "any")]), DOCUMENTED, end, failure_with_body)


def end(total):
    """Return the end of the sum of the chunks."""
    word = total.response_metadata.get("stop_reason")
    return "finish", word, FINISH.get(str(word), "other")
