"""The strict reading of the dialect `anthropic`."""

from harness.dialects.anthropic.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
