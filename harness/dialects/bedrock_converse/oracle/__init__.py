"""The strict reading of the dialect `bedrock-converse`."""

from harness.dialects.bedrock_converse.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
