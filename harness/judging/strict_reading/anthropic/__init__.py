"""The strict reading of the dialect `anthropic`."""

from harness.judging.strict_reading.anthropic.stream import strict_reading

__all__ = ["strict_reading"]
