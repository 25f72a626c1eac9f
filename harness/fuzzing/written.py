"""Turns that nobody recorded, written by a dialect's own writer: seeds without a cassette.

What must come out is what the strict reading finds in the bytes, which knows nothing of the
writer.
"""

import json
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.dialects.table import DIALECTS
from harness.fuzzing import inputs
from harness.fuzzing.mutators import MUTATORS
from harness.fuzzing.oracle import Trial
from harness.fuzzing.seeds import Seed
from harness.judging.strict_reading.expect import expectation_from
from harness.judging.strict_reading.table import strict_reading
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic

PARENT: Final = "written"

_TEXT = st.text(st.sampled_from('ab <{"\\\n\u2028é春🎉'), max_size=8)
_VALUES: st.SearchStrategy[Any] = (
    st.integers(-3, 3) | st.integers(2**53, 2**63) | st.booleans() | st.none() | _TEXT
)
_ARGUMENTS = st.dictionaries(st.sampled_from(["city", "id", "n"]), _VALUES, max_size=2).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)
_BROKEN = st.sampled_from(['{"city": "Os', "Oslo, please", "[]", '{"a": 1}{"b": 2}', "{'a': 1}"])


@st.composite
def written(draw: DrawFn, dialect: str) -> Trial | None:
    """Draw a turn in `dialect`, now and then after a step, cut anywhere; None for no such turn."""
    try:
        seed = seed_of(dialect, draw(_deltas()))
    except ValueError:  # the API has no way to say it
        return None
    steps = draw(st.lists(st.sampled_from(MUTATORS), max_size=1))
    mutant = inputs.draw_steps(draw, seed, steps)
    return Trial(seed, mutant, (draw(inputs.cuts(mutant.interaction.body)),))


def seed_of(dialect: str, deltas: list[Delta]) -> Seed:
    """Return what the writer of `dialect` makes of `deltas`."""
    known = DIALECTS[dialect]
    body = b"".join(known.write(deltas))
    interaction = Interaction(
        Request(),
        200,
        (("content-type", known.content_type),),
        body,
        synthetic(body),
        reads_kept=False,
        dialect=dialect,
    )
    return Seed(PARENT, "", interaction, expectation_from(strict_reading(interaction)))


@st.composite
def _deltas(draw: DrawFn) -> list[Delta]:
    said: list[Delta] = [ReasoningDelta(text) for text in draw(st.lists(_TEXT, max_size=2)) if text]
    said += [TextDelta(text) for text in draw(st.lists(_TEXT, max_size=3)) if text]
    calls = draw(st.lists(_ARGUMENTS | _BROKEN, max_size=3))
    for index, arguments in enumerate(calls):
        said.append(ToolCallStart(index, f"call_{index}", f"tool_{index % 2}"))
        cut = draw(st.integers(0, len(arguments)))
        said += [ArgumentsDelta(index, part) for part in (arguments[:cut], arguments[cut:]) if part]
        said.append(ToolCallEnd(index))
    if draw(st.booleans()):
        said.append(UsageDelta(Usage(3, 4)))
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    return [*said, Finish(reason)]
