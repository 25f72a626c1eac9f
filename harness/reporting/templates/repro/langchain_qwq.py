"""The package langchain-qwq: the sum of the chunks of `ChatQwen.stream`."""

import openai
from langchain_qwq import ChatQwen
from shared.langchain import summed

DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    model = ChatQwen(model="any", base_url=base_url, api_key="none", max_retries=0)
    options = {key: REQUEST[key] for key in ("response_format",) if key in REQUEST}
    return summed(model.stream("any", **options))
