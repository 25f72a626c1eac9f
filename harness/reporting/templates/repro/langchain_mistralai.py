"""The package langchain-mistralai: the sum of the chunks of `ChatMistralAI.stream`."""

import httpx
from langchain_mistralai import ChatMistralAI
from shared.langchain import summed
from shared.langchain_tool import TOOL

DOCUMENTED = (httpx.HTTPStatusError, httpx.RequestError)
FINISH = {"model_length": "length"}


def drive(base_url):
    """Return the turn as agent code gets it."""
    model = ChatMistralAI(model="any", base_url=base_url, api_key="none", max_retries=1)
    turn = summed(model.bind_tools([TOOL]).stream("any"))
    return {**turn, "failed": turn["failed"] or turn["finish"] == "error"}
