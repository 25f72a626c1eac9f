"""The package langchain-qwq: `ChatQwen.stream` and the sum of its chunks, as agents use it.

The class extends the one of langchain-openai with the reasoning of Qwen's API, so everything else
is taken from its chunks as there.
"""

from langchain_qwq import ChatQwen

from harness.repro.drivers.shared.langchain_openai import DOCUMENTED, drive


def connect(base_url, http=None):
    """Return the model."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0, "http_client": http}
    return ChatQwen(model="any", **options)
