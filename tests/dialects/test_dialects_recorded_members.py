"""Writers write what every recorded stream of their API has, beyond what a reader needs."""

import json
from typing import Any, Final

from harness.dialects.table import DIALECTS
from harness.turns.deltas import Finish, FinishReason, TextDelta, Usage, UsageDelta
from harness.wire.framing import iter_frames
from tests.tables import each_row

DELTAS: Final = (
    TextDelta("hi"),
    UsageDelta(Usage(3, 4)),
    Finish(FinishReason.STOP),
)
_RESPONSE: Final = (
    *("background", "created_at", "error", "id", "incomplete_details", "instructions"),
    *("max_output_tokens", "metadata", "model", "object", "output", "parallel_tool_calls"),
    *("previous_response_id", "reasoning", "service_tier", "status", "store", "temperature"),
    *("text", "tool_choice", "tools", "top_p", "truncation", "usage", "user"),
)
# Dialect, path to an object in the first event (0) or in the last one (-1), its members. Each
# member is in at least 96 % of the recorded streams of the API; most are in all of them.
MEMBERS: Final[tuple[tuple[str, int, tuple[str | int, ...], tuple[str, ...]], ...]] = (
    ("openai-chat", 0, (), ("id", "object", "created", "model", "choices")),
    ("openai-chat", 0, ("choices", 0), ("index", "delta", "finish_reason")),
    ("openai-chat", 0, ("choices", 0, "delta"), ("role", "content")),
    ("openai-responses", 0, (), ("type", "sequence_number", "response")),
    ("openai-responses", 0, ("response",), _RESPONSE),
    ("openai-responses", -1, ("response",), _RESPONSE),
    ("anthropic", 0, ("message",), ("id", "type", "role", "model", "content", "stop_reason")),
    ("anthropic", 0, ("message", "usage"), ("input_tokens", "output_tokens")),
    ("gemini", 0, (), ("candidates", "usageMetadata", "modelVersion", "responseId")),
    ("gemini", 0, ("usageMetadata",), ("promptTokenCount", "promptTokensDetails")),
    ("gemini", -1, ("usageMetadata",), ("promptTokenCount", "totalTokenCount")),
    ("cohere", 0, ("delta", "message"), ("role", "content", "tool_plan", "tool_calls")),
    ("cohere", -1, ("delta", "usage"), ("billed_units", "tokens", "cached_tokens")),
    ("google-interactions", 1, (), ("event_type", "interaction_id", "status")),
    ("google-interactions", -1, ("interaction",), ("created", "updated", "service_tier")),
    (
        "google-interactions",
        -1,
        ("interaction", "usage"),
        (
            *("input_tokens_by_modality", "total_cached_tokens", "total_input_tokens"),
            *("total_output_tokens", "total_thought_tokens", "total_tool_use_tokens"),
        ),
    ),
)


def _events(dialect: str) -> list[Any]:
    body = b"".join(DIALECTS[dialect].write(DELTAS))
    return [json.loads(frame.data) for frame in iter_frames([body]) if frame.data != b"[DONE]"]


@each_row(("dialect", "at", "path", "members"), MEMBERS)
def test_a_written_event_has_the_members_of_recorded_ones(
    dialect: str, at: int, path: tuple[str | int, ...], members: tuple[str, ...]
) -> None:
    found = _events(dialect)[at]
    for key in path:
        found = found[key]
    assert set(members) <= set(found)


def test_a_status_update_follows_the_start_of_an_interaction() -> None:
    first, second, *_ = _events("google-interactions")
    assert first["event_type"] == "interaction.created"
    assert (second["event_type"], second["status"]) == (
        "interaction.status_update",
        "in_progress",
    )
