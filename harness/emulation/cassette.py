"""Write the cassette that a recipe describes. The same recipe always gives the same bytes."""

import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import asdict

from harness.conversation.prompts import find_prompt, system_text
from harness.dialects.kit.build_request import Json, RequestSpec
from harness.dialects.table import DIALECTS
from harness.emulation.deltas import iter_deltas, writer_options
from harness.emulation.edits import EditError, Events, apply_edit, raw_events
from harness.emulation.envelope import complete_events
from harness.emulation.recipe import DeltaEntry, NextEntry, Recipe, ResponseEntry
from harness.emulation.session import is_session, with_session
from harness.errors import UnreadableError
from harness.turns.deltas import Delta, Finish, StreamFailure, Usage, UsageDelta
from harness.turns.fold import fold
from harness.turns.messages import Message, assistant, system, tool_result, user
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request

ORIGIN: Final = Origin("emulated", by="toolcall-harness", source="scripts/emulated_cassettes.py")
# Represents the model of the cassette in events that are written by hand.
_MODEL: Final = b"{model}"
# The APIs with token counts in the event that ends a turn, or in each event, and how a turn with
# them ends. The counts are those of a turn whose author gave none.
_COUNTED: Final[dict[str, tuple[type, ...]]] = {
    "cohere": (Finish,),
    "gemini": (Finish, StreamFailure),
    "google-interactions": (Finish,),
}
_USAGE: Final = Usage(41, 12)
_DELAYS_MS: Final = (0, 31, 12, 48, 7)


def emulate(recipe: Recipe) -> Cassette:
    """Return the cassette that `recipe` describes.

    Raises:
        UnreadableError: a value of the recipe is not usable.
    """
    provider, model, _ = recipe.cassette.split("/")
    prompt = find_prompt(recipe.file.prompt)
    later: list[Json] = []
    interactions = []
    for at, response in enumerate(recipe.file.responses):
        request = _request(recipe, provider, model, later)
        place = f"emulate.responses[{at}]"
        interactions.append(_interaction(recipe, request, model, response, place))
        if response.next is not None and not is_session(request):
            later += _messages_after(recipe, response, response.next, model, place)
    made = Cassette(
        recipe.cassette,
        tuple(interactions),
        ORIGIN,
        provider=provider,
        model=model,
        prompt=recipe.file.prompt,
    )
    made = made.with_each(tools=tuple(map(asdict, recipe.tools)) if prompt.describes_tools else ())
    if not is_session(interactions[0].request):
        return made
    following = [it.next.messages if it.next else () for it in recipe.file.responses]
    return with_session(made, following, recipe.file.close, recipe.where)


def _request(recipe: Recipe, provider: str, model: str, later: list[Json]) -> Request:
    """Return the request with the question and `later`, the messages that follow the question."""
    form, prompt = recipe.form, find_prompt(recipe.file.prompt)
    if provider not in form.addresses:
        raise UnreadableError(
            f"cassette: no address of {recipe.file.dialect} is known for provider {provider!r}",
            where=recipe.where,
            hint=f"choose one of: {', '.join(sorted(form.addresses))}",
        )
    instructions = system_text(prompt, recipe.tools)
    declared = () if prompt.describes_tools else recipe.tools
    messages = (system(instructions), user(recipe.file.question))
    body = form.body(RequestSpec(model, form.addresses[provider], messages, declared))
    if later:
        _history(body, form.history).extend(later)
    text = json.dumps(_with(recipe.file.request, body), ensure_ascii=False)
    accepted = DIALECTS[recipe.file.dialect].content_type
    headers = (("accept", accepted), ("content-type", "application/json"))
    return Request(
        "POST", form.addresses[provider].replace("{model}", model), headers, text.encode()
    )


def _history(body: Json, keys: tuple[str, ...]) -> list[Json]:
    """Return the list of messages in the request `body`; `keys` is the path to the list."""
    found: Any = body
    for key in keys:
        found = found[key]
    return found  # type: ignore[no-any-return]  # the API's own form


def _with(members: Json, body: Json) -> Json:
    """Insert `members` right after the model and the stream flag, as clients do.

    They replace members of the body with the same name, such as its messages.
    """
    start: Json = {key: body[key] for key in ("model", "stream") if key in body}
    first = start | members
    return first | {key: body[key] for key in body if key not in first}


def _messages_after(
    recipe: Recipe, response: ResponseEntry, sent: NextEntry, model: str, place: str
) -> list[Json]:
    """Return the messages that the next request adds to the history, in the format of the API."""
    write, history = DIALECTS[recipe.file.dialect].build_request, recipe.form.history
    if not history:
        raise UnreadableError(
            f"{place}.next: a request of {recipe.file.dialect} has no history", where=recipe.where
        )
    if sent.messages:
        return list(sent.messages)
    if write is None or response.deltas is None:
        raise UnreadableError(
            f"{place}.next: the history cannot be derived here",
            where=recipe.where,
            hint="give it as `messages`, in the API's own form",
        )
    messages = tuple(_openai_messages(response, sent))
    return _history(write(RequestSpec(model, "", messages)), history)


def _openai_messages(response: ResponseEntry, sent: NextEntry) -> Iterator[Message]:
    turn = fold(iter_deltas(response.deltas or ()))
    yield assistant(turn.text, turn.tool_calls)
    yield from (tool_result(call_id, text) for call_id, text in sent.tool_results.items())
    if sent.user:
        yield user(sent.user)


def _interaction(
    recipe: Recipe, request: Request, model: str, response: ResponseEntry, place: str
) -> Interaction:
    dialect = DIALECTS[recipe.file.dialect]
    events = _events(recipe, request, model, response, place)
    headers = (("content-type", response.content_type or dialect.content_type),)
    body = b"".join(events)
    return Interaction(
        request,
        response.status,
        headers,
        body,
        _reads(events),
        dialect=dialect.name,
        ended=response.ended,
    )


def _events(
    recipe: Recipe, request: Request, model: str, response: ResponseEntry, place: str
) -> Events:
    key = f"{place}.raw"
    try:
        if response.deltas is None:
            written = response.raw or ()
            name = recipe.file.dialect
            tools = json.loads(request.body).get("tools") or ()
            events = raw_events(written if response.bare else complete_events(name, written, tools))
        else:
            key = f"{place}.deltas"
            dialect = recipe.file.dialect
            where = f"{recipe.where}: {place}.writer"
            options = writer_options(dialect, response.writer, model, where)
            events = DIALECTS[dialect].write(_counted(dialect, response.deltas), options)
        for at, edit in enumerate(response.edits):
            key = f"{place}.edits[{at}]"
            events = apply_edit(edit, events)
    except (EditError, ValueError) as error:
        raise UnreadableError(f"{key}: {error}", where=recipe.where) from None
    return tuple(event.replace(_MODEL, model.encode()) for event in events)


def _counted(dialect: str, entries: tuple[DeltaEntry, ...]) -> tuple[Delta, ...]:
    """Return the deltas of `entries`, with token counts if each response of the API has them."""
    deltas = tuple(iter_deltas(entries))
    has_counts = any(isinstance(each, UsageDelta) for each in deltas)
    ends = [
        at for at, each in enumerate(deltas) if at and isinstance(each, _COUNTED.get(dialect, ()))
    ]
    if has_counts or not ends:
        return deltas
    return (*deltas[: ends[0]], UsageDelta(_USAGE), *deltas[ends[0] :])


def _reads(events: Events) -> tuple[Read, ...]:
    """Split the events into reads as networks do: one event, two events, or a part of an event."""
    ends = tuple(itertools.accumulate(map(len, events)))
    cuts: set[int] = set(ends[-1:])
    for number, (event, end) in enumerate(zip(events, ends, strict=True)):
        cuts.update(_cuts(number, event, end))
    sizes = [end - start for start, end in itertools.pairwise([0, *sorted(cuts)])]
    delays = itertools.cycle(_DELAYS_MS)
    return tuple(Read(size, delay) for size, delay in zip(sizes, delays, strict=False))


def _cuts(number: int, event: bytes, end: int) -> tuple[int, ...]:
    """Return where the read after an event ends, as an offset in the body.

    It varies with the number of the event: at its end, inside it, or nowhere. If nowhere, the next
    event comes in the same read.

    Args:
        number: the number of the event.
        event: its bytes.
        end: the offset of its end in the body.
    """
    match number % 4:
        case 1:
            return ()
        case 2:
            return (end - len(event) + _inside(event),)
        case _:
            return (end,)


def _inside(event: bytes) -> int:
    """Return an offset inside `event`, in the middle of a multi-byte character if it has one."""
    continuation = (at for at, byte in enumerate(event) if 0x80 <= byte < 0xC0)  # noqa: PLR2004 - UTF-8 continuation bytes
    return next(continuation, max(1, 2 * len(event) // 3))
