"""The checks of Open Responses' public suite that use HTTP: their requests, and their judgement.

Open Responses is a specification of the Responses API for many providers. Its suite has ten checks
over HTTP and seven over WebSocket, which `openresponses_sessions` runs. The members that the
specification requires are those of the table of `openai-responses` for which the table cites it.
Source: https://github.com/openresponses/openresponses
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from harness.judging.contract.shape import Part, event_of, iter_events, iter_parts
from harness.judging.contract.table import ContractTable, load_tables
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

PROFILE: Final = "openresponses"
SCHEMA: Final = 1
_DIALECT: Final = "openai-responses"
_DOCUMENT: Final = "open-responses"
_FINAL: Final = "response.completed"
_OK, _BAD_REQUEST, _SERVER_ERROR = 200, 400, 500
_PHASES: Final = (None, "commentary", "final_answer")
# A picture of one grey pixel.
_IMAGE: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCB"
    "d81ytgAAAABJRU5ErkJggg=="
)


class ProfileCheck(msgspec.Struct, frozen=True):
    """One check of the suite.

    Fields:
        path: what is added to the address of `/responses`.
        body: the members of the request besides the model.
        kind: the type of an item that the output must have; "" for any.
        has_model: whether the request names the model.
    """

    id: str
    body: dict[str, Any]
    path: str = ""
    kind: str = ""
    has_model: bool = True


class ProfileResult(msgspec.Struct, frozen=True):
    """The result of one check; `problems` has the reason if it did not pass."""

    id: str
    status: Literal["passed", "failed", "not run"]
    problems: tuple[str, ...] = ()


class ProfileReport(msgspec.Struct, frozen=True):
    """The results of all checks of the suite.

    Fields:
        schema: the version of the JSON format.
    """

    schema: int
    profile: str
    results: tuple[ProfileResult, ...]


def _message(content: object, role: str = "user", **more: object) -> dict[str, object]:
    return {"type": "message", "role": role, "content": content, **more}


_TOOL: Final = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
_PICTURE: Final = [
    {"type": "input_text", "text": "Which colour has this picture?"},
    {"type": "input_image", "image_url": _IMAGE},
]
_TURNS: Final = (_message("I am Zoë."), _message("Hello Zoë.", "assistant"), _message("Who am I?"))
_PHASE: Final = _message("I am looking.", "assistant", phase="commentary")


def _check(name: str, *items: dict[str, object], **more: Any) -> ProfileCheck:  # noqa: ANN401 - members of a request
    return ProfileCheck(name, {"input": list(items), **more})


CHECKS: Final = (
    _check("basic-response", _message("Greet me in three words.")),
    _check("assistant-phase", _message("Look up the weather."), _PHASE, _message("Go on.")),
    _check("response-output-phase-schema", _message("Say yes.")),
    _check("streaming-response", _message("Count to five."), stream=True),
    _check("system-prompt", _message("Answer in French.", "system"), _message("Greet me.")),
    ProfileCheck(
        "tool-calling",
        {"input": [_message("What is the weather in Oslo?")], "tools": [_TOOL]},
        kind="function_call",
    ),
    _check("image-input", _message(_PICTURE)),
    _check("multi-turn", *_TURNS),
    ProfileCheck("compact-response", {"input": list(_TURNS)}, path="/compact"),
    ProfileCheck("compact-missing-model", {"input": list(_TURNS)}, "/compact", has_model=False),
)


def judge_profile(answers: Sequence[Interaction]) -> tuple[ProfileResult, ...]:
    """Return the result of each check, given the answers to the requests of `CHECKS` in order."""
    table = load_tables()[_DIALECT]
    results = []
    for check, answer in zip(CHECKS, answers, strict=True):
        identified = msgspec.structs.replace(answer, dialect=_DIALECT)
        problems = tuple(dict.fromkeys(_problems(check, identified, table)))
        results.append(ProfileResult(check.id, "failed" if problems else "passed", problems))
    return tuple(results)


def compacted_output(answers: Sequence[Interaction]) -> tuple[Any, ...]:
    """Return the items that `/compact` returned; () if there are none."""
    pairs = zip(CHECKS, answers, strict=True)
    answer = next(answer for check, answer in pairs if check.path and check.has_model)
    value = json_or_none(answer.body) if answer.status == _OK else None
    output = value.get("output") if isinstance(value, dict) else None
    return tuple(output) if isinstance(output, list) else ()


def event_problems(events: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the members that Open Responses requires and the events of a session lack."""
    table = load_tables()[_DIALECT]
    for value in events:
        yield from _missing(event_of(value, "", 0, table.grammar), table)


def turn_problems(response: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the response of a terminal event."""
    yield from _response_problems(response, "")


def _problems(check: ProfileCheck, answer: Interaction, table: ContractTable) -> Iterator[str]:
    if not check.has_model:
        if not _BAD_REQUEST <= answer.status < _SERVER_ERROR:
            yield f"status {answer.status}, expected 400 to 499"
    elif answer.status != _OK:
        yield f"status {answer.status}, expected 200"
    elif check.body.get("stream"):
        yield from _stream_problems(answer, table)
    else:
        yield from _document_problems(check, json_or_none(answer.body), table)


def _document_problems(check: ProfileCheck, value: object, table: ContractTable) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "the body is not a JSON object"
    elif not check.path:
        # The document is the response of the last event of a stream.
        yield from _missing(Part(_FINAL, {"response": value}, 0), table)
        yield from _response_problems(value, check.kind)
    elif not isinstance(value.get("output"), list):
        yield "`output` is not a list"


def _response_problems(value: dict[str, Any], kind: str) -> Iterator[str]:
    if value.get("status") != "completed":
        yield f"`status` is {value.get('status')!r}, expected 'completed'"
    given = value.get("output")
    items = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    if not items:
        yield "`output` has no items"
    elif kind and not any(each.get("type") == kind for each in items):
        yield f"`output` has no item of the type {kind!r}"
    if any(each.get("phase") not in _PHASES for each in items):
        yield "`phase` of an item is not one of the documented values"


def _stream_problems(answer: Interaction, table: ContractTable) -> Iterator[str]:
    events = list(iter_events(answer, table.grammar))
    for event in events:
        yield from _missing(event, table)
    final = next((each for each in events if each.kind == _FINAL), None)
    response = final.value.get("response") if final else None
    if isinstance(response, dict):
        yield from _response_problems(response, "")
    else:
        yield f"no event `{_FINAL}` with a response"


def _missing(event: Part, table: ContractTable) -> Iterator[str]:
    """Yield the members that Open Responses requires and an event lacks."""
    is_document = event.kind == _FINAL and "type" not in event.value
    for part in iter_parts(event, table.grammar):
        if is_document and part is event:
            continue  # the envelope of an event
        for name, member in table.members.get(part.kind, {}).items():
            if _DOCUMENT in member.by and name not in part.value:
                yield f"`{name}` is missing in `{part.kind}`"
