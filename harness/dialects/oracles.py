"""The oracles by dialect, and what holds for all of them: an error status is an error."""

from collections.abc import Callable
from typing import Final

import msgspec

from harness.dialects.anthropic import oracle as anthropic
from harness.dialects.bedrock_converse import oracle as bedrock_converse
from harness.dialects.bedrock_llama import oracle as bedrock_llama
from harness.dialects.cohere import oracle as cohere
from harness.dialects.dashscope import oracle as dashscope
from harness.dialects.gemini import oracle as gemini
from harness.dialects.google_interactions import oracle as google_interactions
from harness.dialects.kit.oracle.markup import abstain_on_markup
from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.mistral import oracle as mistral
from harness.dialects.ollama import oracle as ollama
from harness.dialects.openai_chat import oracle as openai_chat
from harness.dialects.openai_completions import oracle as openai_completions
from harness.dialects.openai_responses import oracle as openai_responses
from harness.dialects.tgi import oracle as tgi
from harness.errors import UsageError
from harness.wire.interaction import Interaction

ORACLES: Final[dict[str, Callable[[Interaction], OracleReading]]] = {
    "anthropic": anthropic.oracle_reading,
    "bedrock-converse": bedrock_converse.oracle_reading,
    "bedrock-llama": bedrock_llama.oracle_reading,
    "cohere": cohere.oracle_reading,
    "dashscope": dashscope.oracle_reading,
    "gemini": gemini.oracle_reading,
    "google-interactions": google_interactions.oracle_reading,
    "mistral": mistral.oracle_reading,
    "ollama": ollama.oracle_reading,
    "openai-chat": openai_chat.oracle_reading,
    "openai-completions": openai_completions.oracle_reading,
    "openai-responses": openai_responses.oracle_reading,
    "tgi": tgi.oracle_reading,
}

_FIRST_ERROR_STATUS = 400


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of its API.

    Raises:
        UsageError: the dialect is not known.
    """
    read = ORACLES.get(interaction.dialect)
    if read is None:
        raise UsageError(
            f"no strict reading knows the dialect {interaction.dialect!r}",
            hint=f"Known: {', '.join(sorted(ORACLES))}.",
        )
    reading = abstain_on_markup(read(interaction), interaction)
    if interaction.status >= _FIRST_ERROR_STATUS and reading.error is None:
        return msgspec.structs.replace(reading, error=(f"http_{interaction.status}", ""))
    return reading
