"""The strict reading of the dialect `openai-responses`."""

from harness.dialects.openai_responses.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
