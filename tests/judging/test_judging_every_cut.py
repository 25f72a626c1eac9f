"""Every bundled body gives the same turn under every single cut.

Long bodies are cut at a spread of their offsets, another one for each body. Of a cassette with many
responses, one is cut in each run of `_MANY`. The deep profile cuts each at each offset. The cells
of the scenarios are also judged byte by byte.
"""

from itertools import islice
from typing import NamedTuple

import pytest

from harness.judging.replaying import deadlines, replay
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, Chunking, iter_single_cuts
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import (
    IS_DEEP,
    reads_more_than_reference,
    shipped_subjects,
)

_SPREAD = 3
_MANY = 12


CELLS = sorted(
    {
        (subject.id.partition("/")[0], normalizer.name)
        for normalizer in map(
            load_normalizer, ("reference", "dashscope-restore", "tag-extract", "action-protocol")
        )
        for subject in shipped_subjects()
        if subject.cassette.dialect in normalizer.dialects
        and reads_more_than_reference(normalizer, subject)
    }
)


class _Body(NamedTuple):
    """One body of an area; several scenarios may share it."""

    where: str
    interaction: Interaction
    step: int


def _bodies(area: str, dialects: frozenset[str]) -> list[_Body]:
    found = {
        (subject.cassette.id, place): _Body(
            f"{subject.cassette.id}#{place}",
            interaction,
            1 if IS_DEEP else max(1, len(interaction.body) // _SPREAD),
        )
        for subject in shipped_subjects()
        if subject.id.startswith(f"{area}/")
        for place, interaction in enumerate(subject.cassette.interactions)
        if interaction.dialect in dialects and (IS_DEEP or place % _MANY == 0)
    }
    return list(found.values())


@pytest.mark.parametrize(("area", "name"), CELLS)
def test_turn_is_the_same_under_every_cut(area: str, name: str) -> None:
    normalizer = load_normalizer(name)
    with deadlines():
        for body in _bodies(area, normalizer.dialects):
            assert _differing(normalizer, body) == [], body.where


def _differing(normalizer: Normalizer, body: _Body) -> list[Chunking]:
    def turn(cuts: Chunking) -> Turn:
        again = replay(normalizer, body.interaction, cuts)
        assert not again.error
        return again.turn

    raw = body.interaction.body
    whole = turn(UNSPLIT)
    cuts = islice(iter_single_cuts(raw), len(raw) % body.step, None, body.step)
    return [each for each in cuts if turn(each) != whole]
