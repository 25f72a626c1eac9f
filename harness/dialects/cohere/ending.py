"""Read how a turn of either version of Cohere's API ends: finish words, token counts, errors.

Source: https://docs.cohere.com/reference/chat and /reference/chat-v1 (`finish_reason`)
"""

from typing import Any, Final

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.reader import finish_reasons, quote
from harness.turns.deltas import FinishReason
from harness.turns.json_values import as_dict

_FINISH: Final = finish_reasons(
    stop=("", "COMPLETE", "STOP_SEQUENCE"),
    tool_calls=("TOOL_CALL",),
    length=("MAX_TOKENS",),
    content_filter=("ERROR_TOXIC",),
)
_FAILED: Final = frozenset(("ERROR", "ERROR_LIMIT", "TIMEOUT", "USER_CANCEL"))
_CODE_FIELDS: Final = ("code", "status_code")
# The tokens themselves, or those that are billed if they are missing.
_COUNTS: Final = ("tokens", "billed_units")


def end(turn: Assembly, word: object, error: object) -> None:
    """End the turn with a finish reason, or fail it if there is an error text."""
    raw = word if isinstance(word, str) else ""
    if raw in _FAILED or error:
        code = raw if raw in _FAILED else "error"
        turn.fail(code, quote(error) or f"the provider finished the turn with {raw!r}")
        return
    turn.finish(_FINISH.get(raw, FinishReason.OTHER), raw)
    turn.close()


def usage(turn: Assembly, counts: object) -> None:
    """Store the token counts in a `usage` (version 2) or `meta` (version 1)."""
    found = map(as_dict(counts).get, _COUNTS)
    tokens = next((each for each in found if isinstance(each, dict)), {})
    turn.usage(_as_integer(tokens.get("input_tokens")), _as_integer(tokens.get("output_tokens")))


def error_of(value: dict[str, Any]) -> tuple[str, str] | None:
    """Return code and message of the error in an object without a type; None if it has none."""
    error, message = value.get("error"), value.get("message")
    if isinstance(error, dict):  # in the shape of other APIs
        error = error.get("message") or error
    message_text = error or (message if isinstance(message, str) else "")
    if not message_text:
        return None
    code = next((value[field] for field in _CODE_FIELDS if value.get(field)), "error")
    return quote(code), quote(message_text)


def _as_integer(count: object) -> object:
    """Return a count as an integer, also if it came as `14.0`."""
    return int(count) if isinstance(count, float) and count.is_integer() else count
