"""Where the texts of a response stand: pieces, whole texts, and parts of items.

The Realtime API names the same events otherwise; drafts and gateways have names of their own.
Source: OpenAI API reference, "Responses: streaming events" and "Realtime: server events".
"""

from typing import Any, Final

from harness.dialects.openai_responses.items import text

# Event -> which text of its item its `delta` continues.
PIECES: Final = {
    "response.output_text.delta": "text",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_text.delta": "reasoning",
    "response.refusal.delta": "refusal",
    # Drafts and servers that follow them.
    "response.reasoning_summary.delta": "summary",
    "response.reasoning.delta": "reasoning",
    # Realtime; what is spoken is told by its transcript.
    "response.text.delta": "text",
    "response.audio_transcript.delta": "text",
    "response.output_audio_transcript.delta": "text",
}
# Event -> which text of its item it holds as a whole, and where.
WHOLES: Final = {
    "response.output_text.done": ("text", "text"),
    "response.reasoning_summary_text.done": ("summary", "text"),
    "response.reasoning_text.done": ("reasoning", "text"),
    "response.refusal.done": ("refusal", "refusal"),
    "response.reasoning_summary.done": ("summary", "text"),
    "response.reasoning.done": ("reasoning", "text"),
    "response.text.done": ("text", "text"),
    "response.audio_transcript.done": ("text", "transcript"),
    "response.output_audio_transcript.done": ("text", "transcript"),
}
# Type of a content part -> the text that it is a part of, and where it stands.
_PARTS: Final = {
    "output_text": ("text", "text"),
    "text": ("text", "text"),
    "audio": ("text", "transcript"),
    "output_audio": ("text", "transcript"),
    "refusal": ("refusal", "refusal"),
    "reasoning_text": ("reasoning", "text"),
    "summary_text": ("summary", "text"),
}


def texts_of(value: dict[str, Any]) -> dict[str, list[str]]:
    """Return the texts of a whole item, by field."""
    found: dict[str, list[str]] = {}
    for parts in (value.get("summary"), value.get("content")):
        if not parts or not isinstance(parts, list):
            continue
        for part in parts:
            known = _PARTS.get(text(part.get("type"))) if isinstance(part, dict) else None
            if known and (piece := text(part.get(known[1]))):
                found.setdefault(known[0], []).append(piece)
    return found
