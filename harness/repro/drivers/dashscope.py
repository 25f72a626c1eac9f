"""The dashscope package: `Generation.call` with `stream=True`.

It hands over the events of the API, so this driver joins the calls. Each event contains either what
is new or everything so far, as the user asked.
"""

import dashscope
from dashscope.common.error import DashScopeException

from harness.repro.drivers.shared.calls import Calls
from harness.repro.drivers.shared.dashscope_words import FINISH, stream_options
from harness.repro.drivers.shared.ends import failure_of

DOCUMENTED = (DashScopeException,)


def connect(base_url, http=None):
    """Return the session; None for the package's own."""
    dashscope.base_http_api_url = base_url
    return http


def drive(client, request):
    """Yield what agent code gets."""
    options = stream_options(request)
    said, calls = {}, Calls()
    word = usage = failure = None
    try:
        for event in dashscope.Generation.call(
            model="any",
            messages=[{"role": "user", "content": "any"}],
            api_key="none",
            result_format="message",
            stream=True,
            session=client,
            **options,
        ):
            if event.status_code != 200:
                code = str(event.code or f"http_{event.status_code}")
                failure = failure or (code, str(event.message))
                continue
            usage = event.usage or usage
            new_word, message = answer_in(event.output)
            word = word if new_word in (None, "", "null") else new_word  # "null": not yet
            for member, kind in (("reasoning_content", "reasoning"), ("content", "text")):
                text = text_in(message.get(member))
                yield kind, text if options else text.removeprefix(said.get(member, ""))
                said[member] = text or said.get(member, "")
            calls = joined(calls, message.get("tool_calls") or (), options)
    except DOCUMENTED as error:
        failure = failure_of(error)
    if failure:
        yield from calls.failed(*failure)
        return
    if usage:
        yield "usage", usage.get("input_tokens"), usage.get("output_tokens")
    yield from calls.end(word, FINISH)


def answer_in(output):
    """Return the finish reason and the message of an event, which older models have as text."""
    if not output.get("choices"):
        return output.get("finish_reason"), {"content": output.get("text")}
    choice = output["choices"][0]
    return choice["finish_reason"], choice["message"] or {}


def text_in(content):
    """Return text, or that of the parts in which multimodal models send it."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def joined(calls, entries, is_new):
    """Return the calls with those of one event, which has all of them if they are not new."""
    if entries and not is_new:
        calls = Calls()
    for place, call in enumerate(entries):
        function = call.get("function") or {}
        name, arguments = function.get("name"), function.get("arguments")
        calls.extend(call.get("index", place), call.get("id"), name, arguments)
    return calls
