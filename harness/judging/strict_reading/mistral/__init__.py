"""The strict reading of the dialect `mistral`."""

from harness.judging.strict_reading.mistral.stream import strict_reading

__all__ = ["strict_reading"]
