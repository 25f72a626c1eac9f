"""The package langchain-google-genai: `ChatGoogleGenerativeAI.stream` and its chunks' sum."""

from google.genai import errors
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError

from harness.repro.drivers.shared.ends import failure_of
from harness.repro.drivers.shared.gemini_words import FAILED, FINISH
from harness.repro.drivers.shared.langchain import events_of
from harness.repro.drivers.shared.langchain_tool import TOOL

DOCUMENTED = (ChatGoogleGenerativeAIError, errors.APIError, errors.UnknownApiResponseError)


def connect(base_url, http=None):
    """Return the model, which takes a transport."""
    model = ChatGoogleGenerativeAI(
        model="gemini-any",
        api_key="none",
        base_url=base_url,
        vertexai=False,
        max_retries=1,  # the package documents that 1 means no retry
        client_args={"transport": http},
    )
    return model.bind_tools([TOOL])


def drive(client):
    """Yield what agent code gets."""
    return events_of(client.stream([("user", "any")]), DOCUMENTED, end, failure)


def failure(error):
    """Return code and message with the status of the API, which the cause of an error has."""
    known = error if hasattr(error, "status") else error.__cause__
    if hasattr(known, "status"):
        return str(known.status or known.code), str(known.message)
    return failure_of(error)


def end(total):
    """Return the end of the sum of the chunks."""
    word = total.response_metadata.get("finish_reason")
    blocked = (total.response_metadata.get("prompt_feedback") or {}).get("block_reason")
    if word is None and blocked is not None:
        word = blocked.value
    if word in FAILED:
        return "failure", word, ""
    return "finish", word, FINISH.get(str(word), "other")
