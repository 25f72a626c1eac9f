"""An emulated stream must have each member that recorded streams of its API have."""

import json
from typing import Any

import pytest

from harness.checks.stream_members import missing_members
from harness.judging.scenario import Scenario
from harness.results.expectation import Expectation
from harness.results.scenario_evidence import ScenarioEvidence
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Request

_ROLE = {"index": 0, "delta": {"role": "assistant", "content": "a"}}
_LATER = {"index": 0, "delta": {"content": "b"}}
_SENT = ScenarioEvidence("reported", "https://example.com/1")


def _cassette(name: str, *chunks: dict[str, Any]) -> Cassette:
    body = b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks)
    interaction = Interaction(Request(), 200, (), body, (), dialect="openai-chat")
    return Cassette(name, (interaction,), Origin("recorded" if name == "real" else "emulated"))


def _missing(
    *chunks: dict[str, Any], evidence: ScenarioEvidence = _SENT, quirks: tuple[str, ...] = ()
) -> list[str]:
    real = _cassette("real", {"id": "x", "choices": [_ROLE]}, {"id": "x", "choices": [_LATER]})
    cassettes = {"real": real, "made": _cassette("made", *chunks)}
    expected = Expectation(source="scenario", finish=None)
    scenario = Scenario("a/b", "A", "made", (expected,), quirks=quirks, evidence=evidence)
    return list(missing_members([scenario], cassettes))


def test_a_stream_with_all_members_passes() -> None:
    assert _missing({"id": "y", "choices": [_ROLE]}, {"id": "y", "choices": [_LATER]}) == []


@pytest.mark.parametrize(
    ("chunks", "name"),
    [
        (({"choices": [_ROLE]},), "id"),
        (({"id": "y", "choices": [_LATER]},), "choices.delta.role"),
        (({"id": "y", "choices": [_ROLE]}, {"choices": [_LATER]}), "id"),
    ],
)
def test_a_member_that_each_recording_has_is_missing(chunks: tuple[Any, ...], name: str) -> None:
    assert _missing(*chunks) == [f"a/b: recorded chunks have {name}"]


def test_a_stream_that_no_server_sends_and_a_quirk_may_lack_members() -> None:
    bare = {"choices": [_LATER]}
    assert _missing(bare, evidence=ScenarioEvidence("own", "bare")) == []
    assert _missing(bare, quirks=("DELTA-ROLE-MISSING",)) == []
    assert _missing(bare) != []
