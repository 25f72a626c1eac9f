"""How tools are asked for: versioned prompts, an axis of the rankings.

The text of an id never changes: another wording is another version, so that a cassette's
prompt says what its model was told.
"""

from harness.conversation.prompts.table import PROMPTS, Prompt, Protocol, find_prompt, system_text

__all__ = ["PROMPTS", "Prompt", "Protocol", "find_prompt", "system_text"]
