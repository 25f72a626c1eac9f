"""The package langchain-mistralai: `ChatMistralAI.stream` and the sum of its chunks."""

import httpx
from langchain_mistralai import ChatMistralAI

from harness.repro.drivers.shared.ends import failure_of
from harness.repro.drivers.shared.langchain import events_of
from harness.repro.drivers.shared.langchain_tool import TOOL
from harness.repro.drivers.shared.mistral_words import FINISH

# The package retries after these two, which its sync method `stream` does not.
DOCUMENTED = (httpx.HTTPStatusError, httpx.RequestError)


def connect(base_url, http=None):
    """Return the model, which takes a client, for which there is a transport."""
    client = httpx.Client(base_url=base_url, transport=http)
    model = ChatMistralAI(model="any", api_key="none", max_retries=1, client=client)
    return model.bind_tools([TOOL])


def drive(client):
    """Yield what agent code gets."""
    return events_of(client.stream([("user", "any")]), DOCUMENTED, end, failure)


def failure(error):
    """Return code and message with the status of the response, if there is one."""
    response = getattr(error, "response", None)
    if response is None:
        return failure_of(error)
    return f"http_{response.status_code}", str(error)


def end(total):
    """Return the end of the sum of the chunks."""
    word = total.response_metadata.get("finish_reason")
    if word == "error":
        return "failure", word, "the finish reason is error"
    return "finish", word, FINISH.get(str(word), "other")
