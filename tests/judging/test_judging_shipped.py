"""The bundled files belong together: recipes, cassettes, scenarios and quirks, none left over."""

import json
import os
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

import jsonschema_rs
import pytest

from harness import shipped
from harness.cli.schema import schema_of
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

ROOT = Path(__file__).parents[2]
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


# Digests of the files that were compared last. To emulate all cassettes takes as long as a thousand
# tests, so it is done if one of the files is another, and always by the deep profile.
COMPARED = Path(__file__).with_name("compared_cassettes.txt")
_EMULATING = ("emulation", "conversation", "normalizers", "playback", "dialects", "text_calls")
_BELOW = ("turns", "wire", "files")


def _digest(paths: Iterable[Path]) -> str:
    found = sha256()
    for path in sorted(paths):
        data = path.read_bytes()
        found.update(f"{path.relative_to(ROOT).as_posix()} {len(data)}\n".encode() + data)
    return found.hexdigest()


@cache
def _files_to_compare() -> str:
    """Return the digests of recipes with the scenario schema, of code, and of cassettes.

    The code is that of emulation and of all layers below it.
    """
    package = ROOT / "harness"
    modules = [path for name in (*_EMULATING, *_BELOW) for path in (package / name).rglob("*.py")]
    scenarios = [*SCENARIOS.rglob("*.yaml"), SCENARIOS / "scenario.schema.json"]
    parts = (scenarios, [*modules, *package.glob("*.py")], CASSETTES.rglob("*.yaml"))
    return "".join(f"{_digest(part)}\n" for part in parts)


def _is_compared() -> bool:
    return not IS_DEEP and COMPARED.read_text(encoding="utf-8") == _files_to_compare()


def test_scenarios_emulate_exactly_the_committed_cassettes() -> None:
    if _is_compared():
        return
    committed, made = _committed(), _made()
    by_hand = {each.cassette for each in _recipes() if isinstance(each, ByHand)}
    assert _emulated() == made.keys() | by_hand
    stale = [
        name
        for name in sorted(made)
        if cassette_text.format_cassette(made[name]).encode() != committed[name].read_bytes()
    ]
    assert stale == [], "run `harness cassettes`"
    for name, cassette in made.items():
        assert cassette_file.load_cassette(CASSETTES / f"{name}.yaml", CASSETTES) == cassette
    _check_schema()
    if os.environ.get("UPDATE_GOLDEN"):
        COMPARED.write_text(_files_to_compare(), encoding="utf-8")
    if IS_DEEP:
        told = "without this, each run of the tests compares the cassettes: UPDATE_GOLDEN=1 pytest"
        assert COMPARED.read_text(encoding="utf-8") == _files_to_compare(), f"{told} {__file__}"


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
        if scenario.kind == "turns" and len(scenario.expect) != interactions(scenario.cassette)
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
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(
        json.dumps(schema_of("scenario"))
    )


def test_every_scenario_names_the_schema_and_is_valid_by_it() -> None:
    if not _is_compared():
        _check_schema()


@cache
def _check_schema() -> None:
    validator = jsonschema_rs.validator_for(schema_of("scenario"))
    for path in find_scenarios([shipped.bundled_folder("scenarios")]):
        text = path.read_text(encoding="utf-8")
        modeline, _, _ = text.partition("\n")
        assert modeline == "# yaml-language-server: $schema=../scenario.schema.json", path
        assert validator.is_valid(yaml_text.load_yaml(text, str(path))), path
