"""Build the requests of Llama models on Amazon Bedrock, which take a prompt and no tools."""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json


def _first_body(spec: kit.RequestSpec) -> Json:
    return {"prompt": kit.question_of(spec)[1], "max_gen_len": 64}


REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {
            "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
            "/invoke-with-response-stream"
        },
        _first_body,
        (),
    )
}
