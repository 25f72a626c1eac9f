"""The requests of the Google Interactions API, whose input is a list of steps."""

from typing import Final

from harness.dialects.kit.build_request import (
    Json,
    RequestForm,
    RequestSpec,
    flat_declarations,
    question_of,
)


def _plain(asked: RequestSpec) -> Json:
    instructions, question = question_of(asked)
    step = {"type": "user_input", "content": [{"type": "text", "text": question}]}
    start = {"model": asked.model, "stream": True, "system_instruction": instructions}
    return {**start, "input": [step], **flat_declarations(asked.tools)}


REQUEST_FORMS: Final = {
    "": RequestForm(
        {"google-gemini": "https://generativelanguage.googleapis.com/v1beta/interactions?alt=sse"},
        _plain,
        ("input",),
    )
}
