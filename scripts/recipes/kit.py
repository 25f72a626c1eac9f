"""What a recipe is made of, and how it becomes a cassette. Same recipe in, same bytes out.

A reply is deltas (what the model means), a spelling (how the provider writes it) and edits
of the finished events (what a proxy, a gateway or a broken line makes of them).
"""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from harness.conversation.prompts import find_prompt, system_text
from harness.dialects.kit.dialect import Dialect
from harness.dialects.openai_chat.writer_options import WriterOptions
from harness.dialects.table import DIALECTS
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request
from scripts.recipes.asking import NATIVE, OPENAI_CHAT, Api, Asked
from scripts.recipes.tools import functions

Events = tuple[bytes, ...]
Edit = Callable[[Events], Events]
Json = dict[str, Any]

DONE = b"data: [DONE]\n\n"
SSE = "text/event-stream"
ORIGIN = Origin(
    "emulated",
    by="toolcall-harness",
    source="scripts/emulated_cassettes.py",
)

_JSON = ("content-type", "application/json")
# Stands for the recipe's model in chunks that are written by hand.
_MODEL = "{model}"
_DELAYS_MS = (0, 31, 12, 48, 7)


class Reply(msgspec.Struct, frozen=True):
    """One response: either `deltas` that the dialect's writer spells, or a `raw` body.

    Fields:
        spelling: of the dialect, a struct with a `model`.
        content_type: "" for that of the dialect's streams.
    """

    deltas: tuple[Delta, ...] = ()
    spelling: Any = WriterOptions()
    edits: tuple[Edit, ...] = ()
    raw: Events = ()
    status: int = 200
    content_type: str = ""


class Recipe(msgspec.Struct, frozen=True):
    """One emulated cassette; `later` are the messages sent before each further reply.

    Fields:
        request: fields of the request's body beside the usual ones.
        api: the dialect, and how its requests look.
        prompt: how tools are asked for, an id of `harness.conversation.prompts`; a taught one
            tells of them in the system text, and the request declares none.
    """

    cassette: str
    question: str
    tools: tuple[str, ...]
    replies: tuple[Reply, ...]
    later: tuple[tuple[Json, ...], ...] = ()
    request: Json = {}
    api: Api = OPENAI_CHAT
    prompt: str = NATIVE


# What the model means


def call(
    name: str, arguments: str, *, index: int = 0, call_id: str = "", pieces: int = 3
) -> Iterator[Delta]:
    """Yield a whole call whose arguments come in `pieces` fragments."""
    yield ToolCallStart(index, call_id or f"call_{index + 1}", name)
    yield from fragments(arguments, index=index, pieces=pieces)
    yield ToolCallEnd(index)


def fragments(arguments: str, *, index: int = 0, pieces: int = 3) -> Iterator[Delta]:
    """Yield `arguments` in `pieces` fragments of nearly equal length."""
    size = max(1, -(-len(arguments) // pieces))
    for at in range(0, len(arguments), size):
        yield ArgumentsDelta(index, arguments[at : at + size])


def text(*pieces: str) -> Iterator[Delta]:
    """Yield text deltas."""
    return map(TextDelta, pieces)


def spelled(said: str, *, size: int = 9) -> Iterator[Delta]:
    """Yield `said` in text deltas of `size` characters, as an engine streams its tokens."""
    return (TextDelta(said[at : at + size]) for at in range(0, len(said), size))


def reasoning(*pieces: str) -> Iterator[Delta]:
    """Yield reasoning deltas."""
    return map(ReasoningDelta, pieces)


def finish(word: str) -> Iterator[Delta]:
    """Yield the end of the turn, under the provider's own word."""
    known = {reason.value: reason for reason in FinishReason}
    yield Finish(known.get(word, FinishReason.OTHER), word)


def tokens(input_tokens: int, output_tokens: int) -> Iterator[Delta]:
    """Yield the usage."""
    yield UsageDelta(Usage(input_tokens, output_tokens))


def fails(code: str, message: str = "") -> Iterator[Delta]:
    """Yield a failure that the writer knows how to spell."""
    yield StreamFailure(code, message)


def stream(
    *parts: Iterable[Delta],
    edits: tuple[Edit, ...] = (),
    spelling: Any = None,  # noqa: ANN401 - of any dialect; None is openai-chat's contract
) -> Reply:
    """Return the reply that says `parts`, in order."""
    deltas = tuple(itertools.chain.from_iterable(parts))
    return Reply(deltas, spelling or WriterOptions(), edits)


def raw(*events: bytes, status: int = 200, content_type: str = "") -> Reply:
    """Return a reply whose body is written by hand."""
    return Reply(raw=events, status=status, content_type=content_type)


# What happens to it on the way


def swap(old: bytes, new: bytes) -> Edit:
    """Replace every `old`; a recipe whose edit finds nothing is a mistake."""

    def edit(events: Events) -> Events:
        if not any(old in event for event in events):
            raise ValueError(f"no event holds {old!r}")
        return tuple(event.replace(old, new) for event in events)

    return edit


def cut_after(marker: bytes) -> Edit:
    """End the stream right after the first event that holds `marker`, at its end."""

    def edit(events: Events) -> Events:
        place = _place_of(events, marker)
        event = events[place]
        return (*events[:place], event[: event.index(marker) + len(marker)])

    return edit


def end_before(marker: bytes) -> Edit:
    """End the stream before the first event that holds `marker`."""
    return lambda events: events[: _place_of(events, marker)]


def insert(place: int, *new: bytes) -> Edit:
    """Put raw events before the event at `place` (negative: from the end)."""
    return lambda events: (*events[:place], *new, *events[place:])


def append(*new: bytes) -> Edit:
    """Put raw events after the last one."""
    return lambda events: (*events, *new)


def each(change: Callable[[bytes], bytes]) -> Edit:
    """Change every event in the same way."""
    return lambda events: tuple(change(event) for event in events)


def _place_of(events: Events, marker: bytes) -> int:
    return next(place for place, event in enumerate(events) if marker in event)


def chunk(**fields: object) -> bytes:
    """Return one event that holds a chunk with these fields, as `write` frames it."""
    start = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1760000000}
    value = json.dumps({**start, "model": _MODEL, **fields}, ensure_ascii=False)
    return f"data: {value}\n\n".encode()


def choice(delta: object, finish_reason: str | None = None, **fields: object) -> bytes:
    """Return one event that holds a chunk with this one choice."""
    return chunk(choices=[{"index": 0, "delta": delta, "finish_reason": finish_reason, **fields}])


def as_json(**members: object) -> str:
    """Return the JSON text of an object, as a model writes it."""
    return json.dumps(members, ensure_ascii=False)


# How it becomes a cassette


def cassette(recipe: Recipe) -> Cassette:
    """Return the cassette that `recipe` describes."""
    provider, model, _ = recipe.cassette.split("/")
    later: tuple[Json, ...] = ()
    interactions = []
    for place, reply in enumerate(recipe.replies):
        if place:
            later += recipe.later[place - 1]
        request = _request(provider, _asked(recipe, model, later), recipe)
        interactions.append(_interaction(request, model, reply, DIALECTS[recipe.api.dialect]))
    made = Cassette(
        recipe.cassette,
        tuple(interactions),
        ORIGIN,
        provider=provider,
        model=model,
        prompt=recipe.prompt,
    )
    return made.with_tools(_taught(recipe))


def _asked(recipe: Recipe, model: str, later: tuple[Json, ...]) -> Asked:
    prompt = find_prompt(recipe.prompt)
    tools = tuple(Tool(**function) for function in functions(recipe.tools))
    declared = () if prompt.taught else recipe.tools
    return Asked(model, recipe.question, later, declared, system_text(prompt, tools))


def _taught(recipe: Recipe) -> tuple[Json, ...]:
    return functions(recipe.tools) if find_prompt(recipe.prompt).taught else ()


def _request(provider: str, asked: Asked, recipe: Recipe) -> Request:
    body = json.dumps(_with(recipe.request, recipe.api.body(asked)), ensure_ascii=False)
    headers = (("accept", DIALECTS[recipe.api.dialect].content_type), _JSON)
    uri = recipe.api.uris[provider].replace("{model}", asked.model)
    return Request("POST", uri, headers, body.encode())


def _with(fields: Json, body: Json) -> Json:
    """Put `fields` right after the model and the wish for a stream, as clients do."""
    start: Json = {key: body[key] for key in ("model", "stream") if key in body}
    return {**start, **fields, **{key: body[key] for key in body if key not in start}}


def _interaction(request: Request, model: str, reply: Reply, dialect: Dialect) -> Interaction:
    events = reply.raw or dialect.write(reply.deltas, _spelled(reply.spelling, model))
    for edit in reply.edits:
        events = edit(events)
    events = tuple(event.replace(_MODEL.encode(), model.encode()) for event in events)
    headers = (("content-type", reply.content_type or dialect.content_type),)
    body = b"".join(events)
    return Interaction(request, reply.status, headers, body, _reads(events), dialect=dialect.name)


def _spelled(spelling: Any, model: str) -> Any:  # noqa: ANN401 - of any dialect
    return msgspec.structs.replace(spelling, model=model)


def _reads(events: Events) -> tuple[Read, ...]:
    """Return reads as networks make them: of one event, of two, and with an end inside one."""
    ends = tuple(itertools.accumulate(map(len, events)))
    cuts: set[int] = set(ends[-1:])
    for place, (event, end) in enumerate(zip(events, ends, strict=True)):
        cuts.update(_cuts(place, event, end))
    sizes = [end - start for start, end in itertools.pairwise([0, *sorted(cuts)])]
    delays = itertools.cycle(_DELAYS_MS)
    return tuple(Read(size, delay) for size, delay in zip(sizes, delays, strict=False))


def _cuts(place: int, event: bytes, end: int) -> tuple[int, ...]:
    """Return the offset of the cut that event number `place` gets, if any."""
    match place % 4:
        case 1:
            return ()
        case 2:
            return (end - len(event) + _inside(event),)
        case _:
            return (end,)


def _inside(event: bytes) -> int:
    """Return an offset inside `event`: in the middle of a character where it has one."""
    continuation = (place for place, byte in enumerate(event) if 0x80 <= byte < 0xC0)  # noqa: PLR2004 - UTF-8 continuation bytes
    return next(continuation, max(1, 2 * len(event) // 3))
