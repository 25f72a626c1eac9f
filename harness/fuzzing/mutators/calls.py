"""Define mutators of the calls of a turn: mistakes of models, and changes by gateways.

The oracle decides from the changed bytes which of the calls a client may execute.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec.structs import replace

from harness.dialects.table import DIALECTS, offered_tools
from harness.fuzzing.mutators.mutator import Mutate, mutator
from harness.fuzzing.mutators.rewriting import Deltas, deltas_of, rewritten
from harness.fuzzing.strategies.arguments import Schema, argument_texts, json_text
from harness.fuzzing.strategies.malformed import malformed_arguments
from harness.fuzzing.strategies.turns import draw_pieces
from harness.turns.arguments import parse
from harness.turns.deltas import ArgumentsDelta, Delta, ToolCallEnd, ToolCallRejected, ToolCallStart
from harness.wire.interaction import Interaction

# One call's deltas, from its start to its end.
Call: TypeAlias = tuple[Delta, ...]
EditCall: TypeAlias = Callable[[DrawFn, Call, Schema], tuple[Call, str] | None]
EditCalls: TypeAlias = Callable[[DrawFn, list[Call]], tuple[list[Call], str] | None]
CallDelta = ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected

_MOST_PIECES = 4
# An API whose arguments are an object cannot carry invalid ones; some APIs have no calls at all.
_TEXTUAL: Final = frozenset(row.name for row in DIALECTS.values() if row.arguments == "text")
_OTHER_NAMES: Final = (
    "nope", "get_weather ", "functions.get_weather", "GET_WEATHER", "get_weather</tool_call>",
    "get_weather<|channel|>commentary", "天气", "null", "a" * 80, "tool\u2028name",
)  # fmt: skip
_MALFORMED: Final = (
    "ARGS-TRUNCATED-FINISH-OK", "ARGS-NATURAL-LANGUAGE", "ARGS-CONCAT-OBJECTS",
    "ARGS-TRAILING-TEXT", "ARGS-TRAILING-MARKUP", "ARGS-EXTRA-BRACE", "ARGS-MISSING-BRACE",
    "ARGS-TRAILING-COMMA", "ARGS-FENCED", "ARGS-PY-LITERAL", "ARGS-CONTROL-CHARS",
    "ARGS-BAD-ESCAPE", "ARGS-DOUBLE-ENCODED", "ARGS-UNQUOTED-VALUE", "ARGS-EXPRESSION",
    "ARGS-NON-OBJECT", "ARGS-NAN", "ARGS-DUPLICATE-KEYS", "ARGS-COMMENTS", "ARGS-SMART-QUOTES",
    "ARGS-UNESCAPED-QUOTE",
)  # fmt: skip
_EMPTY: Final = ("", "{}", "null")


def calls_of(deltas: Deltas) -> list[Call]:
    """Return a list of the calls, each as its deltas, in the order of their indexes."""
    found: dict[int, list[Delta]] = {}
    for delta in deltas:
        if isinstance(delta, CallDelta):
            found.setdefault(delta.index, []).append(delta)
    return [tuple(found[index]) for index in sorted(found)]


def with_calls(deltas: Deltas, calls: list[Call]) -> Deltas:
    """Return `deltas` with `calls` instead of their calls, in order and with new indexes."""
    first = next(at for at, delta in enumerate(deltas) if isinstance(delta, CallDelta))
    rest = tuple(delta for delta in deltas if not isinstance(delta, CallDelta))
    return (*rest[:first], *_numbered(calls), *rest[first:])


def _numbered(calls: list[Call]) -> Iterator[Delta]:
    for index, call in enumerate(calls):
        for delta in call:
            if isinstance(delta, CallDelta):
                yield replace(delta, index=index)


def recalling(edit: EditCalls) -> Mutate:
    """Return a mutation that reads the calls of a turn, edits them together, and writes them."""

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        deltas = deltas_of(interaction)
        calls = calls_of(deltas or ())
        changed = edit(draw, calls) if calls else None
        if deltas is None or changed is None or changed[0] == calls:
            return None
        return rewritten(interaction, with_calls(deltas, changed[0]), changed[1])

    return mutate


def editing_call(edit: EditCall) -> Mutate:
    """Return a mutation that edits one call of a function, with the schema of its tool."""

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        schemas = {tool.name: tool.parameters for tool in offered_tools(interaction)}

        def one(draw: DrawFn, calls: list[Call]) -> tuple[list[Call], str] | None:
            at = draw(st.integers(0, len(calls) - 1))
            start = calls[at][0]
            if not isinstance(start, ToolCallStart) or start.kind != "function":
                return None
            changed = edit(draw, calls[at], schemas.get(start.name, True))
            if changed is None:
                return None
            return [*calls[:at], changed[0], *calls[at + 1 :]], f"call {at}: {changed[1]}"

        return recalling(one)(draw, interaction)

    return mutate


# One call


def _with_arguments(draw: DrawFn, call: Call, text: str) -> Call:
    """Return `call` with `text` as its arguments, split into a few deltas."""
    pieces = draw_pieces(draw, text, _MOST_PIECES)
    return (call[0], *(ArgumentsDelta(0, piece) for piece in pieces if piece), ToolCallEnd(0))


@mutator("arguments-malformed", dialects=_TEXTUAL)
@editing_call
def _malformed(draw: DrawFn, call: Call, schema: Schema) -> tuple[Call, str]:
    found = draw(malformed_arguments(schema))
    return _with_arguments(draw, call, found.text), f"{found.kind}, {_shown(found.text)}"


@mutator("arguments-other")
@editing_call
def _other_arguments(draw: DrawFn, call: Call, schema: Schema) -> tuple[Call, str]:
    text = draw(argument_texts(schema))
    return _with_arguments(draw, call, text), _shown(text)


@mutator("arguments-misfit")
@editing_call
def _misfit(draw: DrawFn, call: Call, _schema: Schema) -> tuple[Call, str] | None:
    text = "".join(delta.fragment for delta in call if isinstance(delta, ArgumentsDelta))
    arguments = parse(text).value
    if arguments is None:
        return None
    changed = {key: draw(_of_other_types(value)) for key, value in arguments.items()}
    text = json_text(changed | {"force": True})
    return _with_arguments(draw, call, text), _shown(text)


def _of_other_types(value: object) -> SearchStrategy[object]:
    if isinstance(value, str):
        return st.sampled_from((1.5, 7, True, []))
    return st.sampled_from((json_text(value), "007", "no", "1e3"))


@mutator("arguments-empty")
@editing_call
def _no_arguments(draw: DrawFn, call: Call, schema: Schema) -> tuple[Call, str] | None:
    if isinstance(schema, dict) and schema.get("required"):
        return None  # a client that validates arguments may reject them
    text = draw(st.sampled_from(_EMPTY))
    return _with_arguments(draw, call, text), repr(text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")  # noqa: PLR2004 - readable in one line


def _named(name: str, call: Call) -> Call:
    start, *rest = call
    return (replace(start, name=name), *rest) if isinstance(start, ToolCallStart) else call


@mutator("name-emptied")
@editing_call
def _nameless(_draw: DrawFn, call: Call, _schema: Schema) -> tuple[Call, str]:
    return _named("", call), "no name"


@mutator("name-other")
@editing_call
def _other_name(draw: DrawFn, call: Call, _schema: Schema) -> tuple[Call, str]:
    name = draw(st.sampled_from(_OTHER_NAMES))
    return _named(name, call), repr(name)


# All calls


@mutator("call-repeated")
@recalling
def _repeated(draw: DrawFn, calls: list[Call]) -> tuple[list[Call], str]:
    return _again(draw, calls, "_2")


@mutator("call-and-id-repeated")
@recalling
def _repeated_with_id(draw: DrawFn, calls: list[Call]) -> tuple[list[Call], str]:
    return _again(draw, calls, "")


def _again(draw: DrawFn, calls: list[Call], tail: str) -> tuple[list[Call], str]:
    """Add a copy of one call with `tail` after its id; return the calls and a description."""
    at = draw(st.integers(0, len(calls) - 1))
    start, *rest = calls[at]
    if not isinstance(start, ToolCallStart):
        return calls, ""
    return [*calls, (replace(start, id=start.id + tail), *rest)], f"call {at} again"


@mutator("calls-reversed")
@recalling
def _reversed(_draw: DrawFn, calls: list[Call]) -> tuple[list[Call], str]:
    return calls[::-1], "last first"


@mutator("call-dropped")
@recalling
def _dropped(draw: DrawFn, calls: list[Call]) -> tuple[list[Call], str] | None:
    at = draw(st.integers(0, len(calls) - 1))
    return (calls[:at] + calls[at + 1 :], f"call {at}") if len(calls) > 1 else None


@mutator("broken-beside", dialects=_TEXTUAL)
@recalling
def _broken_beside(draw: DrawFn, calls: list[Call]) -> tuple[list[Call], str]:
    """Add a call with broken arguments before or after the others; return also a description."""
    broken = draw(malformed_arguments(True))  # noqa: FBT003 - the schema that allows all
    start = ToolCallStart(0, "call_bad", getattr(calls[0][0], "name", "f"))
    more = _with_arguments(draw, (start,), broken.text)
    if draw(st.booleans()):
        return [*calls, more], f"{broken.kind}, last"
    return [more, *calls], f"{broken.kind}, first"
