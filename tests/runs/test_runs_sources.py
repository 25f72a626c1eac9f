"""The facts of a cassette that its results carry: its origin, its reads, what it leaks."""

import msgspec

from harness.runs.sources import source_of
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request

_CLEAN = Interaction(Request(uri="https://a/v1"), 200, (), b"data: {}\n\n", (Read(10),))
_LEAKY = msgspec.structs.replace(
    _CLEAN, request=Request(uri="https://a/v1?key=k", headers=(("Authorization", "Bearer k"),))
)
_SYNTHETIC = msgspec.structs.replace(_CLEAN, reads_kept=False)


def _reads(*interactions: Interaction) -> str:
    return source_of(Cassette("c", interactions, Origin("recorded"))).reads


def test_reads_are_kept_synthetic_or_both() -> None:
    assert _reads(_CLEAN, _CLEAN) == "recorded"
    assert _reads(_SYNTHETIC) == "synthetic"
    assert _reads(_CLEAN, _SYNTHETIC) == "mixed"


def test_each_credential_is_counted() -> None:
    facts = source_of(Cassette("c", (_CLEAN, _LEAKY), Origin("recorded", at="2026-11-22")))
    assert (facts.leaks, facts.interactions, facts.size, facts.at) == (2, 2, 20, "2026-11-22")
