"""A finding is shrunk to a few events, saved small, and fails in the plain gate until mended."""

import gzip
from pathlib import Path

import pytest
from msgspec.structs import replace

from harness import shipped
from harness.conversation.discovery import load_agent
from harness.fuzzing.conversations.search import ConversationSource
from harness.fuzzing.found import FuzzFinding, merge_findings
from harness.fuzzing.saving import (
    adopt_unfinished,
    cell_of,
    command_of,
    delete_saved,
    discard_unfinished,
    plain_name,
    replay_saved,
    save,
    saved_realism,
    unfinished,
)
from harness.fuzzing.search import Profile, fuzz
from harness.fuzzing.turns.search import TurnSource
from harness.fuzzing.turns.seeds import seeds
from harness.judging.judge import LoadedSubject
from harness.normalizers.discovery import load_normalizer
from harness.runs.judge_job import judge_job
from harness.runs.load import load_subject
from harness.runs.plan import Job
from harness.runs.selection import select_subjects
from harness.wire.reads import synthetic_reads

pytest_plugins = ("pytester",)
FEW = Profile("few", examples=60, seconds=60, shrinking=30)
SMALL = 2_000
ARGUMENTS = "ARGUMENTS-USABLE"


@pytest.fixture(scope="module")
def findings() -> tuple[FuzzFinding, ...]:
    subjects = select_subjects([shipped.bundled_folder("scenarios") / "finish"])
    normalizer = load_normalizer("naive")
    found = fuzz(TurnSource(normalizer, seeds(subjects, normalizer)), FEW, random=3).findings
    assert found
    return found


def _loaded(folder: Path) -> list[LoadedSubject]:
    return [load_subject(subject) for subject in select_subjects([folder])]


def test_saved_findings_fail_until_they_are_fixed(
    findings: tuple[FuzzFinding, ...], tmp_path: Path
) -> None:
    must = [each for each in findings if each.finding.level == "MUST"]
    save(must, tmp_path)
    subjects = select_subjects([tmp_path])
    assert len(subjects) == len(must)
    broken = [judge_job(Job(subject, "naive"))[0] for subject in subjects]
    assert not any(result.outcome.conforms for result in broken)
    assert {result.cell for result in broken} == {cell_of(each) for each in must}
    mended = [judge_job(Job(subject, "reference"))[0] for subject in subjects]
    assert all(result.outcome.conforms for result in mended)


def _with_all_open(finding: FuzzFinding) -> FuzzFinding:
    """Return one that breaks its rule whatever the bytes say: only calls may not be made up."""
    assert finding.finding.rule == ARGUMENTS
    assert finding.expectation is not None
    nothing = replace(finding.expectation, judged=frozenset())
    return replace(finding, slug="all-open", expectation=nothing)


def test_each_saved_finding_is_a_failing_pytest_item(
    findings: tuple[FuzzFinding, ...], pytester: pytest.Pytester
) -> None:
    must = [each for each in findings if each.finding.level == "MUST"]
    must.append(_with_all_open(next(it for it in must if it.finding.rule == ARGUMENTS)))
    save(must, pytester.path)
    pytester.makeini("[pytest]\nharness_scenarios = scenarios\n")
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "scenarios")
    broken = pytester.runpytest_inprocess(*options, "--harness-normalizer", "naive", "-rf")
    broken.assert_outcomes(failed=len(must))
    told = str(broken.stdout)
    assert all(f"{each.slug}.yaml::naive" in told for each in must)
    mended = pytester.runpytest_inprocess(*options, "--harness-normalizer", "reference")
    mended.assert_outcomes(passed=len(must))


def test_saved_findings_are_small_and_name_their_source(
    findings: tuple[FuzzFinding, ...], tmp_path: Path
) -> None:
    save(findings, tmp_path)
    sizes = sorted(path.stat().st_size for path in tmp_path.rglob("*.yaml"))
    assert sizes[len(sizes) // 2] < SMALL
    for loaded in _loaded(tmp_path):
        origin = loaded.cassette.origin
        assert (origin.kind, origin.by) == ("emulated", "harness fuzz")
        assert origin.source.startswith("shrunk from ")
        assert origin.source.endswith("seed 3")


def test_database_replays_and_deletes_findings(
    findings: tuple[FuzzFinding, ...], tmp_path: Path
) -> None:
    assert list(replay_saved(tmp_path, "naive")) == []
    save(findings, tmp_path)
    pairs = list(replay_saved(tmp_path, "naive"))
    assert len(pairs) == len(findings)
    for subject, _ in pairs:
        delete_saved(subject, tmp_path)
    assert list(tmp_path.rglob("*.yaml")) == []


def test_saved_finding_keeps_its_realism_and_its_compressed_body(
    findings: tuple[FuzzFinding, ...], tmp_path: Path
) -> None:
    body = gzip.compress(findings[0].interaction.body, mtime=0)
    interaction = replace(findings[0].interaction, body=body, reads=synthetic_reads(body))
    finding = replace(findings[0], interaction=interaction, realism="never seen", steps=())
    save([finding], tmp_path)
    (loaded,) = _loaded(tmp_path)
    assert loaded.cassette.interactions[0].body == body
    assert saved_realism(loaded.cassette.origin.source) == "never seen"
    assert loaded.scenario is not None
    assert loaded.scenario.title.endswith("(no known server does this)")


def test_command_names_cell_and_folder(findings: tuple[FuzzFinding, ...]) -> None:
    words = command_of(findings[0], Path("kept")).split()
    assert words[:2] == ["harness", "replay"]
    assert words[-2:] == ["--in", "kept"]
    assert findings[0].slug in words[2]


def test_plain_name_is_a_safe_folder_name() -> None:
    assert plain_name("my.llm:normalize") == "my.llm.normalize"
    assert plain_name("../..") == "normalizer"
    assert "/" not in plain_name("a/../b")


def test_merge_findings_keeps_the_smaller(findings: tuple[FuzzFinding, ...]) -> None:
    assert merge_findings([*findings, *findings]) == findings


def test_finding_on_an_agent_is_a_failing_conversation(tmp_path: Path) -> None:
    agent = load_agent("last-result-lost")
    found = fuzz(ConversationSource(agent), Profile("few", 12, 60, 30), random=1)
    save(found.findings, tmp_path)
    subjects = select_subjects([tmp_path])
    assert subjects
    assert all(subject.conversation for subject in subjects)
    rules = {finding.finding.rule for finding in found.findings}
    assert agent.breaks <= rules
    assert not any(judge_job(Job(it, agent.name))[0].outcome.conforms for it in subjects)
    assert all(judge_job(Job(it, "plain-loop"))[0].outcome.conforms for it in subjects)


def test_each_finding_is_handed_over_before_it_is_shrunk() -> None:
    subjects = select_subjects([shipped.bundled_folder("scenarios") / "finish"])
    normalizer, found = load_normalizer("naive"), list[FuzzFinding]()
    start = seeds(subjects, normalizer)
    report = fuzz(TurnSource(normalizer, start), FEW, random=3, on_found=found.append)
    assert {each.location for each in report.findings} <= {each.location for each in found}
    assert max(each.size for each in found) > max(each.size for each in report.findings)


def test_a_search_takes_over_what_a_killed_one_has_found(
    findings: tuple[FuzzFinding, ...], tmp_path: Path
) -> None:
    save(findings, unfinished(tmp_path))
    assert not list(replay_saved(tmp_path, "naive"))
    assert len(select_subjects([tmp_path])) == len(findings)  # for `harness run`
    adopt_unfinished(tmp_path, "naive")
    assert len(list(replay_saved(tmp_path, "naive"))) == len(findings)
    save(findings, unfinished(tmp_path))
    discard_unfinished(tmp_path, "naive")
    assert len(select_subjects([tmp_path])) == len(findings)
