"""The oracle of the dialect openai-responses, written from the documentation of the API alone."""

from harness.dialects.openai_responses.oracle.body import OpenAIResponsesOracle

__all__ = ["OpenAIResponsesOracle"]
