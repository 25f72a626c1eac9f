"""The requests of the legacy completions API, which take a prompt and no tools."""

from typing import Final

from harness.dialects.kit.build_request import Json, RequestForm, RequestSpec, question_of


def _plain(asked: RequestSpec) -> Json:
    _, question = question_of(asked)
    return {"model": asked.model, "stream": True, "prompt": question, "max_tokens": 40}


REQUEST_FORMS: Final = {
    "": RequestForm(
        {
            "azure": "https://example.openai.azure.com/openai/deployments/{model}/completions",
            "compatible": "https://llm.example.com/v1/completions",
            "openai": "https://api.openai.com/v1/completions",
        },
        _plain,
        (),
    )
}
