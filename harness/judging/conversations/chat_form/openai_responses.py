"""The Responses API: items in place of messages; those of the model in a row are one turn.

Source: OpenAI API reference, "Create a model response", `input`.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from harness.judging.conversations.chat_form.form import Form, Json, dicts
from harness.judging.conversations.chat_form.parts import (
    Answered,
    Called,
    Other,
    Part,
    Sealed,
    Text,
    Thought,
    of_the_model,
    of_the_user,
)
from harness.judging.conversations.session import as_text

_TEXTS: Final = ("input_text", "output_text", "text", "refusal")


def _messages(body: Json) -> Iterator[object]:
    instructions, listed = body.get("instructions"), body.get("input")
    if isinstance(instructions, str) and instructions:
        yield {"role": "system", "content": instructions}
    if isinstance(listed, str):
        yield {"role": "user", "content": listed}
    for is_models, items in groupby(listed if isinstance(listed, list) else (), _is_models):
        if is_models:
            yield of_the_model(part for item in items for part in _parts(item))
        else:
            for item in items:
                yield from _of_the_user(item)


def _is_models(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type") or "message"
    if kind == "message":
        return item.get("role") == "assistant"
    return kind not in _RESULTS


def _of_the_user(item: object) -> Iterator[object]:
    if isinstance(item, dict):
        yield from of_the_user(_parts(item), item.get("role", "user"))
    else:
        yield item


def _parts(item: Json) -> Iterator[Part]:
    kind = item.get("type") or "message"
    if kind == "message":
        yield from _texts(item.get("content"))
    elif kind == "function_call":
        yield Called(str(item.get("call_id") or ""), item.get("name"), item.get("arguments"))
    elif kind == "custom_tool_call":
        # The free text of a custom tool is its only argument, as the loop has it.
        held = as_text({"input": item.get("input")})
        yield Called(str(item.get("call_id") or ""), item.get("name"), held)
    elif kind in _RESULTS:
        yield Answered(item.get("call_id"), item.get("output"))
    elif kind == "reasoning":
        yield from _reasoning(item)
    else:
        yield Other(item)


def _texts(content: Any) -> Iterator[Part]:  # noqa: ANN401 - of a request that anybody sent
    if isinstance(content, str):
        yield Text(content)
    for part in dicts(content):
        if part.get("type") in _TEXTS:
            yield Text(str(part.get("text") or part.get("refusal") or ""))
        else:
            yield Other(part)


def _reasoning(item: Json) -> Iterator[Part]:
    """Yield what of a reasoning item is text; without any, its id or its cipher is what counts."""
    texts = [str(part.get("text") or "") for part in dicts(item.get("content"))]
    if texts:
        yield Thought("".join(texts))
    if item.get("encrypted_content") or not texts:
        yield Sealed("reasoning")


def _tools(body: Json) -> Iterator[object]:
    return dicts(body.get("tools"))


_RESULTS: Final = ("function_call_output", "custom_tool_call_output")
FORM: Final = Form(_messages, _tools, frozenset(("input", "instructions", "tools")))
