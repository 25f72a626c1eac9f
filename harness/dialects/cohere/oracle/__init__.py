"""The strict reading of the dialect `cohere`."""

from harness.dialects.cohere.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
