"""The first attempts of each attack; `python -m tests.attack NAME` makes all."""

import pytest

from tests.attack.attack import NAMES, attack_named, make_block

pytestmark = pytest.mark.attack
_BLOCKS = [
    pytest.param(name, first, min(first + attack.block, attack.part), id=f"{name}-{first}")
    for name, attack in ((name, attack_named(name)) for name in NAMES)
    for first in range(0, attack.part, attack.block)
]


@pytest.mark.parametrize(("name", "first", "end"), _BLOCKS)
def test_an_attempt_does_no_harm(name: str, first: int, end: int) -> None:
    assert make_block(name, first, end) == []
