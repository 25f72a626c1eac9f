"""One message in OpenAI's form, whatever it is -> its role, its text, its calls."""

from collections.abc import Iterator


def text_of(message: object) -> str:
    """Return the text of a message, its parts joined."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def role_of(message: object) -> str:
    """Return the role of a message; "" where it has none."""
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""


def calls_of(message: object) -> Iterator[tuple[str, str, str]]:
    """Yield id, name and arguments of the calls of a message, as far as they are texts."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield (
                str(call.get("id") or ""),
                str(function.get("name") or ""),
                str(function.get("arguments") or ""),
            )
