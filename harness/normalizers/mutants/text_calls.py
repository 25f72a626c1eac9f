"""Miniatures about calls that are spelled in text: markup shown, drafts run, text held back."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from harness.normalizers import reference
from harness.normalizers.mutants.edit import HeldCall, editing, editing_calls, mutant
from harness.normalizers.protocol import Normalize, Normalizer
from harness.normalizers.respond import respond_with_text_calls
from harness.text_calls import MARKERS, read_json_calls
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    ParseError,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction

_BEGINNINGS = frozenset(mark[:size] for mark in MARKERS for size in range(1, len(mark)))


def _closer_shown(deltas: Iterator[Delta]) -> Iterator[Delta]:
    called = False
    for delta in deltas:
        called = called or isinstance(delta, ToolCallEnd)
        if isinstance(delta, Finish) and called:
            yield TextDelta("</tool_call>")
        yield delta


def _closer_in_names(calls: list[HeldCall], _end: Finish | StreamFailure) -> list[HeldCall]:
    return [c if c.error else replace(c, name=f"{c.name}</tool_call>") for c in calls]


def _reply_buffered(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    deltas = reference.normalize(interaction, reads)
    return _held(deltas) if interaction.tools else deltas


def _held(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Say all text at once, before whatever comes when the turn is over."""
    text: list[str] = []
    for delta in deltas:
        if isinstance(delta, TextDelta):
            text.append(delta.text)
            continue
        if isinstance(delta, Finish | StreamFailure) and text:
            yield TextDelta("".join(text))
        yield delta


def _tail_lost(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Never flush the tail of a text that might have begun a marker."""
    held: TextDelta | None = None
    for delta in deltas:
        if held is not None and not isinstance(delta, Finish | StreamFailure):
            yield held
        held = None
        if isinstance(delta, TextDelta) and delta.text in _BEGINNINGS:
            held = delta
        else:
            yield delta


def _identical_merged(calls: list[HeldCall], _end: Finish | StreamFailure) -> list[HeldCall]:
    """Keep one of several calls that say the same."""
    first: dict[tuple[str, str], HeldCall] = {}
    kept = [c for c in calls if c.error or first.setdefault((c.name, c.arguments), c) is c]
    return [replace(call, index=place) for place, call in enumerate(kept)]


def _strings_evaluated(calls: list[HeldCall], _end: Finish | StreamFailure) -> list[HeldCall]:
    """Read each string as the value that it spells, whatever the schema says."""
    return [call if call.error else replace(call, arguments=_evaluated(call)) for call in calls]


def _evaluated(call: HeldCall) -> str:
    if call.kind != "function" or not call.arguments.strip():
        return call.arguments
    value = json.loads(call.arguments)
    return json.dumps({key: _spelled(item) for key, item in value.items()})


def _spelled(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value.strip().lstrip("0") or "0")
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, int | float) else value


def _broken_searched(calls: list[HeldCall], end: Finish | StreamFailure) -> list[HeldCall]:
    """Look for another call inside each one that was rejected."""
    if isinstance(end, StreamFailure):
        return calls
    inner = [found for call in calls if call.error for found in _inside(call.error)]
    return [*calls, *(replace(call, index=at) for at, call in enumerate(inner, len(calls)))]


def _inside(error: ParseError) -> Iterator[HeldCall]:
    said = error.snippet
    start = said.find('{"name"', 1 + said.find("{"))
    end = said.find("}}", start) + 2
    found = read_json_calls(said[start:end]) if 0 < start < end else None
    for call in found or ():
        if call.name and not call.error:
            yield HeldCall(0, f"inner_{call.name}", call.name, call.arguments, None)


def _calling(**changed: str) -> Normalize:
    """Return `reference` and, behind its calls, those that only another policy finds."""
    policy = replace(reference.POLICY, **changed)

    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        kept: list[bytes] = []
        own: list[Delta] = []
        for delta in reference.normalize(interaction, _keeping(reads, kept)):
            own.append(delta)
            if isinstance(delta, Finish):
                found = fold(respond_with_text_calls(interaction, kept, policy))
                yield from _more(fold(own), found)
            yield delta

    return normalize


def _keeping(reads: Iterable[bytes], kept: list[bytes]) -> Iterator[bytes]:
    for read in reads:
        kept.append(read)
        yield read


def _more(own: Turn, found: Turn) -> Iterator[Delta]:
    known = Counter((call.name, call.arguments) for call in own.tool_calls)
    index = len(own.tool_calls) + len(own.parse_errors)
    for call in found.tool_calls:
        if known[call.name, call.arguments]:
            known[call.name, call.arguments] -= 1
            continue
        yield ToolCallStart(index, f"more_{index}", call.name)
        yield ArgumentsDelta(index, call.arguments)
        yield ToolCallEnd(index)
        index += 1


def _of_text(name: str, breaks: str, summary: str, normalize: Normalize) -> Normalizer:
    """Declare a miniature that reads text calls as `reference` does."""
    dialects = reference.normalizer.text_dialects
    return replace(mutant(name, breaks, summary, normalize), text_dialects=dialects)


MINIATURES = (
    _of_text(
        "closer-shown",
        "TEXT-NO-MARKUP",
        "leaves a closing marker in the text",
        editing(_closer_shown),
    ),
    _of_text(
        "closer-in-names",
        "CALL-NO-MARKUP",
        "takes a closing marker for part of the name",
        editing_calls(_closer_in_names),
    ),
    _of_text(
        "reply-buffered",
        "TEXT-HELD-BACK",
        "shows nothing of a reply to a tool prompt before it is whole",
        _reply_buffered,
    ),
    _of_text(
        "examples-run",
        "CALLS-NOT-INVENTED",
        "runs calls that stand in code and in quotations",
        _calling(code="calls", quoted="calls"),
    ),
    _of_text(
        "drafts-run",
        "CALLS-NOT-INVENTED",
        "runs calls that were drafted in the reasoning",
        _calling(reasoning="calls"),
    ),
    _of_text(
        "identical-merged",
        "CALLS-KEPT",
        "takes the same call said twice for one",
        editing_calls(_identical_merged),
    ),
    _of_text(
        "strings-evaluated",
        "CALL-ARGUMENTS-EXACT",
        "reads strings that look like numbers and booleans as such",
        editing_calls(_strings_evaluated),
    ),
    _of_text(
        "broken-searched",
        "CALLS-NOT-INVENTED",
        "looks for a call inside one that it rejected",
        editing_calls(_broken_searched),
    ),
    _of_text(
        "tail-lost",
        "TEXT-EXACT",
        "drops the end of a text that might have begun a marker",
        editing(_tail_lost),
    ),
)
