"""The oracles by dialect, and what holds for all of them: an error status is an error."""

from collections.abc import Callable
from typing import Final

import msgspec

from harness.dialects.anthropic.oracle import AnthropicOracle
from harness.dialects.bedrock_converse.oracle import BedrockConverseOracle
from harness.dialects.bedrock_llama.oracle import BedrockLlamaOracle
from harness.dialects.cohere.oracle import CohereOracle
from harness.dialects.dashscope.oracle import DashScopeOracle
from harness.dialects.gemini.oracle import GeminiOracle
from harness.dialects.google_interactions.oracle import GoogleInteractionsOracle
from harness.dialects.kit.oracle.dispatch import Oracle
from harness.dialects.kit.oracle.markup import abstain_on_markup
from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.mistral.oracle import MistralOracle
from harness.dialects.ollama.oracle import OllamaOracle
from harness.dialects.openai_chat.oracle import OpenAIChatOracle
from harness.dialects.openai_completions.oracle import OpenAICompletionsOracle
from harness.dialects.openai_responses.oracle import OpenAIResponsesOracle
from harness.dialects.tgi.oracle import TgiOracle
from harness.errors import UsageError
from harness.wire.interaction import Interaction

ORACLES: Final[dict[str, Callable[[], Oracle]]] = {
    "anthropic": AnthropicOracle,
    "bedrock-converse": BedrockConverseOracle,
    "bedrock-llama": BedrockLlamaOracle,
    "cohere": CohereOracle,
    "dashscope": DashScopeOracle,
    "gemini": GeminiOracle,
    "google-interactions": GoogleInteractionsOracle,
    "mistral": MistralOracle,
    "ollama": OllamaOracle,
    "openai-chat": OpenAIChatOracle,
    "openai-completions": OpenAICompletionsOracle,
    "openai-responses": OpenAIResponsesOracle,
    "tgi": TgiOracle,
}

_FIRST_ERROR_STATUS = 400


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of its API.

    Raises:
        UsageError: the dialect is not known.
    """
    oracle = ORACLES.get(interaction.dialect)
    if oracle is None:
        raise UsageError(
            f"no strict reading knows the dialect {interaction.dialect!r}",
            hint=f"Known: {', '.join(sorted(ORACLES))}.",
        )
    reading = abstain_on_markup(oracle().read(interaction), interaction)
    if interaction.status >= _FIRST_ERROR_STATUS and reading.error is None:
        return msgspec.structs.replace(reading, error=(f"http_{interaction.status}", ""))
    return reading
