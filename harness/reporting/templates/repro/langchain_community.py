"""The package langchain-community: the sum of the chunks of `ChatTongyi.stream`."""

import dashscope
import requests
from langchain_community.chat_models import ChatTongyi
from shared.langchain import summed
from shared.langchain_tool import TOOL

DOCUMENTED = (requests.HTTPError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    dashscope.base_http_api_url = base_url
    model = ChatTongyi(model="any", api_key="none", max_retries=1, streaming=True)
    options = REQUEST.get("parameters") or {}
    if options.get("incremental_output") is True:
        chunks = model.bind_tools([TOOL]).stream("any", incremental_output=True)
    else:
        chunks = model.bind_tools([TOOL]).stream("any")
    try:
        turn = summed(chunks)
    except ValueError as error:
        if not str(error).startswith("request_id:"):  # how the package reports a status
            raise
        return {"calls": [], "failed": True}
    return {**turn, "finish": None if turn.get("finish") == "null" else turn.get("finish")}
