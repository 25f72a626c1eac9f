"""Find members of a response whose text is in no part of the oracle's reading.

Servers add members that their API does not have. No rule judges those, so a person who looks at a
turn must see that they exist. This module never decides what such a member means.
"""

from collections.abc import Iterator
from typing import Final

from harness.dialects.table import DIALECTS
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

_MOST: Final = 12
_MOST_TEXTS: Final = 2_000
# Members that describe the response, or repeat the request or an error.
_ABOUT: Final = frozenset(
    {
        "call_id", "channel", "container", "created", "created_at", "done_reason", "encoding",
        "encrypted_content", "error", "event_id", "event_type", "expires_at", "finishReason",
        "finish_reason", "format", "functions", "id", "input", "instructions",
        "interaction_id", "item_id", "message_id", "messages", "modality", "model", "modelVersion",
        "name",
        "native_finish_reason", "object", "obfuscation", "p", "parameters", "phase", "prompt",
        "provider", "reasoning_details", "request", "request_id", "responseId", "response_id",
        "role", "service_tier", "signature", "status", "stop_reason", "stopReason",
        "stop_sequence", "system_fingerprint", "text_format", "thoughtSignature", "timestamp",
        "toolUseId", "tool_call_id", "tool_choice", "tool_use_id", "tools", "truncation", "type",
        "updated", "usage", "usageMetadata", "verbosity", "x_groq",
    }
)  # fmt: skip
# Arguments are values of a tool, and a call that is not read has a quirk.
_ARGUMENTS: Final = frozenset(("arguments", "args", "partial_json", "tool_calls", "functionCall"))


def unread_members(interaction: Interaction, reading: OracleReading) -> tuple[str, ...]:
    """Return the paths of members with text that `reading` does not contain.

    A path has no positions in lists. At most 12 paths are returned, in the order of the body.

    Args:
        interaction: the interaction with the body.
        reading: the oracle's reading of the body.
    """
    known = _texts_of(reading)
    found: dict[str, None] = {}
    texts: set[str] = set()
    for path, text in _iter_texts(interaction):
        if path not in found and text not in texts:
            texts.add(text)
            if not any(text in each for each in known):
                found[path] = None
        if len(texts) > _MOST_TEXTS or len(found) == _MOST:
            break
    return tuple(found)


def _texts_of(reading: OracleReading) -> tuple[str, ...]:
    readings = (reading, *reading.alternatives)
    texts = {text for each in readings for text in (each.text, each.reasoning, each.refusal)}
    calls = [call for each in readings for call in each.calls or ()]
    texts |= {text for call in calls for text in (call.id, call.name, call.arguments)}
    texts |= {text for each in readings for text in each.error or ()}
    return tuple(texts | set(reading.finishes))


def _iter_texts(interaction: Interaction) -> Iterator[tuple[str, str]]:
    """Yield path and value of each text in the events, without what only describes them."""
    row = DIALECTS[interaction.dialect]
    for event in row.oracle().events(interaction.body):
        waiting: list[tuple[str, object]] = [
            ("", json_or_none(event.data.encode(errors="replace")))
        ]
        while waiting:
            path, value = waiting.pop()
            if isinstance(value, str) and path and value.strip():
                yield path, value
            elif isinstance(value, list):
                waiting += ((path, each) for each in reversed(value))
            elif isinstance(value, dict) and not value.get("special"):  # a token that ends a turn
                members = ((key, inner) for key, inner in value.items() if _may_be_content(key))
                found = [(f"{path}.{key}".lstrip("."), inner) for key, inner in members]
                waiting += reversed(found)


def _may_be_content(key: str) -> bool:
    return key not in _ABOUT and key not in _ARGUMENTS
