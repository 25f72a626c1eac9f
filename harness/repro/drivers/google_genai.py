"""The google-genai package: `client.models.generate_content_stream`.

Text and thoughts are taken from the parts of its chunks. Its documented agent loop is automatic
function calling, which executes the calls of a chunk before it yields the chunk. A call without
`args` is not executed by the loop of this method.
"""

from google import genai
from google.genai import errors

from harness.repro.drivers.shared.gemini_words import FAILED, FINISH

DOCUMENTED = (errors.APIError, errors.UnknownApiResponseError)


def connect(base_url, http=None, timeout=None, max_retries=0):
    """Return the client."""
    options = {"base_url": base_url, "httpx_client": http}
    if timeout is not None:
        options["timeout"] = round(timeout * 1000)
    if max_retries:
        options["retry_options"] = {"attempts": max_retries + 1}
    return genai.Client(api_key="none", vertexai=False, http_options=options)


def drive(client):
    """Yield what agent code gets."""
    word = message = usage = blocked = None
    try:
        for chunk in client.models.generate_content_stream(model="any", contents="any"):
            usage = chunk.usage_metadata or usage
            if chunk.prompt_feedback is not None:
                blocked = chunk.prompt_feedback.block_reason
            for candidate in (chunk.candidates or ())[:1]:
                for part in (candidate.content and candidate.content.parts) or ():
                    yield from events_of(part)
                if candidate.finish_reason is not None:
                    word, message = candidate.finish_reason.value, candidate.finish_message
    except errors.APIError as error:
        yield "failure", str(error.status or error.code), str(error.message)
        return
    if usage is not None:
        output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        yield "usage", usage.prompt_token_count, output
    if word is None and blocked is not None:
        word = blocked.value
    if word in FAILED:
        yield "failure", word, str(message or "")
    elif word is None:
        yield "failure", "interrupted", "no chunk has a finish reason"
    else:
        yield "finish", word, FINISH.get(word, "other")


def events_of(part):
    """Yield the events of one part."""
    yield "reasoning" if part.thought else "text", part.text
    call = part.function_call
    if call is None:
        return
    if call.args is None:
        why = "automatic function calling skips a call without args"
        yield "rejected", call.id, call.name, "", why
    else:
        yield "call", call.id, call.name, call.args
