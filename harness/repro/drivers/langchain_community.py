"""The package langchain-community: `ChatTongyi.stream` and the sum of its chunks.

The class calls the package dashscope. Unless a user asks for what is new in each event, it gets
everything so far in each, and subtracts what came before.
"""

import dashscope
import requests
from langchain_community.chat_models import ChatTongyi

from harness.repro.drivers.shared.dashscope_words import FINISH, stream_options
from harness.repro.drivers.shared.langchain import events_of
from harness.repro.drivers.shared.langchain_tool import TOOL


class StatusError(Exception):
    """A status that the package reports with `ValueError`."""


DOCUMENTED = (requests.HTTPError, StatusError)


def connect(base_url, http=None):
    """Return the model, which takes a session."""
    dashscope.base_http_api_url = base_url
    model = ChatTongyi(
        model="any",
        api_key="none",
        max_retries=1,
        streaming=True,  # otherwise its method `stream` does not stream
        model_kwargs={"session": http},
    )
    return model.bind_tools([TOOL])


def drive(client, request):
    """Yield what agent code gets."""
    chunks = chunks_of(client.stream([("user", "any")], **stream_options(request)))
    return events_of(chunks, DOCUMENTED, end, usage=usage)


def chunks_of(chunks):
    """Yield the chunks; the package raises `ValueError` for the statuses 400 and 401."""
    try:
        yield from chunks
    except ValueError as error:
        if str(error).startswith("request_id:"):
            raise StatusError(str(error)) from None
        raise


def end(total):
    """Return the end of the sum of the chunks; "null" says that there was none."""
    word = total.response_metadata.get("finish_reason")
    return "finish", None if word == "null" else word, FINISH.get(str(word), "other")


def usage(total):
    """Return the counts of tokens."""
    return total.response_metadata.get("token_usage")
