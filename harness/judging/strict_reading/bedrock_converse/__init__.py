"""The strict reading of the dialect `bedrock-converse`."""

from harness.judging.strict_reading.bedrock_converse.stream import strict_reading

__all__ = ["strict_reading"]
