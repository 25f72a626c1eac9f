"""The openai package: its stream helper, `client.chat.completions.stream`.

Text is taken from its `content.delta` events; calls, finish and usage from `get_final_completion`,
which its documentation recommends to agent code. If an answer reached a limit, that method raises
an exception, which has the answer in its documented member `completion`.
"""

import openai

from harness.repro.drivers.shared.ends import CHAT_WORDS, failure_of
from harness.repro.drivers.shared.members import reasoning_of
from harness.repro.drivers.shared.times import times_of

DOCUMENTED = (openai.OpenAIError,)
UNFINISHED = "the answer has no finish reason"


def connect(base_url, http=None, timeout=None, max_retries=0):
    """Return the client."""
    times = times_of(timeout, max_retries)
    return openai.OpenAI(base_url=base_url, api_key="none", http_client=http, **times)


def drive(client):
    """Yield what agent code gets."""
    stream, is_cut = None, False
    try:
        # Without tools: of a request with them, the helper reads the same.
        with client.chat.completions.stream(model="any", messages=[]) as stream:
            for event in stream:
                if event.type == "content.delta":
                    yield "text", event.delta
                elif event.type == "chunk":
                    for choice in event.chunk.choices[:1]:
                        yield "reasoning", reasoning_of(choice.delta)
            completion = stream.get_final_completion()
    except DOCUMENTED as error:
        # `LengthFinishReasonError` and `ContentFilterFinishReasonError` have the answer.
        completion = getattr(error, "completion", None)
        is_cut = completion is not None
        if not is_cut:
            for call in begun(stream):
                yield "rejected", call.id, call.function.name, call.function.arguments, error
            yield "failure", *failure_of(error)
            return
    if completion.usage is not None:
        yield "usage", completion.usage.prompt_tokens, completion.usage.completion_tokens
    if completion.choices:
        yield from answer_of(completion.choices[0], is_cut)
    else:
        yield "failure", "interrupted", "the completion has no choice"


def begun(stream):
    """Return the calls so far of an answer that failed."""
    try:
        choices = stream.current_completion_snapshot.choices if stream else ()
    except AssertionError:  # before the first chunk
        return ()
    return (choices[0].message.tool_calls or ()) if choices else ()


def answer_of(choice, is_cut):
    """Yield calls and end as a loop of agent code takes them: the package has none for this API."""
    message, word = choice.message, choice.finish_reason
    calls = [(call.id, call.function) for call in message.tool_calls or ()]
    if message.function_call is not None and not calls:
        # It has no id in this API, because agent code needs none.
        calls = [("function_call", message.function_call)]
    for call_id, function in calls:
        found = call_id, function.name, function.arguments
        if is_cut and not function.arguments:
            yield "rejected", *found, "the answer ended before the arguments began"
        elif not word:
            yield "rejected", *found, UNFINISHED
        else:
            yield "call", *found
    if message.tool_calls and not word:
        yield "failure", "interrupted", UNFINISHED
    elif message.refusal:
        yield "failure", "refusal", str(message.refusal)
    else:
        yield "finish", word, CHAT_WORDS.get(str(word), "other")
