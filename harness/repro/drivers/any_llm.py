"""The any-llm package: `AnyLLM.acompletion` with `stream=True`.

One class asks every provider, and its chunks have the form of OpenAI's chat completions. It hands
over chunks, so this driver joins the calls. Text, reasoning, finish and usage are taken from the
chunks.
"""

from any_llm import AnyLLM
from any_llm.exceptions import AnyLLMError

from harness.repro.drivers.shared.chat import Chunks
from harness.repro.drivers.shared.ends import failure_of

DOCUMENTED = (AnyLLMError,)
PROVIDERS = {
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
}


def connect(base_url, dialect, http=None):
    """Return the client of the package for an API, which has a client of the provider's package."""
    options = {
        "openai-chat": {"http_client": http, "max_retries": 0},
        "anthropic": {"http_client": http, "max_retries": 0},
        "gemini": {"http_options": {"httpx_async_client": http}},
        "mistral": {"async_client": http},
    }
    return AnyLLM.create(
        PROVIDERS[dialect],
        api_key="none",
        api_base=base_url,
        unified_exceptions=True,  # with the exceptions that the package documents
        **options[dialect],
    )


async def drive(client, emit):
    """Emit what agent code gets."""
    turn, messages = Chunks(reasoning=reasoning), [{"role": "user", "content": "any"}]
    try:
        async for chunk in await client.acompletion("any", messages, stream=True):
            for event in turn.take(chunk):
                await emit(*event)
    except DOCUMENTED as error:
        end = turn.calls.failed(*failure_of(error))
    else:
        end = turn.end()
    for event in end:
        await emit(*event)


def reasoning(delta):
    """Return the reasoning in a delta."""
    return getattr(delta.reasoning, "content", None)
