"""The strict reading of the dialect `mistral`."""

from harness.dialects.mistral.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
