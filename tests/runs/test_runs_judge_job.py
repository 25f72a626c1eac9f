"""One job -> one result: what is loaded, from where, and what cannot be used."""

from pathlib import Path

import msgspec
import pytest

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.results.case import Case
from harness.results.outcome import Outcome
from harness.results.result import body_digest
from harness.runs.judge_job import crash_result, judge_job
from harness.runs.load import load_subject, source_of
from harness.runs.plan import Job, Subject
from harness.runs.selection import select_subjects
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request

SCENARIOS = shipped.bundled_folder("scenarios")
SPLIT = SCENARIOS / "dashscope" / "split-chunks.yaml"
CASSETTE = "dashscope/qwen-plus/split-chunks"


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def subject(*paths: Path) -> Subject:
    return select_subjects(paths)[0]


def own_scenario(text: str) -> Subject:
    path = Path.cwd() / "scenarios" / "mine.yaml"  # whole, since what was loaded is kept
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return subject(path)


def test_judge_scenario_with_its_cassette() -> None:
    result, case = judge_job(Job(subject(SPLIT), "reference"), cuts="quick")
    assert (result.cell, result.outcome) == ("dashscope/split-chunks/reference", Outcome.PASS)
    assert (result.cassette, result.model, case) == (CASSETTE, "qwen-plus", None)


def test_failing_cell_has_a_case() -> None:
    result, case = judge_job(Job(subject(SPLIT), "naive"), cuts="quick")
    assert case is not None
    assert case.cell == result.cell


def test_failed_turn_of_the_lead_has_a_case_with_its_request() -> None:
    bundled = shipped.bundled_folder("cassettes")
    path = bundled / "litellm/smollm2-135m-instruct/native-tools-en-hello-t08.yaml"
    job = Job(subject(path), "reference")
    assert judge_job(job, "whole", "naive")[1] is None
    result, case = judge_job(job, "whole", "reference")
    assert (result.outcome.conforms, result.turns[0].success) == (True, False)
    assert isinstance(case, Case)
    assert case.request is not None
    assert (case.reference, case.request.due) == ((), "answer")
    assert "Hello! Who are you?" in case.request.messages[-1]
    assert case.request.tools == ("convert_units", "exchange_rate", "translate")


def test_turn_of_an_emulated_cassette_has_no_case_unless_its_cell_fails() -> None:
    path = shipped.bundled_folder("cassettes") / f"{CASSETTE}.yaml"
    assert judge_job(Job(subject(path), "reference"), "whole", "reference")[1] is None


def test_judge_cassette_without_scenario() -> None:
    path = shipped.bundled_folder("cassettes") / f"{CASSETTE}.yaml"
    result, _ = judge_job(Job(subject(path), "reference"), cuts="quick")
    assert (result.cell, result.outcome) == (f"cassette:{CASSETTE}/reference", Outcome.PASS)


def test_own_scenario_may_use_a_bundled_cassette() -> None:
    own = own_scenario(f"title: t\ncassette: {CASSETTE}\nexpect:\n- finish: stop\n  text: x\n")
    assert load_subject(own).cassette.id == CASSETTE
    assert judge_job(Job(own, "reference"), cuts="quick")[0].outcome is Outcome.SILENT_WRONG


def test_own_cassette_takes_precedence() -> None:
    own = Path("cassettes") / f"{CASSETTE}.yaml"
    own.parent.mkdir(parents=True)
    other = shipped.bundled_folder("cassettes") / "openai" / "gpt-4o-mini" / "plain-text.yaml"
    own.write_bytes(other.read_bytes())
    loaded = load_subject(
        own_scenario(f"title: t\ncassette: {CASSETTE}\nexpect: [{{finish: stop}}]")
    )
    assert loaded.cassette.model == "gpt-4o-mini"


@pytest.mark.parametrize(
    "name", ["missing", "/", "..", "../secret", "/etc/hostname", '"a\\0b"', "dashscope", "a/../.."]
)
def test_missing_or_outside_cassette_is_an_error(name: str) -> None:
    Path("secret.yaml").write_text("interactions: []\nversion: 1\n")
    own = own_scenario(f"title: t\ncassette: {name}\nexpect:\n- finish: stop\n")
    with pytest.raises(UnreadableError, match="there is no cassette") as caught:
        load_subject(own)
    assert "looked for" in caught.value.hint


@pytest.mark.parametrize("turns", [0, 2, 3])
def test_each_interaction_needs_an_expected_turn(turns: int) -> None:
    expect = "\n".join(["- finish: stop"] * turns) or "[]"
    own = own_scenario(f"title: t\ncassette: {CASSETTE}\nexpect:\n{expect}\n")
    with pytest.raises(UnreadableError, match="expect"):
        load_subject(own)


def test_unknown_normalizer_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        judge_job(Job(subject(SPLIT), "no-such-thing"))


@pytest.mark.parametrize("name", ["reference", "own.module:normalize"])
def test_killed_process_is_a_crash_of_the_normalizer(name: str) -> None:
    result = crash_result(Job(subject(SPLIT), name), "killed")
    assert (result.cell, result.normalizer) == (f"dashscope/split-chunks/{name}", name)
    assert (result.outcome, result.blame) == (Outcome.CRASH, "normalizer")
    assert [(finding.rule, finding.actual) for finding in result.findings] == [
        ("NO-CRASH", "killed")
    ]
    assert result.quirks == load_subject(subject(SPLIT)).scenario.quirks  # type: ignore[union-attr]  # it has one


def test_crash_with_a_cassette_without_scenario() -> None:
    path = shipped.bundled_folder("cassettes") / f"{CASSETTE}.yaml"
    result = crash_result(Job(subject(path), "reference"), "killed")
    assert (result.scenario, result.quirks) == (f"cassette:{CASSETTE}", ())


def test_crash_fails_every_turn() -> None:
    path = SCENARIOS / "dashscope" / "multi-round.yaml"
    job = Job(subject(path), "reference")
    lost, (judged, _) = crash_result(job, "killed").turns, judge_job(job, cuts="quick")
    assert len(lost) == len(judged.turns) > 1
    assert [turn.interaction for turn in lost] == [turn.interaction for turn in judged.turns]
    assert {(turn.success, turn.why, turn.blame) for turn in lost} == {
        (False, "killed", "normalizer")
    }
    bodies = (interaction.body for interaction in load_subject(job.subject).cassette.interactions)
    assert [turn.digest for turn in lost] == [body_digest(body) for body in bodies]


def test_subject_is_loaded_once() -> None:
    assert load_subject(subject(SPLIT)) is load_subject(subject(SPLIT))


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("capabilities: [repeated-argument]", "repeated-arguments"),
        ("rules: [CALL-NAME]", "CALL-NAMED"),
    ],
)
def test_misspelt_name_is_an_error(line: str, near: str) -> None:
    text = (SCENARIOS / "calls" / "interleaved.yaml").read_text(encoding="utf-8") + line + "\n"
    with pytest.raises(UnreadableError, match=f"did you mean '{near}'"):
        load_subject(own_scenario(text))


_CLEAN = Interaction(Request(uri="https://a/v1"), 200, (), b"data: {}\n\n", (Read(10),))
_LEAKY = msgspec.structs.replace(
    _CLEAN, request=Request(uri="https://a/v1?key=k", headers=(("Authorization", "Bearer k"),))
)
_SYNTHETIC = msgspec.structs.replace(_CLEAN, reads_kept=False)


def _reads(*interactions: Interaction) -> str:
    return source_of(Cassette("c", interactions, Origin("recorded"))).reads


def test_reads_are_recorded_synthetic_or_mixed() -> None:
    assert _reads(_CLEAN, _CLEAN) == "recorded"
    assert _reads(_SYNTHETIC) == "synthetic"
    assert _reads(_CLEAN, _SYNTHETIC) == "mixed"


def test_credentials_are_counted() -> None:
    facts = source_of(Cassette("c", (_CLEAN, _LEAKY), Origin("recorded", at="2026-11-22")))
    assert (facts.leaks, facts.interactions, facts.size, facts.at) == (2, 2, 20, "2026-11-22")
