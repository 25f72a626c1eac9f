"""How a dialect's writer may spell the same turn: each switch of its spelling is a quirk."""

from functools import lru_cache
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.dialects.anthropic.spelling import Spelling as Anthropic
from harness.dialects.bedrock_converse.spelling import Spelling as BedrockConverse
from harness.dialects.bedrock_llama.spelling import Spelling as BedrockLlama
from harness.dialects.cohere.spelling import Spelling as Cohere
from harness.dialects.dashscope.spelling import Spelling as DashScope
from harness.dialects.gemini.spelling import Spelling as Gemini
from harness.dialects.google_interactions.spelling import Spelling as GoogleInteractions
from harness.dialects.mistral.spelling import Spelling as Mistral
from harness.dialects.ollama.spelling import Spelling as Ollama
from harness.dialects.openai_chat.spelling import Spelling as OpenAIChat
from harness.dialects.openai_completions.spelling import Spelling as OpenAICompletions
from harness.dialects.openai_responses.spelling import Spelling as OpenAIResponses
from harness.dialects.tgi.spelling import Spelling as Tgi

SPELLINGS: Final[dict[str, type[Any]]] = {
    "anthropic": Anthropic,
    "bedrock-converse": BedrockConverse,
    "bedrock-llama": BedrockLlama,
    "cohere": Cohere,
    "dashscope": DashScope,
    "gemini": Gemini,
    "google-interactions": GoogleInteractions,
    "mistral": Mistral,
    "ollama": Ollama,
    "openai-chat": OpenAIChat,
    "openai-completions": OpenAICompletions,
    "openai-responses": OpenAIResponses,
    "tgi": Tgi,
}


@lru_cache
def switches(dialect: str) -> tuple[tuple[str, object], ...]:
    """Return each (switch, value) of a dialect's spelling that is not the contract's."""
    kind = SPELLINGS[dialect]
    contract = kind()
    return tuple(
        (name, value)
        for name, hint in get_type_hints(kind).items()
        for value in _values(hint)
        if value != getattr(contract, name)
    )


def spellings(dialect: str, **free: tuple[object, ...]) -> SearchStrategy[Any]:
    """Return a strategy for spellings, each switch drawn on its own.

    Args:
        dialect: such as `openai-chat`.
        free: the values to draw of switches that are text or numbers; without, such a switch
            keeps the value of the contract.
    """
    kind = SPELLINGS[dialect]
    contract = kind()
    options = {
        name: (getattr(contract, name), *free.get(name, _values(hint)))
        for name, hint in get_type_hints(kind).items()
    }
    return st.builds(
        kind,
        **{name: st.sampled_from(tuple(dict.fromkeys(each))) for name, each in options.items()},
    )


def _values(hint: object) -> tuple[object, ...]:
    """Return what a switch may be where that is a closed set, else nothing."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return (False, True) if hint is bool else ()
