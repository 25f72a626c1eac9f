"""Answer questions about the members of a chat completion chunk, whatever their types are."""

from typing import Final

from harness.dialects.kit.oracle.values import dict_or_empty

# Words of other APIs that OpenRouter forwards as `native_finish_reason`, in lower case: the model
# was stopped, its output cannot be used (Gemini), the upstream server failed.
CUT: Final = frozenset(("length", "max_tokens", "max_output_tokens", "model_length"))
MALFORMED: Final = "malformed_function_call"
UPSTREAM_FAILED: Final = "network_error"
FAILED: Final = frozenset(("error", UPSTREAM_FAILED))


def has_delta(choice: object) -> bool:
    """Return whether a choice has the member `delta`."""
    return isinstance(choice, dict) and "delta" in choice


def has_content(choice: object) -> bool:
    """Return whether a choice adds anything to the turn."""
    members = dict_or_empty(choice)
    delta = dict_or_empty(members.get("delta"))
    added = (value for field, value in delta.items() if field != "role")
    return any(added) or bool(members.get("finish_reason") or members.get("message"))


def repeats(message: object, delta: object) -> bool:
    """Return whether a message has no member that the delta next to it does not have."""
    if not isinstance(message, dict) or not isinstance(delta, dict) or not message:
        return False
    return all((delta.get(key) or None) == (value or None) for key, value in message.items())


def may_have_words(details: object) -> bool:
    """Return whether the reasoning details contain reasoning that can be read."""
    if not details:
        return False
    parts = map(dict_or_empty, details if isinstance(details, list) else [details])
    return any(part.get("text") or part.get("summary") for part in parts)
