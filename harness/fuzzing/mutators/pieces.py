"""Define mutators that write the same turn in other parts or with other writer options.

The dialect's own writer writes it.
"""

from collections.abc import Iterable, Iterator

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec.structs import asdict, replace

from harness.dialects.kit.dialect import Dialect
from harness.dialects.table import DIALECTS, offered_tools
from harness.fuzzing.mutators.mutator import DECLARED, Mutator, mutator
from harness.fuzzing.mutators.rewriting import Deltas, deltas_of, rewriting, rewritten
from harness.fuzzing.strategies.turns import option_values
from harness.turns.deltas import ArgumentsDelta, Delta, ReasoningDelta, TextDelta, ToolCallRejected
from harness.wire.interaction import Interaction

Piece = TextDelta | ReasoningDelta | ArgumentsDelta


def _text_of(delta: Piece) -> str:
    return delta.fragment if isinstance(delta, ArgumentsDelta) else delta.text


def _with_text(delta: Piece, text: str) -> Piece:
    if isinstance(delta, ArgumentsDelta):
        return replace(delta, fragment=text)
    return replace(delta, text=text)


@mutator("piece-split")
@rewriting
def _split(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str] | None:
    pieces = [(at, delta) for at, delta in enumerate(deltas) if isinstance(delta, Piece)]
    long = [(at, delta) for at, delta in pieces if len(_text_of(delta)) > 1]
    if not long:
        return None
    at, delta = draw(st.sampled_from(long))
    text = _text_of(delta)
    cut = draw(st.integers(1, len(text) - 1))
    halves = _with_text(delta, text[:cut]), _with_text(delta, text[cut:])
    return (*deltas[:at], *halves, *deltas[at + 1 :]), f"{text!r} after {cut} characters"


@mutator("pieces-of-one")
@rewriting
def _singly(_draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    return tuple(_characters(deltas)), "one character a delta"


def _characters(deltas: Deltas) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, Piece):
            yield from (_with_text(delta, character) for character in _text_of(delta))
        else:
            yield delta


@mutator("pieces-merged")
@rewriting
def _merged(_draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    left = joined(deltas)
    return left, f"{len(deltas)} deltas are {len(left)}"


def joined(deltas: Iterable[Delta]) -> Deltas:
    """Return `deltas` with consecutive deltas of one text or call joined into one."""
    left: list[Delta] = []
    for delta in deltas:
        before = left[-1] if left else None
        if isinstance(delta, Piece) and isinstance(before, Piece) and _joins(before, delta):
            left[-1] = _with_text(before, _text_of(before) + _text_of(delta))
        else:
            left.append(delta)
    return tuple(left)


def _joins(before: Piece, delta: Piece) -> bool:
    index, other = getattr(before, "index", None), getattr(delta, "index", None)
    return type(before) is type(delta) and index == other


def _respelled(name: str) -> Mutator:
    """Return the mutator called `name`, which draws a writer option with the same capability."""
    capability = "".join(DECLARED[name].needs)
    options = {row.name: _options(row, capability) for row in DIALECTS.values()}

    @mutator(name, dialects=(dialect for dialect, found in options.items() if found))
    def respelled(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        deltas = deltas_of(interaction)
        if deltas is None or any(isinstance(delta, ToolCallRejected) for delta in deltas):
            return None
        option, value = draw(st.sampled_from(options[interaction.dialect]))
        used = DIALECTS[interaction.dialect].writer_options(**{option: value})
        return rewritten(interaction, deltas, f"{option} is {value!r}", used)

    return respelled


def _options(row: Dialect, capability: str) -> tuple[tuple[str, object], ...]:
    return tuple(
        (option, value)
        for option, value in option_values(row.name)
        if option not in row.meaningful_options and row.option_needs.get(option, "") == capability
    )


@mutator("tools-taught")
def _tools_in_prompt(_draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    tools = tuple(asdict(tool) for tool in offered_tools(interaction))
    if interaction.tools or not tools:
        return None
    names = ", ".join(tool["name"] for tool in tools)
    return replace(interaction, tools=tools), f"{names}, in addition to the fields of the request"


for _name in ("respelled", "other-encoding", "partial-arguments"):
    _respelled(_name)
