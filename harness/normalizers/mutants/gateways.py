"""Gateways with one seeded fault each: the suite's own gateway with one edit.

They translate chat completions to Anthropic's Messages API, or pass chat completions through.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from harness.normalizers.gateway.neutral import NeutralMessage, NeutralRequest
from harness.normalizers.mutants.edit import MUTANTS, summary_of
from harness.normalizers.own_gateway import OwnGateway, own_gateway
from harness.turns.exact_json import encode_json
from harness.turns.json_values import as_dict, dicts
from harness.wire.interaction import Request
from harness.wire.payload import json_or_none

_F = TypeVar("_F", bound=Callable[..., Any])

_CHAT: Final = "openai-chat"
_MESSAGES: Final = "anthropic"


def _gateway(name: str, breaks: str, edit: str, front: str = _MESSAGES) -> Callable[[_F], _F]:
    """Return a decorator that declares the own gateway with an edit as a mutant.

    Args:
        name: the name that selects the mutant with the option `-n`.
        breaks: ids of the rules that the mutant violates, separated by spaces.
        edit: the field of `OwnGateway` that gets the decorated function.
        front: the dialect in which the gateway answers.
    """

    def declare(function: _F) -> _F:
        gateway = replace(OwnGateway(front), **{edit: function})
        MUTANTS[name] = replace(
            own_gateway(gateway, [_CHAT]),
            name=name,
            role="mutant",
            breaks=frozenset(breaks.split()),
            summary=summary_of(function),
        )
        return function

    return declare


@_gateway("gateway-system-in-question", "REQUEST-SYSTEM-KEPT", "edit_request")
def _system_in_question(request: NeutralRequest) -> NeutralRequest:
    """Moves the instructions into the first message of the user."""
    if not request.system or not request.messages:
        return request
    first, *rest = request.messages
    moved = replace(first, text=f"{request.system}\n{first.text}")
    return replace(request, system="", messages=(moved, *rest))


@_gateway("gateway-system-dropped", "REQUEST-SYSTEM-KEPT", "edit_request")
def _system_dropped(request: NeutralRequest) -> NeutralRequest:
    """Drops the instructions."""
    return replace(request, system="")


@_gateway("gateway-history-as-prose", "REQUEST-HISTORY-KEPT", "edit_request")
def _history_as_prose(request: NeutralRequest) -> NeutralRequest:
    """Writes calls and results of the history as text."""
    return replace(request, messages=tuple(map(_as_prose, request.messages)))


def _as_prose(message: NeutralMessage) -> NeutralMessage:
    if message.role == "tool":
        return NeutralMessage("user", f"The tool returned: {message.text}")
    called = (f"\nCalled {call.name} with {json.dumps(call.arguments)}" for call in message.calls)
    return NeutralMessage(message.role, message.text + "".join(called))


@_gateway("gateway-parameter-dropped", "REQUEST-TOOLS-KEPT", "edit_request")
def _parameter_dropped(request: NeutralRequest) -> NeutralRequest:
    """Sends tools without their parameters."""
    empty = {"type": "object", "properties": {}}
    emptied = (
        replace(it, parameters=empty) if it.parameters.get("properties") else it
        for it in request.tools
    )
    return replace(request, tools=tuple(emptied))


@_gateway("gateway-schema-stripped", "REQUEST-SCHEMA-KEPT", "edit_request")
def _schema_stripped(request: NeutralRequest) -> NeutralRequest:
    """Sends tools without their descriptions."""
    return replace(request, tools=tuple(replace(it, description="") for it in request.tools))


@_gateway("gateway-choice-dropped", "REQUEST-CHOICE-KEPT", "edit_request")
def _choice_dropped(request: NeutralRequest) -> NeutralRequest:
    """Drops the choice of a tool, and the limit to one call at a time."""
    return replace(request, choice="", is_serial=False)


@_gateway("gateway-temperature-added", "REQUEST-OPTIONS-KEPT", "edit_request")
def _temperature_added(request: NeutralRequest) -> NeutralRequest:
    """Sends the temperature 0, whatever the client asked for."""
    return replace(request, options={**request.options, "temperature": 0})


@_gateway("gateway-new-id-each-delta", "ANSWER-CONTRACT", "edit_body", _CHAT)
def _new_id_each_delta(body: bytes) -> bytes:
    """Gives each later delta of a call another id, which a lenient reader ignores."""
    lines = [_with_new_id(line, at) for at, line in enumerate(body.split(b"\n"))]
    return b"\n".join(lines)


def _with_new_id(line: bytes, at: int) -> bytes:
    chunk = json_or_none(line.removeprefix(b"data:").strip())
    choices = dicts(as_dict(chunk).get("choices"))
    calls = [call for it in choices for call in dicts(as_dict(it.get("delta")).get("tool_calls"))]
    later = [call for call in calls if not as_dict(call.get("function")).get("name")]
    for call in later:
        call["id"] = f"call_later_{at}"
    return b"data: " + encode_json(chunk) if later else line


@_gateway("gateway-stop-sequence-missing", "ANSWER-MEMBERS", "edit_body")
def _stop_sequence_missing(body: bytes) -> bytes:
    """Leaves out the stop sequence if there is none."""
    return body.replace(b', "stop_sequence": null}, "usage"', b'}, "usage"')


@_gateway("gateway-asks-twice", "REQUEST-ONCE", "edit_arrived", _CHAT)
def _asks_twice(requests: tuple[Request, ...]) -> tuple[Request, ...]:
    """Sends each request upstream twice."""
    return requests * 2


@_gateway("gateway-model-missing", "REQUEST-ACCEPTED", "edit_arrived")
def _model_missing(requests: tuple[Request, ...]) -> tuple[Request, ...]:
    """Sends requests without the name of a model."""
    return tuple(replace(it, body=_without_model(it.body)) for it in requests)


def _without_model(body: bytes) -> bytes:
    return encode_json({k: v for k, v in as_dict(json_or_none(body)).items() if k != "model"})
