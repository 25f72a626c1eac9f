"""List all dialects by name, and apply the rules that hold for all of them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final
from weakref import ref

import msgspec

from harness.dialects import (
    anthropic,
    bedrock_converse,
    bedrock_llama,
    cohere,
    dashscope,
    gemini,
    gemini_live,
    google_interactions,
    mistral,
    ollama,
    openai_chat,
    openai_completions,
    openai_responses,
    tgi,
)
from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.detect import Detector
from harness.dialects.kit.dialect import Dialect
from harness.dialects.kit.oracle.dispatch import admissible_readings
from harness.dialects.kit.oracle.events import BOM
from harness.dialects.kit.oracle.markup import markup_readings, with_marked_reasoning
from harness.dialects.kit.oracle.written_calls import described_text_dialects
from harness.dialects.kit.parse_request import ChatRequest, Json, MessageForm
from harness.dialects.kit.sessions import ClientRole, find_turns
from harness.errors import UsageError
from harness.turns.oracle_reading import Deviation, OracleReading
from harness.turns.turn import Tool
from harness.wire.aws import AWS_CONTENT_TYPE, AWS_FIRST_BYTE
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import json_or_none
from harness.wire.session import SessionFrame

_PACKAGES = (
    anthropic, bedrock_converse, bedrock_llama, cohere, dashscope, gemini, gemini_live,
    google_interactions, mistral, ollama, openai_chat, openai_completions, openai_responses, tgi,
)  # fmt: skip
DIALECTS: Final[dict[str, Dialect]] = {each.DIALECT.name: each.DIALECT for each in _PACKAGES}
DETECTOR: Final = Detector({row.name: row.detection for row in DIALECTS.values()})
# Dialects that agents support.
AGENT_DIALECTS: Final = frozenset(row.name for row in DIALECTS.values() if row.build_request)
# Dialects of clients that read text calls.
TEXT_CALL_DIALECTS: Final = frozenset(
    row.name for row in DIALECTS.values() if row.has_text_call_clients
)

SESSION_FORMS: Final = tuple(row.sessions for row in DIALECTS.values() if row.sessions)

_REQUESTS_KEPT = 16
_FIRST_ERROR_STATUS = 400
_SSE = "text/event-stream"


# The same request is parsed for each replay of its response, some forty times a cell.
@lru_cache(_REQUESTS_KEPT)
def read_request(dialect: str, request: Request) -> ChatRequest:
    """Return the content of `request`; an empty one if it was not recorded or is unreadable."""
    row, body = DIALECTS.get(dialect), request_body(request.body)
    if row is None or body is None:
        return kit.UNKNOWN_REQUEST
    parsed = row.parse_request(request.uri, body)
    return msgspec.structs.replace(parsed, calls_barred=True) if kit.bars_calls(body) else parsed


def request_body(body: bytes) -> Json | None:
    """Return the JSON object in the body of a request; None if the body is not one.

    Several messages of a session, one on each line, are the list `events` of the object.
    """
    value = json_or_none(body)
    if isinstance(value, dict):
        return value
    events = [json_or_none(line) for line in body.split(b"\n")] if b"\n" in body else []
    objects = [event for event in events if isinstance(event, dict)]
    return {"events": objects} if objects and len(objects) == len(events) else None


def session_turns(frames: Sequence[SessionFrame], dialect: str) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the frames of each response that a session of `dialect` contains."""
    row = DIALECTS.get(dialect)
    return find_turns(frames, row.sessions) if row is not None and row.sessions else ()


def client_role(event: Json) -> ClientRole:
    """Return the role of a client's message in a session of any dialect; "" for an unknown one."""
    roles: Iterator[ClientRole] = (form.client(event) for form in SESSION_FORMS)
    return next((role for role in roles if role), "")


def session_reply(event: Json) -> bytes:
    """Return the message that a server sends at once to a client's message; b"" for none."""
    found = (text for form in SESSION_FORMS for name, text in form.replies.items() if name in event)
    return next(found, b"")


def message_form(dialect: str) -> MessageForm:
    """Return where the requests of `dialect` contain messages and tools."""
    row = DIALECTS.get(dialect)
    return row.messages if row else kit.CHAT_MESSAGES


# Several clients are judged by the same interactions; id -> the interaction and its reading.
_READINGS: Final[dict[int, tuple[ref[Interaction], OracleReading]]] = {}


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return the meaning of the body of `interaction`, by the contract of its API.

    Three rules hold for all APIs: an error status is an error, text that may contain text calls
    has several readings or none, and a client may read marked-up reasoning in the text as text.

    Raises:
        UsageError: the dialect is not known.
    """
    key = id(interaction)
    known = _READINGS.get(key)
    if known is not None and known[0]() is interaction:
        return known[1]
    reading = _oracle_reading(interaction)
    _READINGS[key] = ref(interaction, lambda _: _READINGS.pop(key, None)), reading
    return reading


def _oracle_reading(interaction: Interaction) -> OracleReading:
    row = DIALECTS.get(interaction.dialect)
    if row is None:
        raise UsageError(
            f"no oracle for the dialect {interaction.dialect!r}",
            hint=f"Choose one of: {', '.join(sorted(DIALECTS))}.",
        )
    readings = admissible_readings(row.oracle, interaction)
    request, names = read_request(interaction.dialect, interaction.request), tool_names(interaction)
    described = None
    if request.tools_known and not request.calls_barred:
        described = described_text_dialects(request.system)
    if names or described or not request.tools_known:
        readings = [one for each in readings for one in markup_readings(each, names, described)]
    readings = [one for each in readings for one in with_marked_reasoning(each)]
    if interaction.body.startswith(BOM):
        mark = Deviation("SSE-BOM", 0, ambiguous=False)
        readings = [
            msgspec.structs.replace(it, deviations=(mark, *it.deviations)) for it in readings
        ]
    if interaction.status >= _FIRST_ERROR_STATUS:
        error = (f"http_{interaction.status}", "")
        readings = [msgspec.structs.replace(it, error=it.error or error) for it in readings]
    return msgspec.structs.replace(readings[0], alternatives=tuple(readings[1:]))


def with_content_type(interaction: Interaction) -> Interaction:
    """Return `interaction` with the content type of its body, if it was stored without headers.

    Every server sends the header, and some clients, such as Cohere's and Mistral's, refuse a
    response without it. A response with headers is returned unchanged.
    """
    row = DIALECTS.get(interaction.dialect)
    if interaction.headers or row is None:
        return interaction
    kind, start = row.content_type, interaction.body.lstrip()[:1]
    if start == AWS_FIRST_BYTE:
        kind = AWS_CONTENT_TYPE
    elif interaction.status >= _FIRST_ERROR_STATUS or (start in (b"{", b"[") and kind == _SSE):
        kind = "application/json"
    return msgspec.structs.replace(interaction, headers=(("content-type", kind),))


def native_reading(interaction: Interaction) -> OracleReading:
    """Return the first reading of the members of the API alone, without calls in texts."""
    return admissible_readings(DIALECTS[interaction.dialect].oracle, interaction)[0]


def tool_names(interaction: Interaction) -> frozenset[str]:
    """Return the names of the tools that the model may call, as far as they are known."""
    request = read_request(interaction.dialect, interaction.request)
    described = (str(tool.get("name") or "") for tool in interaction.tools)
    return frozenset(tool.name for tool in request.tools).union(described) - {""}


def offered_tools(interaction: Interaction) -> tuple[Tool, ...]:
    """Return the offered tools: those in fields of the request, then those in the prompt.

    If two have the same name, the one in the request counts. Items without a name are left out.
    """
    declared = read_request(interaction.dialect, interaction.request).tools
    if not interaction.tools:
        return declared
    known = {tool.name for tool in declared}
    described = filter(None, map(_tool, interaction.tools))
    return (*declared, *(tool for tool in described if tool.name not in known))


def known_tools(interaction: Interaction) -> tuple[Tool, ...] | None:
    """Return the offered tools; None if the recording does not show which tools were offered."""
    body = request_body(interaction.request.body)
    tools = offered_tools(interaction)
    return tools if tools or (body is not None and not kit.omits_tools(body)) else None


def _tool(item: dict[str, Any]) -> Tool | None:
    try:
        return msgspec.convert(item, Tool)
    except msgspec.ValidationError:
        return None
