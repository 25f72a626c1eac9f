"""A request's body -> its messages, its tools, and what else it says, by dialect."""

from typing import Final

from msgspec.structs import replace

from harness.judging.conversations.chat_form import (
    anthropic,
    bedrock_converse,
    chat,
    gemini,
    openai_responses,
)
from harness.judging.conversations.chat_form.form import FIELD_OF_REASONING, Form, Json
from harness.providers import Capabilities
from harness.wire.payload import NotJson, decode_json

_FORMS: Final[dict[str, Form]] = {
    "anthropic": anthropic.FORM,
    "bedrock-converse": bedrock_converse.FORM,
    "gemini": gemini.FORM,
    "ollama": chat.OLLAMA,
    "openai-responses": openai_responses.FORM,
}


def body_of(body: bytes) -> Json:
    """Return the object that a request's body is; {} where it is none."""
    try:
        value = decode_json(body)
    except NotJson:
        return {}
    return value if isinstance(value, dict) else {}


def messages_of(dialect: str, body: Json) -> tuple[object, ...]:
    """Return the messages of a request, whatever they are; () where it has none."""
    return tuple(_form(dialect).messages(body))


def tool_names(dialect: str, body: Json) -> tuple[str, ...] | None:
    """Return the names of the tools that a request declares; None where it declares none."""
    declared = tuple(_form(dialect).tools(body))
    return tuple(str(each.get("name")) for each in declared if isinstance(each, dict)) or None


def options_of(dialect: str, body: Json) -> Json:
    """Return the members of a body that hold neither messages nor tools."""
    return {key: value for key, value in body.items() if key not in _form(dialect).fields}


def as_read(dialect: str, capabilities: Capabilities) -> Capabilities:
    """Return `capabilities` in the words of messages as they are read here.

    Where content is a list of blocks, nothing beside calls has one form only.
    """
    if not _form(dialect).blocks:
        return capabilities
    field = FIELD_OF_REASONING if capabilities.reasoning_field else ""
    return replace(capabilities, content_beside_calls="null", reasoning_field=field)


def _form(dialect: str) -> Form:
    return _FORMS.get(dialect, chat.OPENAI)
