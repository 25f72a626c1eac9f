"""A model of LangChain for OpenAI's chat completions."""

import openai

from harness.repro.drivers.shared.ends import CHAT_WORDS
from harness.repro.drivers.shared.langchain import events_of

DOCUMENTED = (openai.OpenAIError,)


def drive(client, request):
    """Yield what agent code gets."""
    # Without the option of the request LangChain reads no refusal.
    options = {key: request[key] for key in ("response_format",) if key in request}
    return events_of(client.stream([("user", "any")], **options), DOCUMENTED, end, older=True)


def end(total):
    """Return the end of the sum of the chunks."""
    if total.additional_kwargs.get("refusal"):
        return "failure", "refusal", str(total.additional_kwargs["refusal"])
    word = total.response_metadata.get("finish_reason")
    return "finish", word, CHAT_WORDS.get(str(word), "other")
