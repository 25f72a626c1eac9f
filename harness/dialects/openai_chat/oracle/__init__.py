"""The strict reading of the dialect `openai-chat`."""

from harness.dialects.openai_chat.oracle.stream import oracle_reading

__all__ = ["oracle_reading"]
