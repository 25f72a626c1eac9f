"""The words of the Converse API: why a model stopped, and how the service says an error.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html
and https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
"""

from typing import Any, Final

from harness.turns.deltas import FinishReason
from harness.turns.event_reader import quote

FINISH: Final = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "content_filtered": FinishReason.CONTENT_FILTER,
}
# The model's output could not be used: what there is of it must not be.
FAILED: Final = frozenset(("malformed_model_output", "malformed_tool_use"))
# The type of a block whose tool the provider runs itself; its result is a block as well.
SERVER_TOOL: Final = "server_tool_use"

_MESSAGE_KEYS: Final = ("message", "Message", "errorMessage")
_TYPE_KEYS: Final = ("__type", "code", "Code", "type")


def error_of(value: dict[str, Any]) -> tuple[str, str] | None:
    """Return code and words of an error body, or None where it is none."""
    output = value.get("Output")
    if type(output) is dict and "__type" in output:
        value = output
    words = next((value[key] for key in _MESSAGE_KEYS if value.get(key)), None)
    if type(words) is not str and "__type" not in value:
        return None
    code = next((value[key] for key in _TYPE_KEYS if type(value.get(key)) is str), "")
    return code.rpartition("#")[2] or "error", quote(words)
