"""Build the requests of the legacy completions API, which take a prompt and no tools."""

from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json


def _first_body(spec: kit.RequestSpec) -> Json:
    _, question = kit.question_of(spec)
    return {"model": spec.model, "stream": True, "prompt": question, "max_tokens": 40}


REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {
            "azure": "https://example.openai.azure.com/openai/deployments/{model}/completions",
            "compatible": "https://llm.example.com/v1/completions",
            "openai": "https://api.openai.com/v1/completions",
        },
        _first_body,
        (),
    )
}
