"""What the bytes of a recording require of a normalizer, next to what scenarios name."""

import msgspec
import pytest

from harness.judging.judge import LoadedSubject, is_supported_by_normalizer, judge_subject
from harness.judging.required import shown_capabilities
from harness.normalizers.reference import normalizer as reference
from harness.results.outcome import Outcome
from tests.judging.judging_samples import shipped_subjects

SUBJECTS = {each.id: each for each in shipped_subjects()}


def _shown(subject: LoadedSubject) -> frozenset[str]:
    return shown_capabilities(subject.cassette.interactions, subject.oracle_readings)


def test_each_scenario_names_the_capabilities_that_its_bytes_show() -> None:
    missing = {
        name: _shown(each) - set(each.scenario.capabilities)
        for name, each in SUBJECTS.items()
        if each.scenario and not _shown(each) <= set(each.scenario.capabilities)
    }
    assert missing == {}


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("gemini/json-array", "other-encodings"),
        ("gemini/partial-arguments", "partial-arguments"),
        ("calls/two-choices", "several-choices"),
        ("calls/legacy-function-call", "legacy-functions"),
        ("openai-responses/custom-tool", "custom-tools"),
        ("openai-responses/resumed", "resumed-streams"),
        ("google-interactions/first-version", "other-encodings"),
    ],
)
def test_a_recording_is_judged_only_if_the_client_sends_such_requests(
    name: str, capability: str
) -> None:
    recording = LoadedSubject(SUBJECTS[name].cassette)
    assert _shown(recording) == {capability}
    assert is_supported_by_normalizer(recording, reference)
    without = reference.capabilities - {capability}
    other = msgspec.structs.replace(reference, capabilities=without)
    assert judge_subject(recording, other)[0].outcome is Outcome.UNSUPPORTED


def test_an_error_in_its_own_form_requires_nothing() -> None:
    assert "GEM-JSON-ARRAY" in SUBJECTS["gemini/http-429"].oracle_readings[0].quirks
    assert _shown(SUBJECTS["gemini/http-429"]) == frozenset()
