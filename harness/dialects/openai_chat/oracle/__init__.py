"""Define the oracle of the dialect `openai-chat`, from the API's documentation alone."""

from harness.dialects.openai_chat.oracle.body import OpenAIChatOracle

__all__ = ["OpenAIChatOracle"]
