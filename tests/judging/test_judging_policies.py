"""The keys of a scenario about text calls and policies: known names, and their effect on a cell."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from harness.dialects.openai_chat.calls import ReaderPolicy
from harness.errors import UnreadableError
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.policies import READER_POLICIES, TEXT_POLICIES
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import load_scenario
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.text_calls import TEXT_DIALECTS, TextPolicy
from tests.judging.judging_samples import a_cassette, a_normalizer, hello

MINIMAL = "title: t\ncassette: c\nexpect:\n- {text: Hello, finish: stop}\n"
ONE = next(iter(TEXT_DIALECTS))


def load(folder: Path, keys: str = "") -> Scenario:
    path = folder / "one.yaml"
    path.write_text(MINIMAL + keys, encoding="utf-8")
    return load_scenario(path, folder)


def test_text_keys_reach_the_scenario_and_loosen_the_space(tmp_path: Path) -> None:
    scenario = load(tmp_path, f"text_dialect: {ONE}\npolicies: {{code: calls}}\n")
    assert (scenario.text_dialect, scenario.policies) == (ONE, {"code": "calls"})
    assert [turn.loose_space for turn in scenario.expect] == [True]
    assert [turn.loose_space for turn in load(tmp_path).expect] == [False]
    exact = load(tmp_path, f"text_dialect: {ONE}\nwhite_space: exact\n")
    assert [turn.loose_space for turn in exact.expect] == [False]


def test_text_policies_have_their_default_first() -> None:
    default = TextPolicy(dialects=frozenset()).declared()
    assert {name: values[0] for name, values in TEXT_POLICIES.items()} == default


def test_a_scenario_may_name_the_policies_of_a_reader(tmp_path: Path) -> None:
    default = asdict(ReaderPolicy())
    assert {name: values[0] for name, values in READER_POLICIES.items()} == default
    scenario = load(tmp_path, "policies: {names: first}\n")
    assert judged(scenario, policies=default).outcome is Outcome.UNSUPPORTED
    assert judged(scenario, policies=default | {"names": "first"}).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("keys", "fact", "hint"),
    [
        ("text_dialect: taged-json\n", "no text dialect 'taged-json'", "'tagged-json'"),
        ("policies: {cod: calls}\n", "no policy 'cod'", "'code'"),
        ("policies: {code: run}\n", "policies.code: there is no choice 'run'", "text, calls"),
    ],
)
def test_unknown_names_are_refused(tmp_path: Path, keys: str, fact: str, hint: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        load(tmp_path, keys)
    assert fact in str(caught.value)
    assert hint in caught.value.hint


def judged(scenario: Scenario, **declared: Any) -> Result:  # noqa: ANN401 - of a normalizer
    return judge_subject(
        LoadedSubject(a_cassette(), scenario), a_normalizer(hello, **declared), cuts="quick"
    )[0]


def test_a_text_dialect_must_be_declared(tmp_path: Path) -> None:
    scenario = load(tmp_path, f"text_dialect: {ONE}\n")
    result = judged(scenario)
    assert (result.outcome, result.text_dialect) == (Outcome.UNSUPPORTED, ONE)
    assert judged(scenario, text_dialects=frozenset({ONE})).outcome is Outcome.PASS
    plain = judged(replace(scenario, text_dialect=""), text_dialects=frozenset({ONE}))
    assert (plain.outcome, plain.text_dialect) == (Outcome.PASS, "")


@pytest.mark.parametrize(
    ("policies", "outcome"),
    [
        ({}, Outcome.UNSUPPORTED),  # the default is `text`
        ({"code": "calls"}, Outcome.PASS),
        ({"code": "text"}, Outcome.UNSUPPORTED),
        ({"code": "calls", "quoted": "calls"}, Outcome.PASS),
    ],
)
def test_another_declared_policy_makes_the_cell_unsupported(
    tmp_path: Path, policies: dict[str, str], outcome: Outcome
) -> None:
    scenario = load(tmp_path, "policies: {code: calls}\n")
    assert judged(scenario, policies=policies).outcome is outcome


def test_an_undeclared_policy_has_its_default(tmp_path: Path) -> None:
    scenario = load(tmp_path, "policies: {code: text}\n")
    assert judged(scenario, policies={}).outcome is Outcome.PASS
