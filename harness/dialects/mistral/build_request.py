"""The requests of Mistral's chat API, which takes OpenAI's messages.

Source: Mistral's API reference, `POST /v1/chat/completions`.
"""

from typing import Final

from harness.dialects.kit.build_request import RequestForm, chat_body

build_request = chat_body
REQUEST_FORMS: Final = {
    "": RequestForm({"mistral": "https://api.mistral.ai/v1/chat/completions"}, chat_body)
}
