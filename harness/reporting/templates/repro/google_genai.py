"""The google-genai package: the parts of `models.generate_content_stream`."""

from google import genai
from google.genai import errors

DOCUMENTED = (errors.APIError, errors.UnknownApiResponseError)
FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = genai.Client(api_key="none", vertexai=False, http_options={"base_url": base_url})
    text, calls, rejected, finish = "", [], [], None
    for chunk in client.models.generate_content_stream(model="any", contents="any"):
        if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
            finish = chunk.prompt_feedback.block_reason.value
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content and candidate.content.parts) or ():
                text += "" if part.thought else part.text or ""
                call = part.function_call
                if call and call.args is None:  # automatic function calling skips it
                    rejected.append(call.name)
                elif call:
                    calls.append((call.id, call.name, call.args))
            finish = candidate.finish_reason.value if candidate.finish_reason else finish
    return {
        "text": text,
        "calls": calls,
        "rejected": rejected,
        "finish": finish,
        "failed": finish in (None, "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"),
    }
