"""Build the parts of a written Responses stream: response, output items, content parts, usage.

All of them have every member that the API's reference requires. Source: OpenAI API
reference, "The response object" and "Responses: streaming events".
"""

from typing import Final

from harness.dialects.kit.writer import CREATED, Json
from harness.turns.deltas import ToolCallStart, Usage

# Kind of text -> its item's type, the field of the item, the part's type, the events' name.
TEXTS: Final = {
    "text": ("message", "content", "output_text", "output_text"),
    "refusal": ("message", "content", "refusal", "refusal"),
    "summary": ("reasoning", "summary", "summary_text", "reasoning_summary_text"),
    "reasoning": ("reasoning", "content", "reasoning_text", "reasoning_text"),
}
# Kind of text -> the field of the events for the position of the part in its item, and the
# events that open and close that part.
PLACES: Final = {
    "text": ("content_index", "content_part"),
    "refusal": ("content_index", "content_part"),
    "summary": ("summary_index", "reasoning_summary_part"),
    "reasoning": ("content_index", "content_part"),
}
_PART_MORE: Final[dict[str, Json]] = {"text": {"annotations": [], "logprobs": []}}
_RESPONSE: Final[Json] = {
    "background": False,
    "error": None,
    "frequency_penalty": 0.0,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "prompt_cache_retention": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
_OF_REALTIME: Final = ("object", "id", "status", "output", "metadata", "usage")
_ID_PREFIXES: Final = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
}
# Kind of call -> its item's type, the field of what the model gives it, the events' name.
CALLS: Final = {
    "function": ("function_call", "arguments", "function_call_arguments"),
    "custom": ("custom_tool_call", "input", "custom_tool_call_input"),
}


class Out:
    """One output item that the writer writes.

    Fields:
        index: the position of the item.
        kind: the kind of a text, which is a key of `TEXTS`, or of a call.
        call: the start of the call; None if the item is not a call.
        pieces: the fragments so far of the text or of the arguments.
        status: the status in its next complete item.
        encrypted: the data of a reasoning item that only the provider can read.
    """

    def __init__(self, index: int, kind: str, call: ToolCallStart | None = None) -> None:
        self.index = index
        self.kind = kind
        self.call = call
        self.pieces: list[str] = []
        self.status = "in_progress"
        self.encrypted = ""

    @property
    def type(self) -> str:
        """The type of the item."""
        return (CALLS if self.call else TEXTS)[self.kind][0]

    @property
    def id(self) -> str:
        """The id of the item."""
        return f"{_ID_PREFIXES[self.type]}_{self.index + 1}"

    @property
    def text(self) -> str:
        """The text, or the arguments, of the item so far."""
        return "".join(self.pieces)


def response(response_id: str, model: str, status: str, output: Json, usage: Usage | None) -> Json:
    """Return a response object; `output` is its member of that name, left out if it is None."""
    start = {"id": response_id, "object": "response", "created_at": CREATED, "status": status}
    # The service tier that was requested, and at the end the one that was used.
    tier = {"service_tier": "auto" if status == "in_progress" else "default"}
    ended: Json = {"completed_at": CREATED + 1 if status == "completed" else None}
    members = {**start, **ended, "model": model, **_RESPONSE, **tier, **output}
    return {**members, "usage": usage_of(usage)}


def as_realtime(value: Json) -> Json:
    """Return the response object `value` in the format of the Realtime API."""
    details = value["incomplete_details"] or {}
    error = {"error": value["error"]} if value["error"] else {}
    details_of_end = {"type": value["status"], **details, **error} if details or error else None
    members: Json = {name: value[name] for name in _OF_REALTIME if name in value}
    return {**members, "object": "realtime.response", "status_details": details_of_end}


def part(kind: str, text_so_far: str) -> Json:
    """Return the part of an item that contains the text `text_so_far`."""
    key = "refusal" if kind == "refusal" else "text"
    return {"type": TEXTS[kind][2], **_PART_MORE.get(kind, {}), key: text_so_far}


def usage_of(usage: Usage | None) -> Json | None:
    """Return the usage as a response has it, without unknown counts; None if `usage` is None."""
    if usage is None:
        return None
    counts: dict[str, Json] = {
        "input_tokens": {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}},
        "output_tokens": {"output_tokens_details": {"reasoning_tokens": 0}},
    }
    found: Json = {}
    for name, details in counts.items():
        count = getattr(usage, name)
        found |= {} if count is None else {name: count, **details}
    total = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    return {**found, "total_tokens": total}
