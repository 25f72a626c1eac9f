"""Build a request of the chat completions API from a history, which has the same format.

Source: OpenAI API reference, `POST /chat/completions`.
"""

from typing import Final

from harness.dialects.kit import build_request as kit

build_request = kit.chat_body
REQUEST_FORMS: Final = {
    "": kit.RequestForm(
        {
            "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
            "/invoke-with-response-stream",
            "azure": "https://example.openai.azure.com/openai/deployments/any/chat/completions",
            "compatible": "https://llm.example.com/v1/chat/completions",
            "dashscope": "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions",
            "openai": "https://api.openai.com/v1/chat/completions",
            "openrouter": "https://openrouter.ai/api/v1/chat/completions",
            "volcengine": "https://ark.cn-beijing.volces.com/api/v3/chat/completions",
        },
        kit.chat_body,
    )
}
