"""Convert requests of one API to another, through one form that all APIs share.

The recorded question of A becomes a request of B, which a gateway gets. The request that arrives
upstream becomes the same form again, so that both can be compared. What B has no field for is left
out, and never invented.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from harness.dialects.kit.build_request import RequestSpec
from harness.dialects.table import DIALECTS, message_form, read_request, request_body
from harness.turns.json_values import as_text, dicts
from harness.turns.messages import text_of
from harness.turns.turn import Tool
from harness.wire.interaction import Request

Json: TypeAlias = dict[str, Any]
Option = Literal["temperature", "top_p", "max_tokens", "stop"]

_SYSTEM_ROLES: Final = ("system", "developer")
_CHAT: Final[Mapping[Option, tuple[str, ...]]] = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "max_tokens": ("max_completion_tokens", "max_tokens"),
    "stop": ("stop",),
}
# Option -> its members in the API, the first of which is written; a dot separates two levels.
OPTIONS: Final[Mapping[str, Mapping[Option, tuple[str, ...]]]] = {
    "openai-chat": _CHAT,
    "mistral": {**_CHAT, "max_tokens": ("max_tokens",)},
    "openai-responses": {
        "temperature": ("temperature",),
        "top_p": ("top_p",),
        "max_tokens": ("max_output_tokens",),
    },
    "anthropic": {
        "temperature": ("temperature",),
        "top_p": ("top_p",),
        "max_tokens": ("max_tokens",),
        "stop": ("stop_sequences",),
    },
    "gemini": {
        "temperature": ("generationConfig.temperature",),
        "top_p": ("generationConfig.topP",),
        "max_tokens": ("generationConfig.maxOutputTokens",),
        "stop": ("generationConfig.stopSequences",),
    },
    "bedrock-converse": {
        "temperature": ("inferenceConfig.temperature",),
        "top_p": ("inferenceConfig.topP",),
        "max_tokens": ("inferenceConfig.maxTokens",),
        "stop": ("inferenceConfig.stopSequences",),
    },
    "ollama": {
        "temperature": ("options.temperature",),
        "top_p": ("options.top_p",),
        "max_tokens": ("options.num_predict",),
        "stop": ("options.stop",),
    },
    "cohere": {
        "temperature": ("temperature",),
        "top_p": ("p",),
        "max_tokens": ("max_tokens",),
        "stop": ("stop_sequences",),
    },
}
# The member with the choice of tools, and its value for each choice but a required tool.
_CHOICES: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "openai-chat": ("tool_choice", {"any": "required", "none": "none"}),
    "mistral": ("tool_choice", {"any": "any", "none": "none"}),
    "openai-responses": ("tool_choice", {"any": "required", "none": "none"}),
    "anthropic": ("tool_choice", {"any": {"type": "any"}, "none": {"type": "none"}}),
    "gemini": (
        "toolConfig.functionCallingConfig",
        {"any": {"mode": "ANY"}, "none": {"mode": "NONE"}},
    ),
    "bedrock-converse": ("toolConfig.toolChoice", {"any": {"any": {}}}),
    "cohere": ("tool_choice", {"any": "REQUIRED", "none": "NONE"}),
}
_ANY: Final = frozenset(("any", "required"))
# APIs with a field that limits the model to one call at a time.
SERIAL: Final = frozenset(("openai-chat", "openai-responses", "anthropic", "mistral"))


class NeutralCall(msgspec.Struct, frozen=True):
    """A call in a history: the order in which its id first appears, name and parsed arguments."""

    id: str
    name: str
    arguments: Any


class NeutralMessage(msgspec.Struct, frozen=True):
    """A message of a history, with all that one speaker says in a row.

    Fields:
        role: `user`, `assistant` or `tool`.
        text: the text; of a `tool`, the result.
        calls: the calls of the assistant.
        answers: the id of the call that a `tool` answers; "" for others.
    """

    role: str
    text: str
    calls: tuple[NeutralCall, ...] = ()
    answers: str = ""


class NeutralRequest(msgspec.Struct, frozen=True):
    """The content of a request, in the form that all APIs share.

    Fields:
        dialect: the API of the request.
        system: the instructions before the conversation.
        tools: the tools of the client.
        choice: "" if the model may choose, `any`, `none`, or `tool:NAME`.
        is_serial: whether the model must make one call at a time.
        options: the options that `OPTIONS` lists.
    """

    dialect: str
    system: str
    messages: tuple[NeutralMessage, ...]
    tools: tuple[Tool, ...]
    choice: str
    is_serial: bool
    options: dict[Option, Any]


# Stands for a request that was not recorded.
NO_QUESTION: Final = NeutralRequest("", "", (), (), "", is_serial=False, options={})


def read_neutral(dialect: str, request: Request) -> NeutralRequest | None:
    """Return the content of a request of `dialect`; None if its body is not known."""
    body = request_body(request.body)
    if body is None:
        return None
    parsed = read_request(dialect, request)
    return NeutralRequest(
        dialect,
        parsed.system,
        tuple(_messages(dialect, body)),
        parsed.tools,
        _choice(body),
        _is_serial(body),
        {
            name: _as_option(name, value)
            for name, members in OPTIONS.get(dialect, {}).items()
            for value in [_first(body, members)]
            if value is not None
        },
    )


def build_request(neutral: NeutralRequest, dialect: str, model: str, uri: str) -> Json | None:
    """Return the body of a request of `dialect`; None if the harness builds none for this API."""
    row = DIALECTS[dialect]
    if row.build_request is None:
        return None
    name = neutral.choice.removeprefix("tool:") if neutral.choice.startswith("tool:") else ""
    options: Json = {}
    if name and row.can_require_tool:
        options["tool_choice"] = {"type": "function", "function": {"name": name}}
    if neutral.is_serial and neutral.tools and dialect in SERIAL:
        options["parallel_tool_calls"] = False
    messages = tuple(_chat_messages(neutral))
    spec = RequestSpec(model, uri, messages, neutral.tools, options)
    body = row.build_request(spec)
    path, values = _CHOICES.get(dialect, ("", {}))
    if neutral.choice in values and neutral.tools:
        _set(body, path, values[neutral.choice])
    for option, value in neutral.options.items():
        if members := OPTIONS.get(dialect, {}).get(option):
            _set(body, members[0], value)
    return body


def _chat_messages(neutral: NeutralRequest) -> Iterator[Json]:
    """Yield the messages in the format of OpenAI's chat API."""
    if neutral.system:
        yield {"role": "system", "content": neutral.system}
    for each in neutral.messages:
        message: Json = {"role": each.role, "content": each.text}
        if each.role == "tool":
            message["tool_call_id"] = each.answers
        if each.calls:
            message["content"] = each.text or None
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": _json_text(call.arguments)},
                }
                for call in each.calls
            ]
        yield message
    if not neutral.messages:
        yield {"role": "user", "content": "Hi."}


def _json_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _messages(dialect: str, body: Json) -> Iterator[NeutralMessage]:
    """Yield the messages without instructions; all that one speaker says in a row is one."""
    ids = _Ids()
    last: NeutralMessage | None = None
    for message in dicts(list(message_form(dialect).messages_of(body))):
        role = as_text(message.get("role"))
        if role in _SYSTEM_ROLES:
            continue
        calls = tuple(ids.call(each) for each in dicts(message.get("tool_calls")))
        answers = ids.answered(as_text(message.get("tool_call_id"))) if role == "tool" else ""
        read = NeutralMessage(role, text_of(message), calls, answers)
        if last is not None and last.role == role and role != "tool":
            joined = "\n".join(filter(None, (last.text, read.text)))
            last = NeutralMessage(role, joined, last.calls + read.calls)
            continue
        if last is not None:
            yield last
        last = read
    if last is not None:
        yield last


class _Ids:
    """Numbers the ids of calls, because a gateway may rename them if it renames all of them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._open: list[str] = []

    def call(self, entry: Json) -> NeutralCall:
        function = entry.get("function")
        named = function if isinstance(function, dict) else {}
        own = f"call_{len(self._names) + 1}"
        self._names[as_text(entry.get("id")) or own] = own
        self._open.append(own)
        return NeutralCall(own, as_text(named.get("name")), _value(named.get("arguments")))

    def answered(self, call_id: str) -> str:
        """Return the id of the answered call: some APIs name none, and answer in order."""
        own = self._names.get(call_id, "") or (next(iter(self._open), "") if not call_id else "")
        if own in self._open:
            self._open.remove(own)
        return own


def _value(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _choice(body: Json) -> str:
    """Return the choice of tools in a request of any API."""
    found = _first(
        body, ("tool_choice", "toolConfig.functionCallingConfig", "toolConfig.toolChoice")
    )
    if isinstance(found, str):
        word = found.lower()
        return "any" if word in _ANY else "none" if word == "none" else ""
    if not isinstance(found, dict):
        return ""
    if name := _required_name(found):
        return f"tool:{name}"
    word = as_text(found.get("type") or found.get("mode")).lower() or next(iter(found), "")
    return "any" if word in _ANY else "none" if word == "none" else ""


def _required_name(choice: Json) -> str:
    """Return the tool that the model must call; "" if it may choose."""
    allowed = choice.get("allowedFunctionNames")
    if isinstance(allowed, list) and len(allowed) == 1:
        return as_text(allowed[0])
    nested = choice.get("function") or choice.get("tool") or choice
    return as_text(nested.get("name")) if isinstance(nested, dict) else ""


def _is_serial(body: Json) -> bool:
    choice = body.get("tool_choice")
    barred = isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True
    return barred or body.get("parallel_tool_calls") is False


def _as_option(name: Option, value: object) -> object:
    return [value] if name == "stop" and isinstance(value, str) else value


def _first(body: Json, paths: Iterable[str]) -> object:
    """Return the first value that is not null below one of the dotted `paths`; None if none is."""
    found = (_at(body, path.split(".")) for path in paths)
    return next((value for value in found if value is not None), None)


def _at(body: object, path: list[str]) -> object:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _set(body: Json, path: str, value: object) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        body = body.setdefault(parent, {})
    body[name] = value
