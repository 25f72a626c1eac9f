"""Find a smaller turn that shows the same bug.

Shrinking tries fewer mutations first, then fewer and shorter events of the clean seed, to which the
mutations are applied again, then a smaller request, then fewer cuts. The smaller input must show
the bug, and must not show it without its mutations, so that each of them is needed.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import combinations

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.dialects.table import oracle_reading
from harness.fuzzing.mutators.mutator import Mutation, Mutator
from harness.fuzzing.mutators.table import MUTATORS, Place
from harness.fuzzing.search import EnoughError, Shrinking, draw_all
from harness.fuzzing.turns.evaluate import Trial, unchanged
from harness.fuzzing.turns.inputs import draw_steps
from harness.fuzzing.turns.reductions import parse_deltas, reductions
from harness.fuzzing.turns.seeds import Seed
from harness.judging.expected import expectation_from
from harness.turns.oracle_reading import OracleReading
from harness.wire.cuts import Chunking, each_byte, iter_single_cuts, seams
from harness.wire.interaction import Interaction

_STEPS = {mutator.name: mutator for mutator in MUTATORS}
# So often the same steps are drawn again on a smaller seed before it counts as one without the bug.
_DRAWS = 12
_SINGLE_CUTS_UP_TO = 3_000


def shrink_trial(shrinking: Shrinking[Trial]) -> None:
    """Try smaller inputs; `shrinking` keeps those that show the bug.

    An input keeps its cuts only if the bug needs them. Then each smaller input is judged under all
    chunkings that can show such a bug.
    """
    shrinking.keep(shrinking.best.without_cuts)
    shrinking.keep_first(_fewer_steps(shrinking))
    shrinking.repeat(lambda _: _smaller_seeds(shrinking))
    if shrinking.best.cuts and not shrinking.keep(shrinking.best.without_cuts):
        shrinking.keep_first(_one_chunking(shrinking.best))
        _drop_cuts(shrinking)


def _fewer_steps(shrinking: Shrinking[Trial]) -> Iterator[Trial]:
    """Yield the input without any mutation, then with one of them, and so on."""
    trial = shrinking.best
    for count in range(len(trial.mutators)):
        for names in combinations(trial.mutators, count):
            yield from _steps_applied(shrinking, trial.seed, names)


def _smaller_seeds(shrinking: Shrinking[Trial]) -> Iterator[Trial]:
    trial = shrinking.best
    for interaction in reductions(trial.seed.interaction):
        seed = _reduced_seed(trial.seed, interaction)
        if seed is not None:
            yield from _steps_applied(shrinking, seed, trial.mutators)


def _reduced_seed(before: Seed, interaction: Interaction) -> Seed | None:
    """Return a seed with a smaller interaction; None if its expected result is ambiguous."""
    if interaction.body == before.interaction.body:
        return msgspec.structs.replace(before, interaction=interaction)
    oracle, known = oracle_reading(interaction), oracle_reading(before.interaction)
    gone = known.quirks - oracle.quirks
    quirks = tuple(quirk for quirk in before.parent.quirks if quirk not in gone)
    parent = msgspec.structs.replace(before.parent, quirks=quirks)
    before = msgspec.structs.replace(before, parent=parent)
    if _turn_content(oracle, interaction) == _turn_content(known, before.interaction):
        return msgspec.structs.replace(before, interaction=interaction)
    expectation = expectation_from(oracle)
    if before.parent.text_dialect or not oracle.quirks <= known.quirks:
        return None
    if not before.expectation.judged - {"usage"} <= expectation.judged:
        return None
    return msgspec.structs.replace(before, interaction=interaction, expectation=expectation)


def _turn_content(oracle: OracleReading, interaction: Interaction) -> tuple[object, ...]:
    """Return what identifies the content of a turn; equal contents have equal expected results.

    If the oracle does not judge the calls, the calls are those that the dialect's reader finds.
    """
    calls = (
        parse_deltas(interaction)
        if oracle.calls is None
        else [(call.id, call.name, call.arguments, call.kind) for call in oracle.calls]
    )
    ends = oracle.finish, oracle.ended, oracle.error, oracle.refusal
    return oracle.text, oracle.reasoning, calls, ends, oracle.quirks


def _steps_applied(
    shrinking: Shrinking[Trial], seed: Seed, names: tuple[str, ...]
) -> Iterator[Trial]:
    """Yield `seed` after the mutators called `names`, if the bug does not occur without them."""
    bare = Trial(seed, unchanged(seed), _revealing_cuts(shrinking.best, seed.interaction.body))
    if not names:
        yield bare
    elif shrinking.finding_on(bare) is None:
        yield from _drawn_again(shrinking, seed, names)


def _drawn_again(shrinking: Shrinking[Trial], seed: Seed, names: tuple[str, ...]) -> list[Trial]:
    """Return a list with the first draw that shows the bug, or []; the same offsets come first."""
    hit: list[Trial] = []
    before = shrinking.best

    def use(trial: Trial) -> None:
        if trial.mutators == names and shrinking.finding_on(trial) is not None:
            hit.append(trial)
            raise EnoughError

    steps = [_STEPS[name] for name in names]
    with suppress(EnoughError):
        for places in _same_places(before.mutated.steps):
            strategy = _with_steps(seed, steps, places, before)
            draw_all(strategy, use, examples=_DRAWS, random=0)
            if hit:
                break
    return hit


def _same_places(steps: Iterable[Mutation]) -> Iterator[dict[str, Place]]:
    """Yield offsets for mutators: equally far from the end, then from the start, then none."""
    found = [(step.name, *step.place) for step in steps if step.place is not None]
    if found:
        yield {name: partial(_from_end, after) for name, _, after in found}
        yield {name: partial(_from_start, before) for name, before, _ in found}
    yield {}


def _from_start(before: int, _size: int) -> int:
    return before


def _from_end(after: int, size: int) -> int:
    return size - after


@st.composite
def _with_steps(
    draw: DrawFn,
    seed: Seed,
    steps: Iterable[Mutator],
    places: Mapping[str, Place],
    before: Trial,
) -> Trial:
    mutated = draw_steps(draw, seed, steps, places)
    return Trial(seed, mutated, _revealing_cuts(before, mutated.interaction.body))


def _revealing_cuts(before: Trial, body: bytes) -> tuple[Chunking, ...]:
    """Return the chunkings that can show a bug of cuts; () if `before` has no cuts.

    The first ones are the cuts of `before`, equally far from the end and from the start.
    """
    if not before.cuts:
        return ()
    moved = len(body) - len(before.mutated.interaction.body)
    few = before.cuts if len(before.cuts) == 1 else ()
    same = [tuple(at + by for at in cuts) for cuts in few for by in (moved, 0)]
    fitting = [cuts for cuts in same if cuts and cuts[0] > 0 and cuts[-1] < len(body)]
    return tuple(dict.fromkeys((*fitting, each_byte(body), *_single_cuts(seams(body)))))


def _one_chunking(trial: Trial) -> Iterator[Trial]:
    """Yield `trial` with a single cut, at seams first, and then with each of its chunkings."""
    body = trial.mutated.interaction.body
    found = tuple(_single_cuts(seams(body)))
    singles = iter_single_cuts(body) if len(body) <= _SINGLE_CUTS_UP_TO else found
    for cuts in (*found, *singles, *trial.cuts):
        yield msgspec.structs.replace(trial, cuts=(cuts,))


def _drop_cuts(shrinking: Shrinking[Trial]) -> None:
    """Remove parts of the cuts, halves first, as long as the input shows the bug."""
    trial = shrinking.best
    cuts = trial.cuts[0] if len(trial.cuts) == 1 else ()
    size = len(cuts) // 2
    while size:
        fewer = (cuts[:start] + cuts[start + size :] for start in range(0, len(cuts), size))
        kept = (msgspec.structs.replace(trial, cuts=(each,)) for each in fewer if each)
        if shrinking.keep_first(kept):
            (cuts,) = shrinking.best.cuts
        else:
            size //= 2


def _single_cuts(cuts: Chunking) -> Iterator[Chunking]:
    return ((cut,) for cut in cuts)
