"""Build the requests of text-generation-inference, which take a prompt and no tools."""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json


def _first_body(spec: kit.RequestSpec) -> Json:
    parameters = {"max_new_tokens": 40, "details": True}
    return {"inputs": kit.question_of(spec)[1], "parameters": parameters}


REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {"huggingface": "https://tgi.example.com/models/{model}/generate_stream"}, _first_body, ()
    )
}
