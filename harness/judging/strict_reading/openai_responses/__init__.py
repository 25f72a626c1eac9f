"""The strict reading of the dialect `openai-responses`."""

from harness.judging.strict_reading.openai_responses.stream import strict_reading

__all__ = ["strict_reading"]
