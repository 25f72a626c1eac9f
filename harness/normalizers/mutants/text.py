"""Mutants that damage text, reasoning, and calls that a model wrote in its text."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from harness.normalizers import reference
from harness.normalizers.mutants.edit import (
    CallDelta,
    End,
    HeldCall,
    edits_call,
    edits_calls,
    edits_delta,
    edits_deltas,
    mutant,
)
from harness.normalizers.mutants.endings import keeping
from harness.normalizers.respond import respond_with_text_calls
from harness.text_calls import MARKERS, read_json_calls
from harness.turns.deltas import (
    Delta,
    Finish,
    ParseError,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    call_deltas,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_BEGINNINGS = frozenset(mark[:size] for mark in MARKERS for size in range(1, len(mark)))


@edits_delta("text-stripped", "TEXT-EXACT")
def _stripped(delta: Delta) -> Iterable[Delta]:
    """Strips white space off each piece of text."""
    yield TextDelta(delta.text.strip()) if isinstance(delta, TextDelta) else delta


@edits_delta("sixteen-bits", "TEXT-NO-REPLACEMENT")
def _sixteen_bits(delta: Delta) -> Iterable[Delta]:
    """Replaces characters beyond 16 bits."""
    yield TextDelta(_ASTRAL.sub("\ufffd", delta.text)) if isinstance(delta, TextDelta) else delta


@edits_delta("done-shown", "TEXT-NO-PROTOCOL")
def _done_shown(delta: Delta) -> Iterable[Delta]:
    """Emits [DONE] as text."""
    return (TextDelta("[DONE]"), delta) if isinstance(delta, Finish) else (delta,)


@edits_delta("reasoning-shown", "REASONING-NOT-IN-TEXT")
def _reasoning_shown(delta: Delta) -> Iterable[Delta]:
    """Emits the reasoning as text."""
    return (TextDelta(delta.text), delta) if isinstance(delta, ReasoningDelta) else (delta,)


@edits_deltas("said-twice", "TEXT-ONCE")
def _repeated(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Appends the final message to the text of the deltas."""
    text: list[str] = []
    for delta in deltas:
        if isinstance(delta, TextDelta):
            text.append(delta.text)
        if isinstance(delta, Finish):
            yield TextDelta("".join(text))
        yield delta


@edits_delta("reasoning-dropped", "REASONING-KEPT")
def _reasoning_dropped(delta: Delta) -> Iterable[Delta]:
    """Drops the reasoning."""
    return () if isinstance(delta, ReasoningDelta) else (delta,)


@edits_deltas("text-held", "TEXT-PROMPT")
def _text_held(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Holds all text back until the turn ends."""
    held: list[str] = []
    for delta in deltas:
        if isinstance(delta, TextDelta):
            held.append(delta.text)
            continue
        if isinstance(delta, End) and held:
            yield TextDelta("".join(held))
        yield delta


@edits_deltas("arguments-held", "ARGUMENTS-PROMPT")
def _arguments_held(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Holds all fragments of arguments back until the turn ends."""
    held: list[Delta] = []
    for delta in deltas:
        if isinstance(delta, CallDelta) and not isinstance(delta, ToolCallStart):
            held.append(delta)
            continue
        if isinstance(delta, End):
            yield from held
        yield delta


@edits_deltas("closer-shown", "TEXT-NO-MARKUP", text_calls=True)
def _closer_shown(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Leaves a closing marker in the text."""
    called = False
    for delta in deltas:
        called = called or isinstance(delta, ToolCallEnd)
        if isinstance(delta, Finish) and called:
            yield TextDelta("</tool_call>")
        yield delta


@edits_call("closer-in-names", "CALL-NO-MARKUP", text_calls=True)
def _closer_in_names(call: HeldCall) -> HeldCall:
    """Takes a closing marker for part of the name."""
    return call if call.error else replace(call, name=f"{call.name}</tool_call>")


@mutant("reply-buffered", "TEXT-HELD-BACK", text_calls=True)
def _reply_buffered(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Emits nothing of a reply to a tool prompt before it is complete."""
    deltas = reference.normalize(interaction, reads)
    return _text_held(deltas) if interaction.tools else deltas


@mutant("examples-run", "CALLS-NOT-INVENTED", text_calls=True)
def _examples_run(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Runs calls in code and in quotations."""
    return _with_policy(interaction, reads, code="calls", quoted="calls")


@mutant("drafts-run", "CALLS-NOT-INVENTED", text_calls=True)
def _drafts_run(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Runs calls that the model drafted in its reasoning."""
    return _with_policy(interaction, reads, reasoning="calls")


def _with_policy(
    interaction: Interaction, reads: Iterable[bytes], **changed: str
) -> Iterator[Delta]:
    """Yield the deltas of `reference`, and after its calls those that only another policy finds."""
    policy = replace(reference.POLICY, **changed)
    kept: list[bytes] = []
    own: list[Delta] = []
    for delta in reference.normalize(interaction, keeping(reads, kept)):
        own.append(delta)
        if isinstance(delta, Finish):
            found = fold(respond_with_text_calls(interaction, kept, policy))
            yield from _further_calls(fold(own), found)
        yield delta


def _further_calls(own: Turn, found: Turn) -> Iterator[Delta]:
    known = Counter((call.name, call.arguments) for call in own.tool_calls)
    index = len(own.tool_calls) + len(own.parse_errors)
    for call in found.tool_calls:
        if known[call.name, call.arguments]:
            known[call.name, call.arguments] -= 1
            continue
        yield from call_deltas(index, f"more_{index}", call.name, call.arguments)
        index += 1


@edits_calls("identical-merged", "CALLS-KEPT", text_calls=True)
def _identical_merged(calls: list[HeldCall]) -> list[HeldCall]:
    """Merges identical calls into one."""
    first: dict[tuple[str, str], HeldCall] = {}
    kept = [c for c in calls if c.error or first.setdefault((c.name, c.arguments), c) is c]
    return [replace(call, index=index) for index, call in enumerate(kept)]


@edits_call("strings-evaluated", "CALL-ARGUMENTS-EXACT", text_calls=True)
def _strings_evaluated(call: HeldCall) -> HeldCall:
    """Reads strings that look like numbers and booleans as such, whatever the schema says."""
    return call if call.error else replace(call, arguments=_evaluated(call))


def _evaluated(call: HeldCall) -> str:
    if call.kind != "function" or not call.arguments.strip():
        return call.arguments
    value = json.loads(call.arguments)
    return json.dumps({key: _evaluated_value(item) for key, item in value.items()})


def _evaluated_value(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value.strip().lstrip("0") or "0")
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, int | float) else value


@edits_calls("broken-searched", "CALLS-NOT-INVENTED", before=Finish, text_calls=True)
def _broken_searched(calls: list[HeldCall]) -> list[HeldCall]:
    """Looks for another call inside each rejected call."""
    inner = [found for call in calls if call.error for found in _inside(call.error)]
    return [*calls, *(replace(call, index=at) for at, call in enumerate(inner, len(calls)))]


def _inside(error: ParseError) -> Iterator[HeldCall]:
    text = error.snippet
    start = text.find('{"name"', 1 + text.find("{"))
    end = text.find("}}", start) + 2
    found = read_json_calls(text[start:end]) if 0 < start < end else None
    for call in found or ():
        if call.name and not call.error:
            yield HeldCall(0, f"inner_{call.name}", call.name, call.arguments, None)


@edits_deltas("tail-lost", "TEXT-EXACT", text_calls=True)
def _tail_lost(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Drops the end of a text that might have begun a marker."""
    held: TextDelta | None = None
    for delta in deltas:
        if held is not None and not isinstance(delta, End):
            yield held
        held = None
        if isinstance(delta, TextDelta) and delta.text.lstrip("\r\n") in _BEGINNINGS:
            held = delta
        else:
            yield delta
