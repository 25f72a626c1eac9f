"""Two states of the broken client of the tag story: calls cut out of the finished text.

Both show all text at once, markup too, look for one call when the turn is over, and drop what
they cannot parse without a word. `closed-tag-only` knows the closed tag alone, so that calls
of local models, which forget the tags, are never run. `first-brace-regex` is its repair: an
open tag counts, and of bare JSON what a pattern finds from the first brace of the text to the
first closing brace after the name, with the braces that are then missing put behind it.
"""

import json
from collections.abc import Callable, Iterable, Iterator

from harness.normalizers.protocol import CAPABILITIES, Normalize, Normalizer
from harness.normalizers.respond import offered_tools, respond
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.wire.interaction import Interaction

_OPENER, _CLOSER = "<tool_call>", "</tool_call>"
_NAME_KEYS = ("tool", "name")

# The text and the names of the tools -> the JSON text of the one call; "" where there is none.
Extract = Callable[[str, frozenset[str]], str]


def _closed_tag(text: str, names: frozenset[str]) -> str:
    """Return what stands in the first closed tag."""
    del names
    inside, closer, _ = text.partition(_OPENER)[2].partition(_CLOSER)
    return inside if closer else ""


def _any_format(text: str, names: frozenset[str]) -> str:
    """Return what the first of three patterns finds, from strict to loose."""
    return _closed_tag(text, names) or text.partition(_OPENER)[2] or _first_brace(text, names)


def _first_brace(text: str, names: frozenset[str]) -> str:
    """Return what `{ ... "tool" ... : ... "NAME" ... }` matches, as short as it can be."""
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
    """Return name and arguments of the object in `found`, once it has braces enough."""
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


def _extracting(extract: Extract) -> Normalize:
    """Return the client that looks for its call with `extract` when the turn is over."""

    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        names = frozenset(tool.name for tool in offered_tools(interaction))
        said: list[str] = []
        native = 0
        for delta in respond(interaction, reads):
            if isinstance(delta, TextDelta):
                said.append(delta.text)
            elif isinstance(delta, ToolCallStart):
                native += 1
            call = None
            if isinstance(delta, Finish):
                call = _call(extract("".join(said), names), names)
            yield from _deltas_with_call(delta, call, native)

    return normalize


def _deltas_with_call(delta: Delta, call: tuple[str, str] | None, index: int) -> Iterator[Delta]:
    if call is None:
        yield delta
        return
    name, arguments = call
    yield ToolCallStart(index, f"call_{index}", name)
    yield ArgumentsDelta(index, arguments)
    yield ToolCallEnd(index)
    yield Finish(FinishReason.TOOL_CALLS, delta.raw if isinstance(delta, Finish) else "")


# What both break: one call, of one spelling, found in a text that is shown as it is, whatever it
# quotes or was only thought; what is broken is dropped, and nothing is looked at again.
_BREAKS = frozenset(
    (
        "ARGUMENTS-USABLE",
        "BROKEN-CALL-NOT-RUN",
        "CALL-ARGUMENTS-EXACT",
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


def _known_bad(name: str, extract: Extract, summary: str) -> Normalizer:
    return Normalizer(
        name=name,
        normalize=_extracting(extract),
        dialects=frozenset(("openai-chat", "ollama")),
        capabilities=frozenset(CAPABILITIES),
        role="known-bad",
        breaks=_BREAKS,
        summary=summary,
        text_dialects=frozenset(("tagged-json", "bare-json")),
    )


closed_tag_only = _known_bad(
    "closed-tag-only",
    _closed_tag,
    "the broken client of the tag story: one closed tag counts, all else is shown",
)
first_brace_regex = _known_bad(
    "first-brace-regex",
    _any_format,
    "its first repair: bare JSON from the first brace to the first closing one",
)
