"""The oracle of the dialect openai-chat, written from the documentation of the API alone."""

from harness.dialects.openai_chat.oracle.body import OpenAIChatOracle

__all__ = ["OpenAIChatOracle"]
