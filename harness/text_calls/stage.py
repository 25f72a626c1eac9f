"""Add the calls in the text of a response to its deltas, and remove them from the text.

Text passes at once. The calls are emitted at the end of the turn, after the native ones. Only then
does the stage know that the turn did not fail, that nothing follows a reply that must be only JSON,
that reasoning was closed, and that no native call is the same
(quirks TEXT-LEAK-AND-CALL, TEXT-THINK-LOST, SSE-EOF-MIDCALL). With `as_read`, a call starts and its
arguments follow as they are read, but its end comes with all others at the end of the turn.
"""

from collections.abc import Hashable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from msgspec.structs import replace

from harness.text_calls.action_scanner import ActionScanner
from harness.text_calls.dialect import Offered, Section
from harness.text_calls.dialects.action_protocol import ACTION_PROTOCOL
from harness.text_calls.early import EarlyCalls, Emit
from harness.text_calls.found import Found, rejection_reason
from harness.text_calls.native import clean_name, leaked_token
from harness.text_calls.policy import TextPolicy
from harness.text_calls.scanner import Scanner
from harness.text_calls.template import ResponseTemplate
from harness.text_calls.template_scanner import TemplateScanner
from harness.turns.arguments import meaning
from harness.turns.deltas import (
    CUT_SHORT,
    DECIDED_BY_CALLS,
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.turn import Tool
from harness.turns.verdicts import CallIds, end_of_call, unusable_reason

_REASONING = Section(reasoning=True, closers=())
_TextScanner: TypeAlias = Scanner | ActionScanner | TemplateScanner


def read_text_calls(  # noqa: PLR0913 - all but the first three are rarely known
    deltas: Iterable[Delta],
    tools: Iterable[Tool],
    policy: TextPolicy,
    *,
    seed: str = "",
    prompt_end: str = "",
    stopped_by: str = "",
    emit: Emit = "at_end",
    template: ResponseTemplate | None = None,
) -> Iterator[Delta]:
    """Return `deltas` with the calls that their text contains as deltas of calls.

    Args:
        deltas: the deltas of one response.
        tools: the tools of its request. Without tools, nothing in the text is a call, and only
            its reasoning is separated.
        policy: what counts as a call.
        seed: distinguishes this response from others, for the ids that are generated.
        prompt_end: the start of the response that is in the prompt: an open `<think>`, Harmony's
            `<|start|>assistant`, or the start of a forced call. It is read, and never shown.
        stopped_by: the stop token that ended the response, if the server removed it. A token that
            is not a marker of any text dialect of `policy` is ignored.
        emit: with `as_read`, a call starts once its dialect and its name are certain, and its
            arguments are emitted as they arrive. Its end is emitted at the end of the turn, with a
            rejection if later text shows that it is not a call. With `at_end`, so is all of it.
        template: the response template of the model. It decides alone what the text contains; the
            text dialects of `policy` and its choices about examples are not used.
    """
    offered = Offered(tools, policy.untyped)
    early = EarlyCalls() if emit == "as_read" else None
    scanner = _text_scanner(offered, policy, early, template)
    return _Stage(offered, policy, scanner, seed, early).run(deltas, prompt_end, stopped_by)


def _text_scanner(
    offered: Offered,
    policy: TextPolicy,
    early: EarlyCalls | None,
    template: ResponseTemplate | None,
) -> _TextScanner:
    if template is not None:
        return TemplateScanner(template, offered, policy, early)
    if offered and ACTION_PROTOCOL.name in policy.dialects:
        return ActionScanner(offered, policy)
    return Scanner(offered, policy, early=early)


class _Stage:
    """Processes the deltas of one response."""

    def __init__(
        self,
        offered: Offered,
        policy: TextPolicy,
        text: _TextScanner,
        seed: str,
        early: EarlyCalls | None,
    ) -> None:
        self._offered = offered
        self._policy = policy
        self._seed = seed
        self._early = early
        self._last = -1  # the highest index of a call
        self._text = text
        self._reasoning: Scanner | None = None  # without reasoning
        self._ids = CallIds()
        # The native calls by index: name, and fragments of those that have JSON.
        self._names: dict[int, str] = {}
        self._fragments: dict[int, list[str]] = {}
        self._stopped_by = ""

    def run(self, deltas: Iterable[Delta], prompt_end: str, stopped_by: str) -> Iterator[Delta]:
        """Return the deltas of the response, whose text continues `prompt_end`."""
        self._stopped_by = stopped_by
        if self._early:
            deltas = self._renumbered(deltas, self._early)
        if not prompt_end:
            return self._run(deltas)
        self._text.begin_prompt(prompt_end)
        return _without_start(self._run(deltas), self._text.begin_reply())

    def _run(self, deltas: Iterable[Delta]) -> Iterator[Delta]:
        text = self._text
        for delta in deltas:
            if isinstance(delta, TextDelta):
                if text.passes(delta.text):
                    yield delta
                else:
                    yield from self._read(text, delta.text)
            elif isinstance(delta, ReasoningDelta):
                reasoning = self._reasoning
                if reasoning is None:
                    reasoning = Scanner(self._offered, self._policy, _REASONING, self._early)
                    self._reasoning = reasoning
                if reasoning.passes(delta.text):
                    yield delta
                else:
                    yield from self._read(reasoning, delta.text)
            elif isinstance(delta, ArgumentsDelta):
                if delta.index in self._fragments:
                    self._fragments[delta.index].append(delta.fragment)
                yield delta
            else:
                yield from self._other(delta)

    def _read(self, channel: _TextScanner, text: str) -> list[Delta]:
        """Return the deltas that the next text of a channel gives."""
        channel.feed(text)
        pieces = _pieces(channel)
        return [*pieces, *self._started_early(self._early)] if self._early else pieces

    def _other(self, delta: Delta) -> Iterator[Delta]:
        match delta:
            case ToolCallStart() | ToolCallEnd() if not self._offered:
                yield delta
            case ToolCallStart():
                yield self._started(delta)
            case ToolCallEnd():
                yield self._ended(delta)
            # Calls in text end only now: a failed turn must not have executed any of them.
            case Finish() | StreamFailure():
                yield from self._over(delta)
            case SealedDelta(of="text"):
                self._text.settle()
                yield from _pieces(self._text)
                yield delta
            case _:
                yield delta

    # Native calls

    def _started(self, delta: ToolCallStart) -> ToolCallStart:
        name = clean_name(delta.name, self._offered)
        self._names[delta.index] = name
        self._last = max(self._last, delta.index)
        # The input of a custom tool is free text, in which markup is data.
        if delta.kind == "function":
            self._fragments[delta.index] = []
        # Ids of native and written calls must differ, because results are found by id.
        call_id = self._ids.unique(delta.id, self._seed, delta.index, name)
        return ToolCallStart(delta.index, call_id, name, delta.kind, delta.namespace)

    def _ended(self, delta: ToolCallEnd) -> Delta:
        if self._policy.markup_in_arguments == "keep":
            return delta
        arguments = "".join(self._fragments.get(delta.index, ()))
        # Only then it can hold markup.
        has_mark = "<" in arguments or "\\u003" in arguments
        marker = leaked_token(arguments) if has_mark else ""
        if not marker:
            return delta
        error = f"markup of the model's template is in the arguments: {marker}"
        return end_of_call(delta.index, error, arguments)

    def _next_index(self) -> int:
        self._last += 1
        return self._last

    def _renumbered(self, deltas: Iterable[Delta], early: EarlyCalls) -> Iterator[Delta]:
        """Yield the deltas, with other indexes for native calls if calls in the text have theirs.

        From the first native call on, calls in the text wait for the end of the turn.
        """
        moved: dict[int, int] = {}
        for delta in deltas:
            if isinstance(delta, ToolCallStart):
                early.held = True
                if any(call.index == delta.index for call in early.calls):
                    moved[delta.index] = self._next_index()
            index = getattr(delta, "index", -1)
            yield replace(delta, index=moved[index]) if index in moved else delta

    # Calls as they are read

    def _started_early(self, early: EarlyCalls) -> Iterator[Delta]:
        """Emit what was read of calls since the last call of this method."""
        for call in early.take():
            if call.index < 0:
                call.index = self._next_index()
                call.id = self._ids.unique(call.id, self._seed, call.index, call.name)
                yield ToolCallStart(call.index, call.id, call.name)
            if fragment := call.take():
                yield ArgumentsDelta(call.index, fragment)

    def _taken_back(self, early: EarlyCalls, counted: list[Found]) -> Iterator[Delta]:
        """Reject the calls that were started although they do not count."""
        kept = {id(found.streamed) for found in counted}
        for call in early.calls:
            if id(call) not in kept:
                error = "later text or a call in the API's field shows that this is not a call"
                yield end_of_call(call.index, error, "".join(call.fragments), "json_fallback")

    # The end

    def _over(self, end: Finish | StreamFailure) -> Iterator[Delta]:
        """Process the end of the text and of the reasoning, emit the calls, and end the turn."""
        policy, text, reasoning = self._policy, self._text, self._reasoning
        if isinstance(end, Finish):
            text.stop(self._stopped_by)
        channels: list[_TextScanner] = [reasoning, text] if reasoning else [text]
        for channel in channels:
            channel.close(with_native_calls=bool(self._names), cut=_was_cut(end))
        counts = policy.unclosed_reasoning == "call" and not _was_cut(end)
        text.resolve(count=counts)
        if reasoning:
            # Visible text, or a call in it, shows that the reasoning was over.
            reasoning.resolve(count=counts and text.blank and not self._names)
        for channel in channels:
            yield from _pieces(channel)
        if self._early:
            yield from self._started_early(self._early)
        calls = self._counted([found for channel in channels for found in channel.found])
        for found in calls:
            if found.streamed:
                yield self._end_of(found.streamed.index, found, end)
            else:
                yield from self._call(self._next_index(), found, end)
        if self._early:
            yield from self._taken_back(self._early, calls)
        written = any(not found.is_leftover for found in calls)
        # The server took the calls for text, so it reported `stop`.
        if written and isinstance(end, Finish) and end.reason in DECIDED_BY_CALLS:
            end = Finish(FinishReason.TOOL_CALLS, end.raw)
        yield end

    def _counted(self, found: list[Found]) -> list[Found]:
        """Return the calls that count: next to native calls, only usable ones that differ."""
        if not self._names:
            return found
        # A server may parse a call and leave its text, too (quirk TEXT-LEAK-AND-CALL).
        native = {self._sense(index) for index in self._names}
        return [
            it
            for it in found
            if not rejection_reason(it, self._policy)
            and (it.call.name, meaning(it.call.arguments)) not in native
        ]

    def _sense(self, index: int) -> tuple[str, Hashable]:
        return self._names[index], meaning("".join(self._fragments.get(index, ())))

    def _call(self, index: int, found: Found, end: Finish | StreamFailure) -> Iterator[Delta]:
        call = found.call
        call_id = self._ids.unique(call.id, self._seed, index, call.name)
        yield ToolCallStart(index, call_id, call.name)
        if call.arguments:
            yield ArgumentsDelta(index, call.arguments)
        yield self._end_of(index, found, end)

    def _end_of(self, index: int, found: Found, end: Finish | StreamFailure) -> Delta:
        """Return the end of a call, which says whether it may be executed."""
        call = found.call
        error = rejection_reason(found, self._policy) or unusable_reason(
            call.name, call.arguments, cut_short=_was_cut(end) and not found.closed
        )
        if not error and _is_cut(found, end):
            error = "the reply was truncated, perhaps inside the call or what belongs to it"
        if isinstance(end, StreamFailure):
            error = f"the turn failed ({end.code}): {end.message}"
        return end_of_call(index, error, call.arguments or found.raw, "json_fallback")


def _is_cut(found: Found, end: Finish | StreamFailure) -> bool:
    """Return whether the reply may have been truncated inside the call or its input."""
    if found.dialect.whole or found.raw.startswith(found.dialect.last):
        return _was_cut(end)
    return _was_cut(end) and found.dialect.open_ended and not found.closed


def _was_cut(end: Finish | StreamFailure) -> bool:
    """Return whether the reply was truncated, so that more text would have followed."""
    return isinstance(end, Finish) and end.reason in CUT_SHORT


def _without_start(deltas: Iterator[Delta], start: str) -> Iterator[Delta]:
    """Yield the deltas; if their text begins with all of `start`, remove it."""
    taken = ""
    for delta in deltas:
        if start and isinstance(delta, TextDelta | ReasoningDelta):
            taken += delta.text
            if start.startswith(taken) and taken != start:
                continue
            rest = taken.removeprefix(start)
            start = ""
            if rest:
                yield replace(delta, text=rest)
        else:
            yield delta


def _pieces(scanner: _TextScanner) -> list[Delta]:
    """Return the deltas that a scanner emitted since the last call, neighbours joined."""
    emitted = scanner.take()
    if len(emitted) > 1:
        kinds = groupby(emitted, itemgetter(0))
        emitted = [(kind, "".join(text for _, text in pieces)) for kind, pieces in kinds]
    return [ReasoningDelta(text) if kind else TextDelta(text) for kind, text in emitted]
