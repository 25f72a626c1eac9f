"""The requests of text-generation-inference, which take a prompt and no tools."""

from typing import Final

from harness.dialects.kit.build_request import Json, RequestForm, RequestSpec, question_of


def _plain(asked: RequestSpec) -> Json:
    parameters = {"max_new_tokens": 40, "details": True}
    return {"inputs": question_of(asked)[1], "parameters": parameters}


REQUEST_FORMS: Final = {
    "": RequestForm(
        {"huggingface": "https://tgi.example.com/models/{model}/generate_stream"}, _plain, ()
    )
}
