"""Text fixtures: enough to judge a reader by, in plain JSON, and as the scenarios state it."""

import json
from functools import cache
from pathlib import Path

import msgspec

from harness import shipped
from harness.checks.text_fixtures import FixtureTurn, TextFixture, format_fixture, text_fixtures
from harness.runs.selection import select_subjects
from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.turns.exact_json import encodable
from harness.turns.fold import fold
from harness.turns.turn import Turn


@cache
def _fixtures() -> tuple[TextFixture, ...]:
    """Return the bundled fixtures as another program reads them."""
    made = text_fixtures(select_subjects([shipped.bundled_folder("scenarios")]))
    return tuple(msgspec.json.decode(format_fixture(each), type=TextFixture) for each in made)


def _read(turn: FixtureTurn) -> Turn:
    """Read a turn with the text dialects that need no description or have one in its prompt."""
    known = frozenset(
        name
        for name, dialect in TEXT_DIALECTS.items()
        if all(word in turn.system for word in dialect.taught_by)
    )
    return fold(read_text_calls(turn.deltas, turn.tools, TextPolicy(known)))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def test_reading_the_deltas_of_a_fixture_gives_its_turn() -> None:
    plain = [
        (fixture.scenario, turn)
        for fixture in _fixtures()
        if not fixture.policies and not fixture.capabilities
        for turn in fixture.turns
        # Without tools, `reference` does not read the text, and the answer may contain thoughts.
        if turn.tools
        if not (turn.expect.open or turn.expect.alternatives or turn.expect.failure)
    ]
    assert len(plain) > 500
    for scenario, turn in plain:
        read, expect = _read(turn), turn.expect
        assert _spaced(read.text) == _spaced(expect.text), scenario
        assert _spaced(read.reasoning) == _spaced(expect.reasoning), scenario
        called = [(call.name, json.loads(call.arguments or "{}")) for call in read.tool_calls]
        due = [(call.name, call.arguments) for call in expect.tool_calls]
        # Half of a surrogate pair is U+FFFD in a fixture.
        assert encodable(called) == encodable(due), scenario
        if expect.parse_errors != "any":
            pairs = zip(read.parse_errors, expect.parse_errors, strict=True)
            assert all(found.name == due.name for found, due in pairs if due.name), scenario


def test_there_are_fixtures_of_each_text_dialect() -> None:
    assert {fixture.text_dialect for fixture in _fixtures()} == set(TEXT_DIALECTS)


def test_a_turn_has_no_keys_that_its_scenario_does_not_state() -> None:
    path = Path(shipped.bundled_folder("scenarios")) / "kimi" / "section.yaml"
    (fixture,) = text_fixtures(select_subjects([path]))
    written = json.loads(format_fixture(fixture))
    assert written["turns"][0]["expect"].keys() <= {
        "text",
        "reasoning",
        "tool_calls",
        "parse_errors",
        "finish",
    }


def test_a_scenario_without_calls_in_the_text_has_no_fixture() -> None:
    paths = [shipped.bundled_folder("scenarios") / name for name in ("calls", "conversations")]
    assert list(text_fixtures(select_subjects(paths))) == []
