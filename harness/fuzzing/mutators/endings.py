"""Bodies that end too early: what every network does to every stream now and then."""

from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.mutator import changing
from harness.fuzzing.mutators.with_body import with_body
from harness.wire.cuts import seams
from harness.wire.interaction import Interaction


def _cut(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    body = interaction.body
    if not body:
        return None
    anywhere = st.integers(0, len(body) - 1)
    places = seams(body)
    at = draw(st.sampled_from(places) | anywhere if places else anywhere)
    return with_body(interaction, body[:at]), f"after byte {at} of {len(body)}"


MUTATORS: Final = (changing("cut-short", "the body ends after any byte", _cut),)
