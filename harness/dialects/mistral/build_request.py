"""Build the requests of Mistral's chat API, which takes OpenAI's messages.

Source: Mistral's API reference, `POST /v1/chat/completions`.
"""

from typing import Final

from harness.dialects.kit import build_request as kit

build_request = kit.chat_body
REQUEST_FORMS: Final = {
    "": kit.RequestForm({"mistral": "https://api.mistral.ai/v1/chat/completions"}, kit.chat_body)
}
