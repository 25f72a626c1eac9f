"""The strict reading of the dialect `dashscope`."""

from harness.dialects.dashscope.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
