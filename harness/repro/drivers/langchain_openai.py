"""The package langchain-openai: `ChatOpenAI.stream` and the sum of its chunks, as agents use it.

Calls of the older API are taken from `additional_kwargs["function_call"]`.
"""

from langchain_openai import ChatOpenAI

from harness.repro.drivers.shared.langchain_openai import DOCUMENTED, drive
from harness.repro.drivers.shared.times import times_of


def connect(base_url, http=None, timeout=None, max_retries=0):
    """Return the model."""
    options = {"base_url": base_url, "api_key": "none", "http_client": http}
    options |= times_of(timeout, max_retries)
    return ChatOpenAI(model="any", use_responses_api=False, **options)
