"""Runs of conversations: their cells, their lines, their rankings."""

from pathlib import Path

import msgspec
import pytest

from harness.errors import UnreadableError
from harness.results.outcome import Outcome
from harness.results.result import ConversationFacts, Result
from harness.results.run import Run
from harness.results.store import RunWriter, read_run
from harness.runs.judge_job import crash_result, judge_job
from harness.runs.load import load_subject
from harness.runs.plan import Job, Subject, plan
from harness.runs.request import selected_clients
from harness.runs.selection import select_subjects
from harness.verdicts.rankings import rankings
from tests.judging.judging_samples import bundled_subjects
from tests.runs.runs_samples import a_result, a_run

SHIPPED = {Path(each.path).stem: each for each in bundled_subjects() if each.conversation}
RETRIED = SHIPPED["truncated-json-retried"]


def a_talk(
    scenario: str, agent: str = "gateway", *, success: bool = True, origin: str = "recorded"
) -> Result:
    facts = ConversationFacts(
        ending="done" if success else "limit",
        success=success,
        why="" if success else "ended: limit",
        blame="" if success else "model",
        requests=4,
        turns=3,
        broken_turns=1,
        parse_error_turns=1,
        recovered=int(success),
        retries=1,
        json_fallback=3,
    )
    result = a_result(scenario, agent, origin=origin)
    return msgspec.structs.replace(result, kind="conversation", turns=(), conversation=facts)


def test_agents_and_normalizers_get_their_own_cells() -> None:
    turns, talk = Subject("scenario", "a.yaml"), Subject("scenario", "b.yaml", conversation=True)
    assert plan((turns, talk), ("n",), ("a", "b")) == (
        Job(turns, "n"),
        Job(talk, "a"),
        Job(talk, "b"),
    )


def test_naming_one_kind_of_client_selects_only_it() -> None:
    assert selected_clients(("n", "n"), ()).agents == ()
    assert selected_clients((), ("a",)).normalizers == ()
    both = selected_clients((), ())
    assert "reference" in both.normalizers
    assert "gateway" in both.agents


def test_run_stores_the_conversation(tmp_path: Path) -> None:
    result, case = judge_job(Job(RETRIED, "gateway"))
    assert (result.outcome, result.kind) == (Outcome.PARSE_ERROR, "conversation")
    with RunWriter(tmp_path / "run.jsonl") as writer:
        writer.header(a_run([]).header)
        writer.add(result, case)
        writer.finish()
    run = read_run(tmp_path / "run.jsonl")
    assert run.results == (result,)
    assert run.conversations == {result.cell: case}
    assert run.cases == {}


def test_crash_of_a_conversation_is_a_result() -> None:
    result = crash_result(Job(RETRIED, "gateway"), "killed")
    assert (result.outcome, result.kind) == (Outcome.CRASH, "conversation")
    assert result.conversation is not None
    assert result.conversation.why == "killed"


def test_mock_tool_that_is_not_offered_is_an_error(tmp_path: Path) -> None:
    source = Path(RETRIED.path)
    text = (
        source.read_text()
        .replace("get_weather: {", "get_wether: {")
        .replace("tool: get_weather", "tool: get_wether")
    )
    folder = tmp_path / "scenarios"
    folder.mkdir()
    (folder / source.name).write_text(text)
    (subject,) = select_subjects((folder / source.name,))
    with pytest.raises(UnreadableError, match="there is no tool 'get_wether'") as caught:
        load_subject(subject)
    assert "did you mean 'get_weather'?" in caught.value.hint


def _run(*results: Result) -> Run:
    return a_run(results)


def test_agents_and_normalizers_are_ranked_separately() -> None:
    run = _run(a_result("a/turns"), a_talk("a/talk"), a_talk("b/talk", "other", success=False))
    found = rankings(run)
    assert [each.name for each in found.normalizers] == ["reference"]
    assert sorted(each.name for each in found.agents) == ["gateway", "other"]
    assert [(each.name, each.n) for each in found.models] == [("m", 1)]


def test_conversation_success_is_by_model_prompt_and_agent() -> None:
    results = [a_talk(f"a/{n}", success=n > 0) for n in range(3)]
    (line,) = rankings(_run(*results)).conversations
    rate = line.rate
    assert (line.name, rate.k, rate.n) == ("m x p x gateway", 2, 3)
    assert (rate.turns, rate.broken_turns, rate.recovered, rate.retries) == (9, 3, 2, 3)
    assert (rate.parse_error_turns, rate.tool_use, rate.json_fallback) == (3, 0, 9)
    assert rate.failed.model == 1
    assert 0 < line.low < 2 / 3 < line.high < 1


def test_emulated_conversation_measures_no_model() -> None:
    found = rankings(_run(a_talk("a/one", origin="emulated")))
    assert found.conversations == ()
    assert [each.name for each in found.agents] == ["gateway"]


def test_cassette_counts_once_for_an_agent() -> None:
    twice = [msgspec.structs.replace(a_talk(name), cassette="one") for name in ("a/1", "a/2")]
    (line,) = rankings(_run(*twice)).conversations
    assert line.rate.n == 1
