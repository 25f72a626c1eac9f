"""The strict reading of the dialect `cohere`."""

from harness.judging.strict_reading.cohere.stream import strict_reading

__all__ = ["strict_reading"]
