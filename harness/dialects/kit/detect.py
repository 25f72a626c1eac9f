"""One event of a response -> the dialect that only its spelling tells, from tables.

A mark is strong where no other dialect writes it. Errors look alike in many APIs, so what
they tell is weak: it counts only where nothing else does.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from harness.providers import UNKNOWN

OPENAI_CHAT: Final = "openai-chat"
COMPLETIONS: Final = "openai-completions"
RESPONSES: Final = "openai-responses"
ANTHROPIC: Final = "anthropic"
GEMINI: Final = "gemini"
INTERACTIONS: Final = "google-interactions"
OLLAMA: Final = "ollama"
COHERE: Final = "cohere"
MISTRAL: Final = "mistral"
DASHSCOPE: Final = "dashscope"
CONVERSE: Final = "bedrock-converse"
LLAMA: Final = "bedrock-llama"
TGI: Final = "tgi"


class Mark(msgspec.Struct, frozen=True):
    """What one event tells.

    Fields:
        dialect: "unknown" where it tells none.
        strong: False where other dialects write such an event too.
        said: the words of the event that tell it.
    """

    dialect: str = UNKNOWN
    strong: bool = False
    said: str = ""


NO_MARK: Final = Mark()

# Key -> (how its value begins, dialect); the first that fits counts. A value that ends in
# `$` must be met whole.
_VALUE_MARKS: Final = {
    "type": (
        ("response.", RESPONSES),
        ("session.", RESPONSES),
        ("conversation.item.", RESPONSES),
        ("message_start$", ANTHROPIC),
        ("message_delta$", ANTHROPIC),
        ("message_stop$", ANTHROPIC),
        ("content_block_", ANTHROPIC),
        ("message-start$", COHERE),
        ("message-end$", COHERE),
        ("content-start$", COHERE),
        ("content-delta$", COHERE),
        ("content-end$", COHERE),
        ("tool-plan-delta$", COHERE),
        ("tool-call-", COHERE),
        ("citation-", COHERE),
    ),
    "event_type": (
        ("interaction.", INTERACTIONS),
        ("content.", INTERACTIONS),
        ("step.", INTERACTIONS),
        ("stream-start$", COHERE),
        ("text-generation$", COHERE),
        ("tool-calls-", COHERE),
        ("stream-end$", COHERE),
    ),
}
# `object` comes after the shape of the choices, since servers get it wrong.
_OBJECTS: Final = (
    ("chat.completion", OPENAI_CHAT),
    ("text_completion$", COMPLETIONS),
    ("response$", RESPONSES),
    ("interaction$", INTERACTIONS),
)
# The names of an AWS event-stream message, or the one key around an event in a list of them.
_CONVERSE_EVENTS: Final = frozenset(
    {
        "contentBlockDelta",
        "contentBlockStart",
        "contentBlockStop",
        "messageStart",
        "messageStop",
        "metadata",
    }
)
# Keys that stand together, and that they are a mark of.
_KEY_MARKS: Final = tuple(
    (frozenset(keys.split()), dialect)
    for keys, dialect in (
        ("candidates", GEMINI),
        ("promptFeedback", GEMINI),
        ("usageMetadata modelVersion", GEMINI),
        ("done created_at", OLLAMA),
        ("done message", OLLAMA),
        ("done response", OLLAMA),
        ("output request_id", DASHSCOPE),
        ("token details", TGI),
        ("token generated_text", TGI),
        ("generated_text", TGI),
        ("generation stop_reason", LLAMA),
        ("generation prompt_token_count", LLAMA),
        ("contentBlockIndex", CONVERSE),
        ("stopReason metrics", CONVERSE),
        ("output stopReason", CONVERSE),
        ("contentBlockDelta", CONVERSE),
        ("contentBlockStart", CONVERSE),
        ("messageStart", CONVERSE),
        ("generation_id text", COHERE),
        ("finish_reason message usage", COHERE),
        ("steps object", INTERACTIONS),
    )
)
# The type of a whole answer in Anthropic's API; too common a word to tell without the role.
_ANTHROPIC_ANSWER: Final = {"type": "message", "role": "assistant"}
# Where it stands beside choices, Mistral pads its chunks.
_MISTRAL_PADDING: Final = "p"


def mark_of(event: object, name: str = "") -> Mark:
    """Return what `event` tells, which the framing calls `name`."""
    if not isinstance(event, dict):
        return NO_MARK
    if name in _CONVERSE_EVENTS:
        return Mark(CONVERSE, strong=True, said=name)
    return _strong_mark(event) or _weak_mark(event) or NO_MARK


def first_mark(events: Iterable[tuple[object, str]]) -> Mark:
    """Return the first strong mark among `events` and their names, else the first weak one."""
    weak = NO_MARK
    for event, name in events:
        mark = mark_of(event, name)
        if mark.strong:
            return mark
        weak = weak if weak.said else mark
    return weak


def _strong_mark(event: dict[str, Any]) -> Mark | None:
    for key, table in _VALUE_MARKS.items():
        if key in event and (dialect := _by_value(event[key], table)):
            return Mark(dialect, strong=True, said=f"{key} {event[key]}")
    if isinstance(event.get("choices"), list) and (mark := _by_choices(event)):
        return mark
    if dialect := _by_value(event.get("object"), _OBJECTS):
        return Mark(dialect, strong=True, said=f"object {event['object']}")
    if _ANTHROPIC_ANSWER.items() <= _texts(event).items():
        return Mark(ANTHROPIC, strong=True, said="type message")
    return next(
        (
            Mark(dialect, strong=True, said=" ".join(sorted(keys)))
            for keys, dialect in _KEY_MARKS
            if keys <= event.keys()
        ),
        None,
    )


def _by_value(value: object, table: Iterable[tuple[str, str]]) -> str:
    if not isinstance(value, str):
        return ""
    whole = f"{value}$"
    return next((dialect for start, dialect in table if whole.startswith(start)), "")


def _by_choices(event: dict[str, Any]) -> Mark | None:
    """Tell the kinds of completion apart by what a choice holds, whatever `object` says."""
    choice = next((choice for choice in event["choices"] if isinstance(choice, dict)), None)
    if choice is None:
        return None
    if "delta" not in choice and "message" not in choice:
        return Mark(COMPLETIONS, strong=True, said="choices text") if "text" in choice else None
    if isinstance(event.get(_MISTRAL_PADDING), str):
        return Mark(MISTRAL, strong=True, said="choices p")
    return Mark(OPENAI_CHAT, strong=True, said="choices delta")


def _texts(event: dict[str, Any]) -> dict[str, str]:
    return {key: value for key, value in event.items() if isinstance(value, str)}


def _weak_mark(event: dict[str, Any]) -> Mark | None:
    """Tell what an error or a stray event looks like."""
    return next(
        (Mark(dialect, said=said) for test, dialect, said in _WEAK_MARKS if test(event)), None
    )


# What an event looks like -> a dialect that has such events, and the words.
_WEAK_MARKS: Final[tuple[tuple[Callable[[dict[str, Any]], bool], str, str], ...]] = (
    (lambda event: bool(_error(event)) and event.get("type") == "error", ANTHROPIC, "type error"),
    (lambda event: isinstance(_error(event).get("status"), str), GEMINI, "error status"),
    (lambda event: bool(_error(event)), OPENAI_CHAT, "error"),
    (lambda event: event.get("type") == "ping", ANTHROPIC, "type ping"),
    (lambda event: isinstance(event.get("choices"), list), OPENAI_CHAT, "choices"),
    (lambda event: "usageMetadata" in event, GEMINI, "usageMetadata"),
)


def _error(event: dict[str, Any]) -> dict[str, Any]:
    error = event.get("error")
    return error if isinstance(error, dict) else {}
