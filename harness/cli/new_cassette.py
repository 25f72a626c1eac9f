"""A turn and switches of a spelling -> a cassette by the dialect's own writer.

The request is that of a cassette that exists, so that it is one which the API takes: with it
come provider, model, prompt and the tools that may be called.
"""

from collections.abc import Iterator, Sequence
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from harness import shipped
from harness.dialects.table import DIALECTS, read_request
from harness.errors import UsageError
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.tools import Tool
from harness.typed_file import did_you_mean
from harness.wire import cassette_file
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction
from harness.wire.reads import synthetic

_FIRST: Final = "openai-chat"
_PIECES: Final = 3
_HELLO: Final = "Hello."
# A value of each type that a tool's parameter may have.
_EXAMPLES: Final[dict[str, object]] = {
    "string": "Oslo",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def pattern_for(quirk: str, dialect: str) -> Cassette:
    """Return the cassette that ships whose request a new one of `quirk` takes.

    The first that shows the quirk, else the first of the dialect; those that offer tools before
    those that offer none.

    Args:
        quirk: an id of the catalogue.
        dialect: "" for that of the first cassette that shows the quirk, else `openai-chat`.

    Raises:
        UsageError: no cassette of the dialect ships.
    """
    root, ships = shipped.folder("scenarios"), shipped.folder("cassettes")
    scenarios = [load_scenario(path, root) for path in find_scenarios([root])]
    shows = [each.cassette for each in scenarios if quirk in each.quirks]
    wanted = dialect or (_loaded(shows[0]).dialect if shows else _FIRST)
    others = [each.cassette for each in scenarios if each.cassette not in shows]
    bare: Cassette | None = None
    for name in (*shows, *others):
        cassette = cassette_file.load(ships / f"{name}.yaml", ships)
        if cassette.dialect == wanted and offered(cassette):
            return cassette
        bare = bare or (cassette if cassette.dialect == wanted else None)
    if bare is None:
        raise UsageError(f"no cassette of the dialect {wanted!r} ships", hint="Name one by --like.")
    return bare


def _loaded(name: str) -> Cassette:
    ships = shipped.folder("cassettes")
    return cassette_file.load(ships / f"{name}.yaml", ships)


def offered(pattern: Cassette) -> tuple[Tool, ...]:
    """Return the tools that the request of `pattern` declares."""
    first = pattern.interactions[0]
    return read_request(first.dialect, first.request).tools


def turn(
    calls: Sequence[tuple[str, str]], text: str, finish: str, tools: Sequence[Tool]
) -> tuple[Delta, ...]:
    """Return the deltas of one turn.

    Args:
        calls: name and arguments of each, the arguments as any text.
        text: before the calls.
        finish: a finish reason; "" for the one that fits.
        tools: where neither calls nor text are given, the first of them is called.
    """
    if not calls and not text:
        calls, text = ([_example(tools[0])], "") if tools else ((), _HELLO)
    fits = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    said = [TextDelta(text)] if text else []
    called = (delta for n, each in enumerate(calls) for delta in _call(n, *each))
    return (*said, *called, Finish(FinishReason(finish) if finish else fits, ""))


def _call(index: int, name: str, arguments: str) -> Iterator[Delta]:
    yield ToolCallStart(index, f"call_{index + 1}", name)
    size = max(1, -(-len(arguments) // _PIECES))
    for at in range(0, len(arguments), size):
        yield ArgumentsDelta(index, arguments[at : at + size])
    yield ToolCallEnd(index)


def _example(tool: Tool) -> tuple[str, str]:
    """Return a call of `tool` with a value for each parameter that it requires."""
    known = tool.parameters.get("properties", {})
    values = {
        name: _EXAMPLES.get(str(known.get(name, {}).get("type")), None)
        for name in tool.parameters.get("required", ())
    }
    return tool.name, msgspec.json.format(msgspec.json.encode(values), indent=0).decode()


def spelling_of(dialect: str, words: Sequence[str], model: str) -> Any:  # noqa: ANN401 - of any dialect
    """Return the spelling of `dialect` with the switches that `words` set.

    Args:
        dialect: a name of the table.
        words: `switch=value` each.
        model: as the stream names it, unless a word says otherwise.

    Raises:
        UsageError: no such switch, or it has no such value.
    """
    kind = _spelling_type(dialect)
    switches = get_type_hints(kind)
    set_to = {"model": model}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            hint = "As in --spell later_id=empty."
            raise UsageError("expected SWITCH=VALUE", where=f"--spell {word}", hint=hint)
        if name not in switches:
            hint = did_you_mean(name, tuple(switches), "switches")
            raise UsageError(f"{dialect} has no such switch", where=f"--spell {word}", hint=hint)
        set_to[name] = value
    try:
        return msgspec.convert(set_to, kind, strict=False)
    except msgspec.ValidationError as error:
        name = str(error).rpartition("$.")[2].strip("`")
        raise UsageError(
            f"{name} cannot be {set_to.get(name)!r}",
            where="--spell",
            hint=f"Expected {_values(switches.get(name))}",
        ) from None


def _spelling_type(dialect: str) -> Any:  # noqa: ANN401 - a struct type
    """Return the type of spelling that the writer of `dialect` takes."""
    hint = get_type_hints(DIALECTS[dialect].write)["spelling"]
    return next(kind for kind in get_args(hint) if kind is not NoneType)


def _values(hint: object) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(map(str, get_args(hint)))
    return "true or false" if hint is bool else "a whole number"


def cassette_of(
    pattern: Cassette,
    cassette_id: str,
    deltas: Sequence[Delta],
    spelling: Any,  # noqa: ANN401 - of any dialect
    source: str,
) -> Cassette:
    """Return the cassette `cassette_id`: the first request of `pattern`, answered by `deltas`.

    Raises:
        UsageError: the API has no way to say them.
    """
    first = pattern.interactions[0]
    dialect = DIALECTS[first.dialect]
    try:
        body = b"".join(dialect.write(deltas, spelling))
    except ValueError as error:
        raise UsageError(
            str(error), hint="Say it by --text and --call otherwise, or in another --dialect."
        ) from None
    interaction = Interaction(
        first.request,
        200,
        (("content-type", dialect.content_type),),
        body,
        synthetic(body),
        reads_kept=False,
        dialect=dialect.name,
        tools=first.tools,
    )
    return Cassette(
        cassette_id,
        (interaction,),
        Origin("emulated", by="harness new", source=source),
        provider=pattern.provider,
        model=pattern.model,
        prompt=pattern.prompt,
    )
