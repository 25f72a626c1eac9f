"""The strict reading of the dialect `gemini`."""

from harness.dialects.gemini.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
