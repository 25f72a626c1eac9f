"""Build the bodies of requests from a history, tools and options; shared by the dialects.

The history has the format of OpenAI's chat API. A builder returns the complete body. It leaves out
data for which the API has no field, and never invents data that the history does not contain, such
as the signature of a thought.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final, TypeAlias

import msgspec

from harness.turns.messages import SEALED, Message, sealed_of, user
from harness.turns.turn import Tool
from harness.wire.interaction import Request

Json: TypeAlias = dict[str, Any]

_INSTRUCTION_ROLES: Final = ("system", "developer")


class RequestSpec(msgspec.Struct, frozen=True):
    """Describes what one request must contain.

    Fields:
        uri: the address. Clouds name the model in it.
        options: further fields of the body. `parallel_tool_calls` and `tool_choice` have
            OpenAI's format, and each builder converts them to the format of its API.
        reasoning_field: the member of a message with the reasoning to send back.
    """

    model: str
    uri: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    reasoning_field: str = ""

    @property
    def is_serial(self) -> bool:
        """Whether the model must make one call at a time."""
        return self.options.get("parallel_tool_calls") is False

    @property
    def required_tool(self) -> str:
        """The tool that the model must call; "" if it may choose."""
        choice = self.options.get("tool_choice")
        function = choice.get("function") if isinstance(choice, dict) else None
        return str(function.get("name", "")) if isinstance(function, dict) else ""

    @property
    def other_options(self) -> Json:
        """The options that have the same format in all APIs."""
        own_forms = ("parallel_tool_calls", "tool_choice")
        return {key: value for key, value in self.options.items() if key not in own_forms}


BuildRequest: TypeAlias = Callable[[RequestSpec], Json]


class RequestForm(msgspec.Struct, frozen=True):
    """Describes the requests of emulated cassettes: addresses, and the smallest valid body.

    The requests of agents contain what a real client needs, and may change. Requests in cassettes
    may not.

    Fields:
        addresses: the address of each provider; `{model}` in it represents the model.
        body: a function that returns the body of the first request, whose messages are the
            instructions and a question.
        history: the path of the member to which later messages are added; () if there is none.
    """

    addresses: Mapping[str, str]
    body: BuildRequest
    history: tuple[str, ...] = ("messages",)

    def first_request(self, model: str, question: str, tools: tuple[Tool, ...]) -> Request:
        """Return the request with the message `question`, for the first of `addresses`."""
        address = next(iter(self.addresses.values()))
        spec = RequestSpec(model, address, (user(question),), tools)
        body = msgspec.json.encode(self.body(spec))
        headers = (("content-type", "application/json"),)
        return Request("POST", address.replace("{model}", model), headers, body)


def split_instructions(messages: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
    """Return the instructions before the first question, and the messages after them."""
    count = next(
        (at for at, each in enumerate(messages) if each["role"] not in _INSTRUCTION_ROLES),
        len(messages),
    )
    return "\n\n".join(map(text_of, messages[:count])), messages[count:]


def text_of(message: Message) -> str:
    """Return the text of a message of the history; "" if it has none."""
    return message.get("content") or ""


def reasoning_of(message: Message, spec: RequestSpec) -> str | None:
    """Return the reasoning to send back with a message; None if there is none to send.

    If a provider wants reasoning back, it also wants the member for a turn without reasoning.
    Then the result is "".
    """
    found = message.get(spec.reasoning_field) if spec.reasoning_field else None
    return found if isinstance(found, str) else None


def names_by_call_id(messages: Iterable[Message]) -> dict[str, str]:
    """Return the tool's name for each call id, for APIs in which a result names its tool."""
    return {
        call["id"]: call["function"]["name"]
        for message in messages
        for call in message.get("tool_calls", ())
    }


def question_of(spec: RequestSpec) -> tuple[str, str]:
    """Return the instructions and the question of the first request of a conversation."""
    instructions, messages = split_instructions(spec.messages)
    return instructions, "".join(map(text_of, messages))


def schema_of(tool: Tool) -> Json:
    """Return the JSON Schema of a tool's arguments."""
    return tool.parameters or {"type": "object", "properties": {}}


def declaration(tool: Tool) -> Json:
    """Return a tool as OpenAI's chat API declares it."""
    return {"type": "function", "function": function_of(tool)}


def function_of(tool: Tool) -> Json:
    """Return name, description and schema of a tool, with the keys of OpenAI's API."""
    return {"name": tool.name, "description": tool.description, "parameters": schema_of(tool)}


def flat_declarations(tools: Iterable[Tool]) -> Json:
    """Return the member `tools` of APIs that put the function's keys next to its type."""
    listed = [{"type": "function", **function_of(tool)} for tool in tools]
    return {"tools": listed} if listed else {}


def arguments_object(text: str) -> Json:
    """Return the arguments of a call as an object; text that is not one becomes `{"raw": text}`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # a number of more digits than Python reads, or no JSON
        return {"raw": text}
    return value if isinstance(value, dict) else {"raw": text}


_RESULT: Final = "tool"
_MODEL: Final = "assistant"


class BlockFormat(msgspec.Struct, frozen=True):
    """Describes how an API writes content blocks, the items of a message's content.

    Fields:
        model: the role of the model.
        text: a function that returns the block of a text.
        call: a function that returns the block of a call, given its id, name and arguments.
        result: a function that returns the block of a result, given the call's id and name.
        thought: a function that returns the block of reasoning that is sent back.
        content: the member of a message that contains its blocks.
        sealed: a function for each kind of data that only the provider can read. It gets the data
            and the block that the data belongs to, and returns the block with the data. Data of
            other kinds is not sent.
    """

    model: str
    text: Callable[[str], Json]
    call: Callable[[str, str, Json], Json]
    result: Callable[[str, str, str], Json]
    thought: Callable[[str], Json]
    content: str = "content"
    sealed: Mapping[str, Callable[[str, Json], Json]] = {}


def blocks_by_speaker(
    messages: tuple[Message, ...], form: BlockFormat, spec: RequestSpec
) -> list[Json]:
    """Return the messages as blocks, with consecutive messages of one speaker joined to one."""
    names = names_by_call_id(messages)

    def blocks(message: Message) -> Iterator[Json]:
        if message["role"] == _RESULT:
            call_id = message["tool_call_id"]
            yield form.result(call_id, names.get(call_id, ""), text_of(message))
        else:
            yield from _message_blocks(message, form, spec)

    sides = groupby(messages, key=lambda message: _speaker(message["role"], form))
    return [
        {"role": side, form.content: [block for each in group for block in blocks(each)]}
        for side, group in sides
    ]


def _speaker(role: str, form: BlockFormat) -> str:
    """Return the role that sends a message: results and later instructions are the user's."""
    return {_RESULT: "user", _MODEL: form.model}.get(role, role)


def _message_blocks(message: Message, form: BlockFormat, spec: RequestSpec) -> Iterator[Json]:
    """Yield the content blocks of a message, without blank text next to calls."""
    calls, text = message.get("tool_calls", ()), text_of(message)
    sealed = SealedParts(message, form.sealed)
    thought = None if sealed.has_reasoning else reasoning_of(message, spec)
    if thought is not None:
        yield form.thought(thought)
    texts = sealed.texts(text)
    for at in range(len(calls) + 1):
        for each in sealed.reasoning(at):
            yield form.sealed[each["kind"]](each["value"], form.thought(each.get("text", "")))
        for piece, own in texts.get(at, ()):
            block = form.text(piece)
            if own is not None:
                yield form.sealed[own["kind"]](own["value"], block)
            elif piece.strip() or not (calls or sealed.has_text):
                yield block
        if at < len(calls):
            function = calls[at]["function"]
            arguments = arguments_object(function["arguments"])
            block = form.call(calls[at]["id"], function["name"], arguments)
            for each in sealed.of_call(at):
                block = form.sealed[each["kind"]](each["value"], block)
            yield block


class SealedParts:
    """Finds the data of a message that only the provider can read, such as signatures.

    Args:
        message: a message of the assistant.
        kinds: the kinds that the API knows; data of other kinds is left out.
    """

    def __init__(self, message: Message, kinds: Container[str]) -> None:
        self._reasoning: dict[int, list[Json]] = {}
        self._of_calls: dict[int, list[Json]] = {}
        self._texts: list[Json] = []
        for each in sealed_of(message):
            place, call = each.get("of", "reasoning"), each.get("call", 0)
            if each["kind"] not in kinds:
                continue
            if place == "text":
                self._texts.append(each)
            else:
                by_call = self._of_calls if place == "call" else self._reasoning
                by_call.setdefault(call, []).append(each)
        self.has_reasoning = bool(self._reasoning)
        self.has_text = bool(self._texts)

    def reasoning(self, call: int) -> list[Json]:
        """Return the data of the reasoning before the call at position `call`; [] if none."""
        return self._reasoning.get(call, [])

    def of_call(self, call: int) -> list[Json]:
        """Return the data of the call at position `call`; [] if none."""
        return self._of_calls.get(call, [])

    def texts(self, text: str) -> dict[int, list[tuple[str, Json | None]]]:
        """Split `text` into parts with the data of each, by the number of calls before them.

        The last part is the rest of the text, which has no data (None).
        """
        pieces: dict[int, list[tuple[str, Json | None]]] = {}
        start = at = 0
        for each in self._texts:
            own, at = each.get("text", ""), each.get("call", 0)
            if not text.startswith(own, start):
                own = ""  # the text was changed since
            pieces.setdefault(at, []).append((own, each))
            start += len(own)
        if start < len(text) or not self._texts:
            pieces.setdefault(at, []).append((text[start:], None))
        return pieces


def chat_messages(spec: RequestSpec) -> list[Message]:
    """Return the messages without data that only the provider of another API can read."""
    return [
        {key: value for key, value in message.items() if key != SEALED}
        if SEALED in message
        else message
        for message in spec.messages
    ]


def chat_body(spec: RequestSpec) -> Json:
    """Return the body of a request of OpenAI's chat API."""
    body: Json = {"model": spec.model, "stream": True, "messages": chat_messages(spec)}
    tools = [declaration(tool) for tool in spec.tools]
    return body | ({"tools": tools} if tools else {}) | dict(spec.options)
