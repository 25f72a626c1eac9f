"""The deltas of a turn, each with one fault that changes what the turn means.

A mutation returns None if the turn has nothing that it could damage: the order of calls needs two
calls that differ, and an id counts only if the provider sent it. What it damages is drawn.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from random import Random
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from harness.turns.arguments import meaning
from harness.turns.deltas import (
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)


class Call(msgspec.Struct, frozen=True):
    """All deltas of one call; `error` is None if it may be executed."""

    id: str
    name: str
    arguments: str
    error: ParseError | None
    kind: CallKind
    namespace: str = ""

    @property
    def action(self) -> object:
        """What is executed; equal for two calls that do the same."""
        value = meaning(self.arguments) if self.kind == "function" else self.arguments
        return self.kind, self.namespace, self.name, value


Part: TypeAlias = (
    Call | TextDelta | ReasoningDelta | SealedDelta | UsageDelta | Finish | StreamFailure
)


class Response(msgspec.Struct, frozen=True):
    """One response as `reference` reads it.

    Fields:
        parts: in order of appearance, each call as one part.
        tools: names of the tools that the model may call.
        sent: the text of all events, in which an id of the provider occurs.
    """

    parts: tuple[Part, ...]
    tools: tuple[str, ...] = ()
    sent: str = ""

    def calls(self, *, rejected: bool = False) -> list[int]:
        """Return the indexes of the parts that are calls, the executable or the rejected ones."""
        return [
            index
            for index, part in enumerate(self.parts)
            if isinstance(part, Call) and (part.error is not None) == rejected
        ]

    def call(self, index: int) -> Call:
        """Return the call at `index`."""
        part = self.parts[index]
        assert isinstance(part, Call)
        return part

    def pairs(self) -> list[tuple[int, int]]:
        """Return the indexes of each two executable calls that do not do the same."""
        return [
            (first, second)
            for first, second in combinations(self.calls(), 2)
            if self.call(first).action != self.call(second).action
        ]


Parts: TypeAlias = list[Part]
Mutate: TypeAlias = Callable[[Response, Random], Parts | None]
MUTATIONS: Final[dict[str, Mutate]] = {}


def parts_of(deltas: Iterable[Delta]) -> tuple[Part, ...]:
    """Return `deltas` with all deltas of a call in one part, where the call starts."""
    parts: Parts = []
    places: dict[int, int] = {}
    for delta in deltas:
        if isinstance(delta, ToolCallStart):
            places[delta.index] = len(parts)
            parts.append(Call(delta.id, delta.name, "", None, delta.kind, delta.namespace))
        elif isinstance(delta, ArgumentsDelta | ToolCallRejected | ToolCallEnd):
            place = places[delta.index]
            call = parts[place]
            assert isinstance(call, Call)
            parts[place] = _extended(call, delta)
        else:
            parts.append(delta)
    return tuple(parts)


def _extended(call: Call, delta: ArgumentsDelta | ToolCallRejected | ToolCallEnd) -> Call:
    if isinstance(delta, ArgumentsDelta):
        return replace(call, arguments=call.arguments + delta.fragment)
    return replace(call, error=delta.error) if isinstance(delta, ToolCallRejected) else call


def deltas_of(parts: Iterable[Part]) -> Iterator[Delta]:
    """Yield the deltas of `parts`, with calls numbered from 0."""
    index = 0
    for part in parts:
        if not isinstance(part, Call):
            yield part
            continue
        yield ToolCallStart(index, part.id, part.name, part.kind, part.namespace)
        if part.arguments:
            yield ArgumentsDelta(index, part.arguments)
        yield ToolCallRejected(index, part.error) if part.error else ToolCallEnd(index)
        index += 1


def _mutation(name: str) -> Callable[[Mutate], Mutate]:
    def register(mutate: Mutate) -> Mutate:
        MUTATIONS[name] = mutate
        return mutate

    return register


# Calls


@_mutation("call-dropped")
def _drop_call(response: Response, random: Random) -> Parts | None:
    calls = response.calls()
    return _with(response, random.choice(calls)) if calls else None


@_mutation("calls-dropped")
def _drop_calls(response: Response, random: Random) -> Parts | None:  # noqa: ARG001 - all of them
    """Drop all executable calls, and keep the finish that announces them."""
    calls = set(response.calls())
    return [it for at, it in enumerate(response.parts) if at not in calls] if calls else None


@_mutation("call-added")
def _add_call(response: Response, random: Random) -> Parts | None:
    name = random.choice(response.tools or ("added_tool",))
    added = Call("call_added", name, '{"added": true}', None, "function")
    end = _end_of(response.parts)
    return [*response.parts[:end], added, *response.parts[end:]]


def _end_of(parts: Sequence[Part]) -> int:
    ends = (i for i, part in enumerate(parts) if isinstance(part, Finish | StreamFailure))
    return next(ends, len(parts))


@_mutation("call-repeated")
def _repeat_call(response: Response, random: Random) -> Parts | None:
    calls = response.calls()
    if not calls:
        return None
    index = random.choice(calls)
    call = response.call(index)
    return _with(response, index, call, replace(call, id=f"{call.id}_again"))


@_mutation("calls-reordered")
def _reorder_calls(response: Response, random: Random) -> Parts | None:
    pairs = response.pairs()
    if not pairs:
        return None
    first, second = random.choice(pairs)
    parts = list(response.parts)
    parts[first], parts[second] = parts[second], parts[first]
    return parts


@_mutation("id-swapped")
def _swap_id(response: Response, random: Random) -> Parts | None:
    """Exchange the ids of two calls; give a single call the id of no call."""
    sent = [index for index in response.calls() if response.call(index).id in response.sent]
    if not sent:
        return None
    pairs = [pair for pair in response.pairs() if set(pair) <= set(sent)]
    parts = list(response.parts)
    if not pairs:
        index = random.choice(sent)
        return _with(response, index, replace(response.call(index), id="call_swapped"))
    first, second = random.choice(pairs)
    one, other = response.call(first), response.call(second)
    parts[first], parts[second] = replace(one, id=other.id), replace(other, id=one.id)
    return parts


@_mutation("name-changed")
def _change_name(response: Response, random: Random) -> Parts | None:
    """Give a call the name of another tool, or a part of its name if there is only one tool."""
    calls = response.calls()
    if not calls:
        return None
    index = random.choice(calls)
    call = response.call(index)
    others = [name for name in response.tools if name != call.name]
    return _with(response, index, replace(call, name=random.choice(others or [call.name[:-1]])))


@_mutation("namespace-dropped")
def _drop_namespace(response: Response, random: Random) -> Parts | None:
    calls = [index for index in response.calls() if response.call(index).namespace]
    if not calls:
        return None
    index = random.choice(calls)
    return _with(response, index, replace(response.call(index), namespace=""))


# The tokens of valid JSON; a text before a colon is a key.
_TOKEN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b'
)
_OTHER_WORD: Final = {"true": "false", "false": "true", "null": "false"}


@_mutation("argument-changed")
def _change_argument(response: Response, random: Random) -> Parts | None:
    calls = [index for index in response.calls() if _leaves(response.call(index))]
    if not calls:
        return None
    index = random.choice(calls)
    call = response.call(index)
    start, end = random.choice(_leaves(call))
    text = call.arguments
    changed = replace(call, arguments=text[:start] + _other_leaf(text[start:end]) + text[end:])
    # Of two equal keys, only the last one counts.
    return None if changed.action == call.action else _with(response, index, changed)


def _leaves(call: Call) -> list[tuple[int, int]]:
    """Return (start, end) of each value that is not an object or list; of all the free text."""
    if call.kind == "custom":
        return [(0, len(call.arguments))] if call.arguments else []
    found = (it for it in _TOKEN.finditer(call.arguments) if it["key"] is None)
    return [it.span() for it in found]


def _other_leaf(leaf: str) -> str:
    if leaf in _OTHER_WORD:
        return _OTHER_WORD[leaf]
    if leaf[0] in "-0123456789":
        return "8" if float(leaf) == 7 else "7"  # noqa: PLR2004 - any other number
    return leaf.removesuffix('"') + "x" + '"' * leaf.endswith('"')


@_mutation("rejected-executed")
def _execute_rejected(response: Response, random: Random) -> Parts | None:
    calls = response.calls(rejected=True)
    if not calls:
        return None
    index = random.choice(calls)
    call = response.call(index)
    kind: CallKind = "function" if call.kind == "action" else call.kind
    return _with(response, index, replace(call, error=None, kind=kind))


# Text, reasoning and the end


@_mutation("text-dropped")
def _drop_text(response: Response, random: Random) -> Parts | None:
    pieces = _pieces(response)
    return _with(response, random.choice(pieces)) if pieces else None


@_mutation("text-repeated")
def _repeat_text(response: Response, random: Random) -> Parts | None:
    pieces = _pieces(response)
    if not pieces:
        return None
    index = random.choice(pieces)
    return _with(response, index, response.parts[index], response.parts[index])


def _pieces(response: Response) -> list[int]:
    """Return the indexes of the pieces of text that are not blank."""
    return [
        index
        for index, part in enumerate(response.parts)
        if isinstance(part, TextDelta) and part.text.strip()
    ]


@_mutation("reasoning-dropped")
def _drop_reasoning(response: Response, random: Random) -> Parts | None:  # noqa: ARG001 - all of it
    found = [part for part in response.parts if isinstance(part, ReasoningDelta)]
    if not any(part.text.strip() for part in found):
        return None
    return [part for part in response.parts if not isinstance(part, ReasoningDelta)]


@_mutation("usage-changed")
def _change_usage(response: Response, random: Random) -> Parts | None:
    """Change one of the last numbers of tokens."""
    places = [at for at, part in enumerate(response.parts) if isinstance(part, UsageDelta)]
    if not places:
        return None
    last = response.parts[places[-1]]
    assert isinstance(last, UsageDelta)
    name = random.choice(("input_tokens", "output_tokens"))
    count = getattr(last.usage, name) or 0
    changed = replace(last.usage, **{name: count + random.choice((1, 7, count or 3))})
    return _with(response, places[-1], UsageDelta(changed))


@_mutation("usage-dropped")
def _drop_usage(response: Response, random: Random) -> Parts | None:  # noqa: ARG001 - all of it
    """Drop the numbers of tokens, unless all of them are 0, as a turn without numbers counts."""
    usages = [part.usage for part in response.parts if isinstance(part, UsageDelta)]
    if not any(usage.input_tokens or usage.output_tokens for usage in usages[-1:]):
        return None
    parts: Parts = [part for part in response.parts if not isinstance(part, UsageDelta)]
    return parts if len(parts) < len(response.parts) else None


@_mutation("finish-changed")
def _change_finish(response: Response, random: Random) -> Parts | None:
    """Give the turn another finish reason; a failed turn ends as if it were complete."""
    index = _end_of(response.parts)
    if index == len(response.parts):
        return None
    end = response.parts[index]
    if not isinstance(end, Finish) or _calls_are_missing(end, response):
        return _with(response, index, Finish(FinishReason.STOP, "stop"))
    others = [reason for reason in FinishReason if reason is not end.reason]
    return _with(response, index, replace(end, reason=random.choice(others)))


def _calls_are_missing(end: Finish, response: Response) -> bool:
    """Whether the turn fails because the calls that its finish announces did not come."""
    is_call = (isinstance(part, Call) for part in response.parts)
    return end.reason is FinishReason.TOOL_CALLS and not any(is_call)


def _with(response: Response, index: int, *parts: Part) -> Parts:
    """Return all parts, with `parts` in place of the one at `index`."""
    return [*response.parts[:index], *parts, *response.parts[index + 1 :]]
