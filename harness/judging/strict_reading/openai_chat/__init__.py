"""The strict reading of the dialect `openai-chat`."""

from harness.judging.strict_reading.openai_chat.stream import strict_reading

__all__ = ["strict_reading"]
