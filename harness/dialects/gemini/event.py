"""Decode the payload of an event into typed structs: the added text, or the arguments as written.

Most events add only text, and decoding the payload into a typed struct takes half the time.
Any other event is decoded into plain values and read by the slower reader.
Source: Gemini API reference, `streamGenerateContent`, `GenerateContentResponse`.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import exact_event
from harness.turns.json_values import as_dict, dicts

Json = dict[str, Any]

_CALL_NAMES = ("functionCall", "function_call")


class _Part(msgspec.Struct, gc=False):
    text: str = ""
    thought: Any = None
    thoughtSignature: Any = None  # noqa: N815 - the API's own name
    thought_signature: Any = None
    functionCall: Any = None  # noqa: N815 - the API's own name
    function_call: Any = None


class _Content(msgspec.Struct, gc=False):
    parts: list[_Part]


class _Candidate(msgspec.Struct, gc=False):
    content: _Content
    index: int = 0
    finishReason: Any = None  # noqa: N815 - the API's own name
    finish_reason: Any = None


class UsagePiece(msgspec.Struct, gc=False):
    """The token counts of an event. Only their camelCase names are used."""

    promptTokenCount: Any = None  # noqa: N815 - the API's own name
    candidatesTokenCount: Any = None  # noqa: N815 - the API's own name
    thoughtsTokenCount: Any = None  # noqa: N815 - the API's own name
    prompt_token_count: Any = None
    candidates_token_count: Any = None
    thoughts_token_count: Any = None


class _Event(msgspec.Struct, gc=False):
    candidates: list[_Candidate]
    usageMetadata: UsagePiece | None = None  # noqa: N815 - the API's own name
    usage_metadata: Any = None
    error: Any = None
    responseId: Any = None  # noqa: N815 - the API's own name
    response_id: Any = None


class _Call(msgspec.Struct, gc=False):
    args: msgspec.Raw = msgspec.Raw(b"null")


class _CallPart(msgspec.Struct, gc=False):
    functionCall: _Call | None = None  # noqa: N815 - the API's own name
    function_call: _Call | None = None


class _Calling(msgspec.Struct, gc=False):
    parts: list[_CallPart] | None = None


class _CallingCandidate(msgspec.Struct, gc=False):
    content: _Calling | None = None


class _CallEvent(msgspec.Struct, gc=False):
    candidates: list[_CallingCandidate] | None = None
    response: "_CallEvent | None" = None


_decode = piece_decoder(_Event)
_decode_calls = msgspec.json.Decoder(_CallEvent).decode


def piece_of(
    data: bytes, index: object, *, has_id: bool
) -> tuple[str, bool, UsagePiece | None] | None:
    """Return the text that an event adds to candidate `index`, whether it is a thought, the counts.

    None if the event may contain anything else, such as the first id of the response.
    """
    event = _decode(data)
    if event is None or len(event.candidates) != 1 or event.error:
        return None
    usage = event.usageMetadata
    has_other_usage = event.usage_metadata or (usage is not None and _has_other_names(usage))
    if has_other_usage or (not has_id and (event.responseId or event.response_id)):
        return None
    candidate = event.candidates[0]
    parts = candidate.content.parts
    if len(parts) != 1 or candidate.finishReason or candidate.finish_reason:
        return None
    part = parts[0]
    if part.functionCall is not None or part.function_call is not None or not part.text:
        return None
    if part.thoughtSignature or part.thought_signature:
        return None
    return (part.text, bool(part.thought), usage) if candidate.index == index else None


def _has_other_names(usage: UsagePiece) -> bool:
    return (
        usage.prompt_token_count is not None
        or usage.candidates_token_count is not None
        or usage.thoughts_token_count is not None
    )


def unwrapped(event: Json) -> Json:
    """Return the response in an event. Code Assist puts each response into another object."""
    inner = event.get("response")
    return inner if isinstance(inner, dict) else event


def keep_argument_text(event: Json, data: bytes) -> None:
    """Replace the arguments object of each call by its JSON text in `data`.

    If that text is not available, the call gets values from which the text can be written again
    exactly. The same holds for arguments in parts.

    Args:
        event: the value of `data`, unwrapped.
        data: the payload.
    """
    try:
        typed_event = _decode_calls(data)
    except (ValueError, RecursionError):
        typed_event = None
    if typed_event is None or any(map(_has_pieces, _calls(event))):
        exact_calls = _calls(unwrapped(exact_event({}, data)))
        for call, exact in zip(_calls(event), exact_calls, strict=False):
            call.update(exact)
    if typed_event is not None:
        _copy_argument_text(event, typed_event)


def has_object_arguments(call: Json) -> bool:
    """Return whether the arguments of a call can be written in several ways."""
    return _has_values(call.get("args")) or _has_pieces(call)


def _copy_argument_text(event: Json, typed_event: _CallEvent) -> None:
    """Copy the JSON text of arguments that are an object from the typed event to `event`."""
    typed_event = typed_event.response or typed_event
    for candidate, shape in zip(event["candidates"], typed_event.candidates or (), strict=False):
        content = shape.content
        if content is None or content.parts is None:
            continue
        for part, typed in zip(candidate["content"]["parts"], content.parts, strict=False):
            for name in _CALL_NAMES:
                raw: _Call | None = getattr(typed, name)
                if raw is not None and _has_values(part[name].get("args")):
                    part[name]["args"] = str(raw.args, "utf-8", "replace")


def _has_values(args: object) -> bool:
    """Return whether arguments are neither text nor empty."""
    return bool(args) and not isinstance(args, str)


def _has_pieces(call: Json) -> bool:
    return "partialArgs" in call or "partial_args" in call


def _calls(event: Json) -> Iterator[Json]:
    for candidate in dicts(event.get("candidates")):
        for part in dicts(as_dict(candidate.get("content")).get("parts")):
            for name in _CALL_NAMES:
                if isinstance(part.get(name), dict):
                    yield part[name]
