"""The requests of Llama models on Amazon Bedrock, which take a prompt and no tools."""

from typing import Final

from harness.dialects.kit.build_request import Json, RequestForm, RequestSpec, question_of


def _plain(asked: RequestSpec) -> Json:
    return {"prompt": question_of(asked)[1], "max_gen_len": 64}


REQUEST_FORMS: Final = {
    "": RequestForm(
        {
            "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
            "/invoke-with-response-stream"
        },
        _plain,
        (),
    )
}
