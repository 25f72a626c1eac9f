"""Define mutators of the text of a turn: unusual characters, and markup that may be a call.

No API defines whether markup in a text is a call, an example or a draft, so the oracle does not
judge it. But a client must not execute an incomplete call, or a call in code, in a quotation or in
the reasoning.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.dialects.table import offered_tools
from harness.fuzzing.mutators.mutator import Mutate, mutator
from harness.fuzzing.mutators.rewriting import Deltas, deltas_of, rewriting, rewritten
from harness.fuzzing.strategies.arguments import argument_texts, words
from harness.text_calls import MARKERS, TEXT_DIALECTS, Context, WrittenCall
from harness.turns.deltas import Delta, Finish, ReasoningDelta, TextDelta, ToolCallStart, UsageDelta
from harness.wire.interaction import Interaction

Put: TypeAlias = Callable[[DrawFn, Deltas, str], tuple[Deltas, str] | None]

# A prompt teaches these; without it they are plain text.
_UNPROMPTED_TEXT_DIALECTS: Final = tuple(
    name for name, each in TEXT_DIALECTS.items() if not each.taught_by
)
_AFTER: Final = ("", "\n", " And so on.", "。")
_FENCED: Final = (
    "For example:\n```\n{}\n```\nThat is all.",
    "So:\n```xml\n{}\n```",
    "I would write\n~~~\n{}\n~~~\nfor it.",
)
# What is quoted within a line may have no other.
_QUOTED: Final = ("Write `{}` to call it.", "The model says “{}” then.", "> {}\n\nThat was quoted.")
_ENDS_CODE: Final = ("`", "~~~")


@mutator("text-added")
@rewriting
def _text_added(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    text = draw(words(most=20).filter(bool))
    at = draw(st.sampled_from([at for at in range(_end_of(deltas) + 1) if not _amid(deltas, at)]))
    return (*deltas[:at], TextDelta(text), *deltas[at:]), repr(text)


def _end_of(deltas: Deltas) -> int:
    """Return the index of the first delta with the finish or the usage."""
    ends = (isinstance(delta, Finish | UsageDelta) for delta in deltas)
    return next((at for at, ending in enumerate(ends) if ending), len(deltas))


def _amid(deltas: Deltas, at: int) -> bool:
    """Return whether the deltas before and at an index are both text, which may be one call."""
    pair = deltas[max(0, at - 1) : at + 1]
    return len(pair) > 1 and all(isinstance(delta, TextDelta) for delta in pair)


@mutator("reasoning-added")
@rewriting
def _reasoning_added(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    text = draw(words(most=20).filter(bool))
    return (ReasoningDelta(text), *deltas), repr(text)


@mutator("text-tail")
@rewriting
def _text_tail(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    """Add the beginning of a marker to the text, in a separate delta."""
    mark = draw(st.sampled_from(MARKERS))
    tail = mark[: draw(st.integers(1, len(mark) - 1))] if len(mark) > 1 else mark
    return _before_end(deltas, TextDelta(tail)), repr(tail)


def _before_end(deltas: Deltas, *more: Delta) -> Deltas:
    """Return `deltas` with `more` before the first delta that is neither text nor reasoning."""
    kinds = (isinstance(delta, TextDelta | ReasoningDelta) for delta in deltas)
    at = next((index for index, said in enumerate(kinds) if not said), len(deltas))
    return (*deltas[:at], *more, *deltas[at:])


def adding_text_call(put: Put) -> Mutate:
    """Return a mutation that adds a text call of a declared tool where `put` inserts it."""

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        deltas, tools = deltas_of(interaction), offered_tools(interaction)
        if deltas is None or not tools:
            return None
        tool = draw(st.sampled_from(tools))
        dialect = TEXT_DIALECTS[draw(st.sampled_from(_UNPROMPTED_TEXT_DIALECTS))]
        # No model writes half a pair into its text, and no dialect can encode one.
        arguments = draw(argument_texts(tool.parameters).filter(lambda it: "\\ud" not in it))
        text = dialect.write([WrittenCall(tool.name, arguments)])
        changed = put(draw, deltas, text)
        if changed is None:
            return None
        return rewritten(interaction, changed[0], f"{dialect.name} {changed[1]}")

    return mutate


@mutator("text-call")
@adding_text_call
def _as_reply(draw: DrawFn, deltas: Deltas, text: str) -> tuple[Deltas, str]:
    return _before_end(deltas, TextDelta(text + draw(st.sampled_from(_AFTER)))), "in the text"


@mutator("text-example")
@adding_text_call
def _in_code(draw: DrawFn, deltas: Deltas, text: str) -> tuple[Deltas, str] | None:
    # In a fence that is open, the marks of another one would close it.
    if any(mark in text for mark in _ENDS_CODE) or _in_fence(deltas):
        return None
    frames = _FENCED if len(text.splitlines()) > 1 else (*_FENCED, *_QUOTED)
    frame = draw(st.sampled_from(frames))
    how = "in a fence" if frame in _FENCED else "in a quotation"
    return _before_end(deltas, TextDelta("\n" + frame.format(text))), how


def _in_fence(deltas: Deltas) -> bool:
    """Return whether the text ends inside a code block in Markdown."""
    context = Context()
    for delta in deltas:
        if isinstance(delta, TextDelta):
            context.advance(delta.text)
    context.advance("\n")
    return bool(context.fence)


@mutator("text-draft")
@adding_text_call
def _in_reasoning(draw: DrawFn, deltas: Deltas, text: str) -> tuple[Deltas, str] | None:
    """Add the text of a call to the reasoning before an answer; None without an answer."""
    if not any(isinstance(delta, TextDelta | ToolCallStart) for delta in deltas):
        return None
    tail = draw(st.sampled_from(_AFTER))
    return (ReasoningDelta(text + tail), *deltas), "in the reasoning"


@mutator("text-call-cut")
@adding_text_call
def _cut_off(draw: DrawFn, deltas: Deltas, text: str) -> tuple[Deltas, str]:
    cut = draw(st.integers(1, max(1, len(text) - 1)))
    return _before_end(deltas, TextDelta(text[:cut])), f"cut after {cut} characters"
