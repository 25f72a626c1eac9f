"""Define the oracle of the dialect `openai-responses`, from the API's documentation alone."""

from harness.dialects.openai_responses.oracle.body import OpenAIResponsesOracle

__all__ = ["OpenAIResponsesOracle"]
