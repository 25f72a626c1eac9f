"""The protocol: what a declaration is, and what every shipped one keeps to."""

from collections.abc import Iterator

import pytest

from harness.judging.rules import COST_RULES, TIMING_RULES, TURN_RULES
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.runs.declared import available_normalizers
from harness.turns.deltas import TextDelta
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import HELLO, an_interaction

SHIPPED = tuple(available_normalizers())


def test_a_declaration_needs_a_name_and_a_function_only() -> None:
    declared = Normalizer("mine", lambda _interaction, _reads: iter(()))
    assert declared.dialects == {"openai-chat"}
    assert (declared.role, declared.streams) == ("conforming", True)
    assert [*declared.capabilities, *declared.breaks, *declared.policies] == []


def test_a_declaration_cannot_change() -> None:
    with pytest.raises(AttributeError):
        SHIPPED[0].name = "other"  # type: ignore[misc]  # what must not work


@pytest.mark.parametrize("normalizer", SHIPPED, ids=lambda normalizer: normalizer.name)
def test_shipped_ones_declare_what_exists(normalizer: Normalizer) -> None:
    assert normalizer.capabilities <= CAPABILITIES.keys()
    assert normalizer.breaks <= {*TURN_RULES, *COST_RULES, *TIMING_RULES}
    assert bool(normalizer.breaks) == (normalizer.role in ("known-bad", "mutant"))
    assert normalizer.summary


class _Counted:
    """Reads that count how many were pulled."""

    def __init__(self, body: bytes) -> None:
        self.pulled = 0
        self._left = iter([body[at : at + 20] for at in range(0, len(body), 20)])

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        read = next(self._left)
        self.pulled += 1
        return read


def _first_text(normalizer: Normalizer, interaction: Interaction) -> int:
    """Return the reads that were pulled before the first text came."""
    reads = _Counted(interaction.body)
    for delta in normalizer.normalize(interaction, reads):
        if isinstance(delta, TextDelta):
            return reads.pulled
    return -1


MEANT_TO_PASS = [normalizer for normalizer in SHIPPED if normalizer.role == "conforming"]


@pytest.mark.parametrize("normalizer", MEANT_TO_PASS, ids=lambda normalizer: normalizer.name)
def test_those_that_stream_are_lazy(normalizer: Normalizer) -> None:
    first_event = HELLO.index(b"\n\n") + 2
    assert 0 < _first_text(normalizer, an_interaction()) <= first_event // 20 + 2


@pytest.mark.parametrize("normalizer", MEANT_TO_PASS, ids=lambda normalizer: normalizer.name)
def test_nothing_is_read_before_somebody_asks(normalizer: Normalizer) -> None:
    reads = _Counted(HELLO)
    normalizer.normalize(an_interaction(), reads)
    assert reads.pulled == 0
