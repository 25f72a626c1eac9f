"""The package langchain-openai: the sum of the chunks of `ChatOpenAI.stream`."""

import openai
from langchain_openai import ChatOpenAI
from shared.langchain import summed

DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    model = ChatOpenAI(
        model="any", base_url=base_url, api_key="none", max_retries=0, use_responses_api=False
    )
    options = {key: REQUEST[key] for key in ("response_format",) if key in REQUEST}
    return summed(model.stream("any", **options))
