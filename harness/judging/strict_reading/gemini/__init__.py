"""The strict reading of the dialect `gemini`."""

from harness.judging.strict_reading.gemini.stream import strict_reading

__all__ = ["strict_reading"]
