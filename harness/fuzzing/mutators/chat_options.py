"""Define mutators with encodings of openai-chat calls that only some clients can read.

The dialect's own writer writes them. Each one needs a capability of the client, or calls whose
meaning does not depend on the option.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.dialects.table import DIALECTS, offered_tools
from harness.fuzzing.mutators.calls import calls_of
from harness.fuzzing.mutators.chat_entries import chat_mutator
from harness.fuzzing.mutators.mutator import Mutate
from harness.fuzzing.mutators.rewriting import Deltas, deltas_of, rewritten
from harness.turns.deltas import ArgumentsDelta, ToolCallEnd, ToolCallStart
from harness.turns.json_prefix import PrefixState, scan
from harness.wire.interaction import Interaction

_REPEATS: Final = ("cumulative", "whole-again", "placeholder-first")
_AT_ONCE: Final = ("with-start", "absent-first", "object")
_ELSEWHERE: Final = ("message", "additional-kwargs")
_MOST_PIECES = 3
_HALF: Final = re.compile("[\ud800-\udfff]|\\\\ud[89a-f]", re.IGNORECASE)

Suits: TypeAlias = Callable[[Interaction, Deltas], bool]


def _with_option(
    name: str,
    values: SearchStrategy[Any],
    suits: Suits = lambda _interaction, _deltas: True,
) -> Mutate:
    """Return a mutation that encodes complete calls of functions with one other writer option.

    Args:
        name: the name of the writer option.
        values: a strategy for values other than the documented one.
        suits: returns whether the option keeps the meaning of these calls.
    """

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        deltas = deltas_of(interaction)
        if deltas is None or not _all_whole(deltas) or not suits(interaction, deltas):
            return None
        value = draw(values)
        options = DIALECTS["openai-chat"].writer_options(**{name: value})
        return rewritten(interaction, deltas, f"{name} is {value!r}", options)

    return mutate


def _all_whole(deltas: Deltas) -> bool:
    """Return whether there are calls, and all of them are complete calls of functions."""
    calls = calls_of(deltas)
    return bool(calls) and all(
        isinstance(start := call[0], ToolCallStart)
        and start.kind == "function"
        and isinstance(call[-1], ToolCallEnd)
        for call in calls
    )


def _one_reading(_interaction: Interaction, deltas: Deltas) -> bool:
    """Return whether repeated parts of arguments cannot be the start of one longer object."""
    return not any(
        len(pieces) > 1 and scan("".join(itertools.accumulate(pieces))).state is PrefixState.PREFIX
        for pieces in (_fragments(call) for call in calls_of(deltas))
    )


def _fragments(call: Deltas) -> list[str]:
    return [delta.fragment for delta in call if isinstance(delta, ArgumentsDelta)]


def _names_known(interaction: Interaction, deltas: Deltas) -> bool:
    """Return whether all names are those of declared tools, and none is the start of another."""
    offered = {tool.name for tool in offered_tools(interaction)}
    named = {call[0].name for call in calls_of(deltas) if isinstance(call[0], ToolCallStart)}
    return named <= offered and not any(
        one != two and two.startswith(one) for one in offered for two in offered
    )


def _without_halves(_interaction: Interaction, deltas: Deltas) -> bool:
    """Return whether the arguments contain no half of a surrogate pair, as text or escape."""
    text = "".join(piece for call in calls_of(deltas) for piece in _fragments(call))
    return _HALF.search(text) is None


chat_mutator("arguments-placed")(
    _with_option("arguments", st.sampled_from(_AT_ONCE), _without_halves)
)
chat_mutator("arguments-repeated")(
    _with_option("arguments", st.sampled_from(_REPEATS), _one_reading)
)
chat_mutator("name-in-pieces")(
    _with_option("name_pieces", st.integers(2, _MOST_PIECES), _names_known)
)
chat_mutator("calls-elsewhere")(_with_option("where", st.sampled_from(_ELSEWHERE)))
