"""Build the requests of the Google Interactions API, whose input is a list of steps."""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json


def _first_body(spec: kit.RequestSpec) -> Json:
    instructions, question = kit.question_of(spec)
    step = {"type": "user_input", "content": [{"type": "text", "text": question}]}
    start = {"model": spec.model, "stream": True, "system_instruction": instructions}
    return {**start, "input": [step], **kit.flat_declarations(spec.tools)}


REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {"google-gemini": "https://generativelanguage.googleapis.com/v1beta/interactions?alt=sse"},
        _first_body,
        ("input",),
    )
}
