"""The strict reading of the dialect `dashscope`."""

from harness.judging.strict_reading.dashscope.stream import strict_reading

__all__ = ["strict_reading"]
