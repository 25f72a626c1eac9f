"""What ships belongs together: recipes, cassettes, scenarios and quirks, none left over."""

import json
from functools import cache
from pathlib import Path

import jsonschema_rs
import pytest

from harness import shipped
from harness.files import yaml_text
from harness.judging.catalogue import load_catalogue, load_excluded
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import find_scenarios, load_scenario, schema
from harness.normalizers.protocol import CAPABILITIES
from harness.wire import cassette_file
from scripts import emulated_cassettes
from scripts.recipes.kit import swap

CASSETTES = shipped.bundled_folder("cassettes")
SCENARIOS = shipped.bundled_folder("scenarios")
CATALOGUE = shipped.bundled_folder("catalogue")


@pytest.fixture(scope="module")
def scenarios() -> tuple[Scenario, ...]:
    return tuple(load_scenario(path, SCENARIOS) for path in find_scenarios([SCENARIOS]))


def _committed() -> dict[str, Path]:
    paths = CASSETTES.rglob("*.yaml")
    return {path.relative_to(CASSETTES).with_suffix("").as_posix(): path for path in paths}


@cache
def _emulated() -> frozenset[str]:
    """Return the cassettes that show a quirk; the others are recordings, which only measure."""
    kinds = {name: cassette_file.load(path).origin.kind for name, path in _committed().items()}
    return frozenset(name for name, kind in kinds.items() if kind == "emulated")


def test_the_script_writes_exactly_the_committed_cassettes() -> None:
    made = emulated_cassettes.cassettes()
    committed = _committed()
    assert _emulated() == made.keys()
    stale = [
        name
        for name, cassette in made.items()
        if cassette_file.dump(cassette).encode() != committed[name].read_bytes()
    ]
    assert stale == [], "run `python -m scripts.emulated_cassettes`"


def test_what_is_written_reads_back() -> None:
    for name, cassette in emulated_cassettes.cassettes().items():
        assert cassette_file.load(CASSETTES / f"{name}.yaml", CASSETTES) == cassette


def test_each_scenario_has_its_cassette_and_each_emulated_one_a_scenario(
    scenarios: tuple[Scenario, ...],
) -> None:
    assert {scenario.cassette for scenario in scenarios} == _emulated()
    assert len(scenarios) >= 46


def test_each_interaction_has_its_expectation(scenarios: tuple[Scenario, ...]) -> None:
    made = emulated_cassettes.cassettes()
    wrong = [
        scenario.id
        for scenario in scenarios
        if scenario.conversation is None
        and len(scenario.expect) != len(made[scenario.cassette].interactions)
    ]
    assert wrong == []


def test_each_quirk_is_shown_or_excluded_with_a_reason(scenarios: tuple[Scenario, ...]) -> None:
    quirks = load_catalogue(CATALOGUE / "quirks").keys()
    excluded = load_excluded(CATALOGUE / "excluded.yaml").keys()
    cited = {quirk for scenario in scenarios for quirk in scenario.quirks}
    assert cited <= quirks
    assert quirks - cited == excluded
    assert cited.isdisjoint(excluded)


def test_blame_is_given_where_something_is_rejected_or_fails(
    scenarios: tuple[Scenario, ...],
) -> None:
    wrong = [
        scenario.id
        for scenario in scenarios
        if not scenario.blame and any(turn.rejected or turn.failure for turn in scenario.expect)
    ]
    assert wrong == []


def test_capabilities_are_those_that_a_normalizer_can_declare(
    scenarios: tuple[Scenario, ...],
) -> None:
    named = {name for scenario in scenarios for name in scenario.capabilities}
    assert named <= set(CAPABILITIES)


def test_some_emulated_reads_end_inside_an_event_and_some_inside_a_character() -> None:
    made = emulated_cassettes.cassettes()["openai/gpt-4o-mini/multi-byte"].interactions[0]
    cuts = made.recorded_cuts()
    assert any(0x80 <= made.body[cut] < 0xC0 for cut in cuts)
    assert any(made.body[cut - 1 : cut] not in (b"\n", b"\r") for cut in cuts)


def test_a_recipe_whose_edit_finds_nothing_is_told() -> None:
    with pytest.raises(ValueError, match="no event holds"):
        swap(b"nowhere", b"")((b"data: {}\n\n",))


def test_the_editors_schema_is_that_of_the_loader() -> None:
    path = shipped.bundled_folder("scenarios") / "scenario.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(schema()))


def test_every_scenario_names_the_schema_and_is_valid_by_it() -> None:
    validator = jsonschema_rs.validator_for(schema())
    for path in find_scenarios([shipped.bundled_folder("scenarios")]):
        text = path.read_text(encoding="utf-8")
        modeline, _, _ = text.partition("\n")
        assert modeline == "# yaml-language-server: $schema=../scenario.schema.json", path
        assert validator.is_valid(yaml_text.load_yaml(text, str(path))), path
