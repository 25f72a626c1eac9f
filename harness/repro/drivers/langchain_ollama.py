"""The package langchain-ollama: `ChatOllama.stream` and the sum of its chunks, or `OllamaLLM`."""

import ollama
from langchain_core.exceptions import OutputParserException
from langchain_ollama import ChatOllama, OllamaLLM

from harness.repro.drivers.shared.ends import failure_of
from harness.repro.drivers.shared.langchain import events_of
from harness.repro.drivers.shared.langchain_tool import TOOL
from harness.repro.drivers.shared.ollama_words import FINISH, failure_of_ollama

DOCUMENTED = (ollama.ResponseError, OutputParserException)


def connect(base_url, http=None):
    """Return the model for chats and the one for completions, which take a transport."""
    options = {"model": "any", "base_url": base_url, "sync_client_kwargs": {"transport": http}}
    options["reasoning"] = True  # otherwise the package drops it
    return ChatOllama(**options).bind_tools([TOOL]), OllamaLLM(**options)


def drive(client, request):
    """Yield what agent code gets."""
    chat, completion = client
    if "prompt" in request:  # the API has two endpoints
        return completed(completion)
    return events_of(chat.stream([("user", "any")]), DOCUMENTED, end, failure)


def completed(model):
    """Yield the events of a completion, whose method `stream` gives text without its end."""
    try:
        ((choice,),) = model.generate(["any"]).generations
    except ollama.ResponseError as error:
        yield "failure", *failure_of_ollama(error)
    else:
        yield "text", choice.text
        yield finish(choice.generation_info or {})


def failure(error):
    """Return code and message of a documented exception."""
    has_status = hasattr(error, "status_code")
    return failure_of_ollama(error) if has_status else failure_of(error)


def end(total):
    """Return the end of the sum of the chunks."""
    return finish(total.response_metadata)


def finish(metadata):
    """Return the end; servers of 2024 had no reason for an answer that was done."""
    word = metadata.get("done_reason") or ""
    known = word or ("stop" if metadata.get("done") else "")
    return "finish", word, FINISH.get(known, "other")
