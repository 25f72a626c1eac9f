"""A request's body, in any dialect that agents ask in -> messages in OpenAI's form.

It reads what was really sent and shares nothing with the code that spelled it. It never raises,
whatever a body is.
"""

from harness.judging.conversations.chat_form.form import FIELD_OF_REASONING, Json
from harness.judging.conversations.chat_form.message import calls_of, role_of, text_of
from harness.judging.conversations.chat_form.table import (
    as_read,
    body_of,
    messages_of,
    options_of,
    tool_names,
)

__all__ = [
    "FIELD_OF_REASONING",
    "Json",
    "as_read",
    "body_of",
    "calls_of",
    "messages_of",
    "options_of",
    "role_of",
    "text_of",
    "tool_names",
]
