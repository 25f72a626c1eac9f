"""Known-bad clients: they reproduce bugs reported in the field, and the suite must find them.

`naive` merges the chunks of a call as the client of the DashScope story did: the id and name of
each chunk replace the earlier ones, also by empty strings. So a call whose later chunks contain
`"id": "", "name": ""` ends without either, and arguments are never checked.

`tool-calls-empty` is the client of the action protocol's story: it emits all text, and its list of
calls is always empty. So no tool is ever executed, and the user reads JSON that was meant for the
client.

`closed-tag-only` and `first-brace-regex` are two versions of the client of the tag story. Both emit
all text at once, markup included, search for one call when the turn ends, and drop text that they
cannot parse. `closed-tag-only` knows only the closed tag, so it never executes calls of local
models, which forget the closing tag. `first-brace-regex` is its repair: an open tag counts, and in
bare JSON it takes the text from the first brace to the first closing brace after the name. Then it
appends the braces that are missing.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET

from harness.dialects.openai_chat.chunk import Entry, Function
from harness.dialects.table import TEXT_CALL_DIALECTS, offered_tools
from harness.normalizers.protocol import CAPABILITIES, Normalize, Normalizer
from harness.normalizers.respond import DEFAULT_READER, respond, respond_chat
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    call_deltas,
)
from harness.wire.interaction import Interaction


class _ReceivedCall(msgspec.Struct):
    """The values of one call's fields that were received so far."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class MergedCalls:
    """Merges the parts of calls by their index; each field keeps only its last value."""

    def __init__(self) -> None:
        self.seed = ""
        self._calls: dict[int, _ReceivedCall] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def take(self, entry: Entry, out: list[Delta]) -> None:
        """Merge one part of a call, as JavaScript's shallow `{...old, ...new}` does."""
        del out
        call = self._calls.setdefault(entry.index or 0, _ReceivedCall())
        function = entry.function or Function()
        call.id = call.id if entry.id is UNSET else str(entry.id)
        call.name = call.name if function.name is UNSET else str(function.name)
        call.arguments += function.arguments or ""

    def has_arguments(self, entry: Entry, position: int) -> bool:
        """Return False, because this client does not recognize a call that comes twice."""
        del entry, position
        return False

    def close(self, out: list[Delta], *, failed: str = "", cut_short: bool = False) -> None:
        """Emit every call without checking it."""
        del failed, cut_short
        for index, call in enumerate(self._calls.values()):
            out += call_deltas(index, call.id, call.name, call.arguments)


def _merged(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    return respond_chat(interaction, reads, calls=MergedCalls())


naive: Final = Normalizer(
    name="naive",
    normalize=_merged,
    role="known-bad",
    capabilities=frozenset(("aws-framing", "calls-in-unknown-members")),
    breaks=frozenset(
        (
            "CALL-NAMED",
            "CALL-NAME-EXACT",
            "CALL-ID-PRESENT",
            "CALL-ID-EXACT",
            "CALL-IDS-UNIQUE",
            "CALLS-KEPT",
            "CALLS-NOT-INVENTED",
            "ARGUMENTS-USABLE",
            "BROKEN-CALL-NOT-RUN",
            "TRUNCATED-CALL-NOT-RUN",
        )
    ),
    summary="the client of the DashScope story: empty strings overwrite id and name",
)


def _without_calls(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    for delta in respond(interaction, reads):
        if isinstance(delta, Finish) and delta.reason is FinishReason.TOOL_CALLS:
            yield Finish(FinishReason.STOP, delta.raw)
        elif not isinstance(delta, ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected):
            yield delta


tool_calls_empty: Final = Normalizer(
    name="tool-calls-empty",
    normalize=_without_calls,
    dialects=TEXT_CALL_DIALECTS,
    capabilities=frozenset(CAPABILITIES),
    role="known-bad",
    breaks=frozenset(
        (
            "CALLS-KEPT",
            "FAILURE-REPORTED",
            "FINISH-REASON",
            "PARSE-ERROR-REPORTED",
            "REASONING-KEPT",
            "REASONING-NOT-IN-TEXT",
            "TEXT-EXACT",
            "TEXT-NO-MARKUP",
        )
    ),
    summary="the client of the action protocol's story: it emits all as text and never a call",
    policies=DEFAULT_READER,
    text_dialects=frozenset(("action-protocol",)),
)

_OPENER, _CLOSER = "<tool_call>", "</tool_call>"
_NAME_KEYS = ("tool", "name")

# Text and names of the tools -> the JSON text of the one call; "" if there is none.
_Extract: TypeAlias = Callable[[str, frozenset[str]], str]


def _closed_tag(text: str, names: frozenset[str]) -> str:
    """Return the text in the first tag that has a closing tag; "" if there is none."""
    del names
    inside, closer, _ = text.partition(_OPENER)[2].partition(_CLOSER)
    return inside if closer else ""


def _any_format(text: str, names: frozenset[str]) -> str:
    """Return the text that the first matching one of three patterns finds, from strict to loose."""
    return _closed_tag(text, names) or text.partition(_OPENER)[2] or _first_brace(text, names)


def _first_brace(text: str, names: frozenset[str]) -> str:
    """Return the shortest match of `{ ... "tool" ... : ... "NAME" ... }`."""
    start = text.find("{")
    keys = [at for key in _NAME_KEYS if (at := text.find(f'"{key}"', start)) >= 0]
    if start < 0 or not keys:
        return ""
    colon = text.find(":", min(keys))
    named = [at for name in names if (at := text.find(f'"{name}"', colon)) >= 0]
    if colon < 0 or not named:
        return ""
    end = text.find("}", min(named))
    return text[start : end + 1] if end >= 0 else ""


def _call(found: str, names: frozenset[str]) -> tuple[str, str] | None:
    """Return name and arguments of the object in `found`, with missing braces appended."""
    missing = found.count("{") - found.count("}")
    for text in (found, found + "}" * missing):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return _named(value, names) if isinstance(value, dict) else None
    return None


def _named(value: dict[str, object], names: frozenset[str]) -> tuple[str, str] | None:
    name = next((value[key] for key in _NAME_KEYS if key in value), None)
    if not isinstance(name, str) or name not in names:
        return None
    flat = {key: item for key, item in value.items() if key not in _NAME_KEYS}
    return name, json.dumps(flat.get("arguments", flat), ensure_ascii=False)


def _extracting(extract: _Extract) -> Normalize:
    """Return a client that searches the text with `extract` for one call when the turn ends."""

    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        names = frozenset(tool.name for tool in offered_tools(interaction))
        text: list[str] = []
        native = 0
        for delta in respond(interaction, reads):
            if isinstance(delta, TextDelta):
                text.append(delta.text)
            elif isinstance(delta, ToolCallStart):
                native += 1
            elif isinstance(delta, Finish) and (
                call := _call(extract("".join(text), names), names)
            ):
                yield from call_deltas(native, f"call_{native}", *call)
                yield Finish(FinishReason.TOOL_CALLS, delta.raw)
                continue
            yield delta

    return normalize


# Both find one call, in one format, in text that they emit unchanged, also from
# quotations and drafts. They drop what is broken.
_BREAKS = frozenset(
    (
        "ARGUMENTS-USABLE",
        "BROKEN-CALL-NOT-RUN",
        "CALL-ARGUMENTS-EXACT",
        "CALL-ID-EXACT",
        "CALL-ID-FRESH",
        "CALLS-KEPT",
        "CALLS-NOT-INVENTED",
        "FINISH-REASON",
        "PARSE-ERROR-REPORTED",
        "REASONING-KEPT",
        "REASONING-NOT-IN-TEXT",
        "TEXT-EXACT",
        "TEXT-NO-MARKUP",
    )
)


def _known_bad(name: str, extract: _Extract, summary: str) -> Normalizer:
    return Normalizer(
        name=name,
        normalize=_extracting(extract),
        dialects=TEXT_CALL_DIALECTS,
        capabilities=frozenset(CAPABILITIES),
        role="known-bad",
        breaks=_BREAKS,
        summary=summary,
        policies=DEFAULT_READER,
        text_dialects=frozenset(("tagged-json", "bare-json")),
    )


closed_tag_only: Final = _known_bad(
    "closed-tag-only",
    _closed_tag,
    "the client of the tag story: one closed tag is a call, all else is emitted as text",
)
first_brace_regex: Final = _known_bad(
    "first-brace-regex",
    _any_format,
    "its first repair: bare JSON from the first brace to the first closing brace",
)
