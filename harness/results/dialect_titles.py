"""Define the title of the API of each dialect, for reports, which import no dialect."""

from typing import Final

# In the order of `harness.dialects.table`, which reports keep.
DIALECT_TITLES: Final = {
    "anthropic": "Anthropic Messages API, also on Vertex AI, Azure and Amazon Bedrock",
    "bedrock-converse": "Amazon Bedrock ConverseStream",
    "bedrock-llama": "Meta's Llama under Amazon Bedrock InvokeModelWithResponseStream",
    "cohere": "Cohere Chat API v2, and v1",
    "dashscope": "Alibaba DashScope, native generation API",
    "gemini": "Gemini API and Vertex AI, streamGenerateContent",
    "gemini-live": "Gemini Live API, over WebSocket",
    "google-interactions": "Google Interactions API",
    "mistral": "Mistral chat completions",
    "ollama": "Ollama, /api/chat and /api/generate",
    "openai-chat": "OpenAI chat completions, as many providers implement it",
    "openai-completions": "OpenAI legacy completions",
    "openai-responses": "OpenAI Responses API, and the events of its Realtime API",
    "tgi": "Hugging Face text-generation-inference, /generate_stream",
}
