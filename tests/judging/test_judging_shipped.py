"""The bundled files belong together: recipes, cassettes, scenarios and quirks, none left over."""

import json
from functools import cache
from pathlib import Path

import jsonschema_rs
import pytest

from harness import shipped
from harness.cli.schema import scenario_schema
from harness.emulation.cassette import emulate
from harness.emulation.recipe import ByHand, Recipe
from harness.emulation.writing import load_recipes
from harness.files import yaml_text
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.normalizers.protocol import CAPABILITIES
from harness.results.catalogue import load_catalogue, load_excluded
from harness.wire import cassette_file, cassette_text
from harness.wire.cassette import Cassette
from tests.judging.judging_samples import IS_DEEP

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
    kinds = {
        name: cassette_file.load_cassette(path).origin.kind for name, path in _committed().items()
    }
    return frozenset(name for name, kind in kinds.items() if kind == "emulated")


@cache
def _recipes() -> tuple[Recipe | ByHand, ...]:
    return tuple(load_recipes(find_scenarios([SCENARIOS]), SCENARIOS))


@cache
def _made() -> dict[str, Cassette]:
    return {each.cassette: emulate(each) for each in _recipes() if isinstance(each, Recipe)}


def test_scenarios_emulate_exactly_the_committed_cassettes() -> None:
    committed, made = _committed(), _made()
    by_hand = {each.cassette for each in _recipes() if isinstance(each, ByHand)}
    assert _emulated() == made.keys() | by_hand
    step = 1 if IS_DEEP else 4  # the next test compares what is in each file
    stale = [
        name
        for name in sorted(made)[::step]
        if cassette_text.format_cassette(made[name]).encode() != committed[name].read_bytes()
    ]
    assert stale == [], "run `harness cassettes`"


def test_emulated_cassettes_read_back() -> None:
    for name, cassette in _made().items():
        assert cassette_file.load_cassette(CASSETTES / f"{name}.yaml", CASSETTES) == cassette


def test_each_scenario_has_its_cassette_and_each_emulated_one_a_scenario(
    scenarios: tuple[Scenario, ...],
) -> None:
    assert {scenario.cassette for scenario in scenarios} == _emulated()
    assert len(scenarios) >= 46


def test_each_interaction_has_its_expectation(scenarios: tuple[Scenario, ...]) -> None:
    def interactions(name: str) -> int:
        found = cassette_file.load_cassette(CASSETTES / f"{name}.yaml", CASSETTES)
        return len(found.interactions)

    wrong = [
        scenario.id
        for scenario in scenarios
        if scenario.conversation is None and len(scenario.expect) != interactions(scenario.cassette)
    ]
    assert wrong == []


def test_each_quirk_has_a_scenario_or_a_reason(scenarios: tuple[Scenario, ...]) -> None:
    quirks = load_catalogue(CATALOGUE / "quirks").keys()
    excluded = load_excluded(CATALOGUE / "excluded.yaml").keys()
    cited = {quirk for scenario in scenarios for quirk in scenario.quirks}
    assert cited <= quirks
    assert quirks - cited == excluded
    assert cited.isdisjoint(excluded)


def test_scenarios_name_the_blame_when_something_is_rejected_or_fails(
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


def test_the_editors_schema_is_that_of_the_loader() -> None:
    path = shipped.bundled_folder("scenarios") / "scenario.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(scenario_schema()))


def test_every_scenario_names_the_schema_and_is_valid_by_it() -> None:
    validator = jsonschema_rs.validator_for(scenario_schema())
    for path in find_scenarios([shipped.bundled_folder("scenarios")]):
        text = path.read_text(encoding="utf-8")
        modeline, _, _ = text.partition("\n")
        assert modeline == "# yaml-language-server: $schema=../scenario.schema.json", path
        assert validator.is_valid(yaml_text.load_yaml(text, str(path))), path
