"""Logged conversations: found, counted and ranked, never judged."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.history.jsonl import ConversationLabels, LoggedConversation, encode
from harness.errors import UnreadableError
from harness.fuzzing.turns.seeds import seeds
from harness.normalizers.discovery import load_normalizer
from harness.reporting.page import render_page
from harness.results.conversation import Conversation, Probe, TurnMeta, TurnRecord
from harness.results.conversation_case import ConversationCase
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.runs.judge_job import crash_result, judge_job
from harness.runs.plan import Job, Subject, plan, subject_id
from harness.runs.selection import select_subjects
from harness.turns.deltas import Finish, FinishReason, ParseError
from harness.turns.messages import assistant, user
from harness.turns.turn import Turn
from harness.verdicts.database import Questions
from harness.verdicts.gate import judge_gate
from harness.verdicts.rankings import rankings
from tests.runs.runs_samples import a_result, a_run

STOP = Finish(FinishReason.STOP)
ABOUT = ConversationLabels(agent="gateway", provider="q", model="m", prompt="p")
BAD = ParseError("tool_use", "no JSON", "{", "c1", "f")


def a_log(
    *turns: TurnRecord,
    ending: Any = "done",  # noqa: ANN401 - the words of the log, valid or not
    about: ConversationLabels = ABOUT,
) -> LoggedConversation:
    messages = (user("?"), assistant("Clear."))
    return LoggedConversation(about, Conversation(messages, turns, ending, "Clear."))


def a_turn(errors: int = 0, retries: int = 0, strategy: Any = "tool_use") -> TurnRecord:  # noqa: ANN401 - a Strategy
    probe = Probe(ok=True) if retries else None
    return TurnRecord(Turn(finish=STOP), TurnMeta(strategy, (BAD,) * errors, probe, retries))


def written(folder: Path, *logs: LoggedConversation, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(encode, logs)))
    return path


def run_of(*paths: Path) -> Run:
    jobs = plan(select_subjects(paths), ("reference",), ("gateway",))
    judged = [judge_job(job) for job in jobs]
    run = a_run([result for result, _ in judged])
    seen = {each.cell: each for _, each in judged if isinstance(each, ConversationCase)}
    return msgspec.structs.replace(run, conversations=seen)


RETRIED = a_log(a_turn(errors=2, retries=1), a_turn(strategy="json_fallback"))


def test_log_is_ranked_by_model_prompt_and_agent(tmp_path: Path) -> None:
    lost = a_log(a_turn(errors=1), ending="limit")
    (line,) = rankings(run_of(written(tmp_path, RETRIED, lost))).conversations
    rate = line.rate
    assert (line.name, rate.k, rate.n) == ("m x p x gateway", 1, 2)
    assert (rate.turns, rate.broken_turns, rate.recovered, rate.retries) == (3, 2, 1, 1)
    assert (rate.parse_error_turns, rate.tool_use, rate.json_fallback) == (2, 2, 1)


def test_log_is_counted_and_never_judged(tmp_path: Path) -> None:
    run = run_of(written(tmp_path, RETRIED))
    found = rankings(run)
    assert (found.agents, found.normalizers, found.models) == ((), (), ())
    assert judge_gate(run).verdict == "nothing"
    with Questions(run) as questions:
        assert questions.outcome_counts() == {}
    both = msgspec.structs.replace(run, results=(*run.results, a_result("a/turns")))
    assert judge_gate(both).verdict == "pass"


def test_log_result_shows_its_messages(tmp_path: Path) -> None:
    result, case = judge_job(Job(select_subjects([written(tmp_path, RETRIED)])[0], "gateway"))
    assert (result.kind, result.outcome, result.origin) == ("log", Outcome.UNSUPPORTED, "imported")
    assert (result.cell, result.provider) == ("log:log/gateway", "q")
    assert result.conversation is not None
    assert (result.conversation.requests, result.conversation.probe) == (3, "ok")
    assert case is not None
    assert "Clear." in render_page(run_of(written(tmp_path, RETRIED)))


def test_each_logged_conversation_has_a_cell(tmp_path: Path) -> None:
    other = a_log(a_turn(), about=ConversationLabels())
    subjects = select_subjects(
        [written(tmp_path, RETRIED, other, name="imported/q/m/log.jsonl").parents[2]]
    )
    assert [subject_id(each) for each in subjects] == ["log:q/m/log", "log:q/m/log#2"]
    jobs = plan(subjects, ("reference",), ("plain-loop",))
    assert [job.normalizer for job in jobs] == ["gateway", "unknown"]
    assert [judge_job(job)[0].model for job in jobs] == ["m", "unknown"]


FOREIGN = b'{"role": "user", "content": "?"}\n{"role": "assistant", "content": "Yes."}\n'
WHOLE = b'{"model": "n", "messages": [{"role": "user", "content": "?"}]}\n' * 2


@pytest.mark.parametrize(("data", "count"), [(FOREIGN, 1), (WHOLE, 2)])
def test_third_party_messages_count_if_named(tmp_path: Path, data: bytes, count: int) -> None:
    path = tmp_path / "theirs.jsonl"
    path.write_bytes(data)
    assert len(select_subjects([path])) == count
    assert select_subjects([tmp_path]) == ()


@pytest.mark.parametrize("data", [b"", b"{}", b'{"type": "header"}\n', b"\x00\xff", b"[1]\n{}\n"])
def test_named_file_without_conversations_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(data)
    (subject,) = select_subjects([path])
    with pytest.raises(UnreadableError, match="expected conversations") as caught:
        judge_job(Job(subject, ""))
    assert str(path) in str(caught.value)


@given(st.binary(max_size=60))
def test_file_of_any_bytes_is_read_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.jsonl"
    path.write_bytes(data)
    subjects = select_subjects([path])
    assert {subject.kind for subject in subjects} == {"log"}


def test_damaged_log_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, RETRIED)
    path.write_bytes(path.read_bytes() + b"{]\n")
    (subject,) = select_subjects([tmp_path])
    with pytest.raises(UnreadableError, match="expected one JSON object"):
        judge_job(Job(subject, ""))


def test_log_that_became_shorter_is_an_error(tmp_path: Path) -> None:
    subject = select_subjects([written(tmp_path, RETRIED)])[0]
    gone = msgspec.structs.replace(subject, index=7)
    with pytest.raises(UnreadableError, match="missing at its end"):
        judge_job(Job(gone, "gateway"))


def test_crash_loses_no_log(tmp_path: Path) -> None:
    job = Job(select_subjects([written(tmp_path, RETRIED)])[0], "gateway")
    assert crash_result(job, "killed") == judge_job(job)[0]


def test_log_needs_no_installed_agent() -> None:
    subject = Subject("log", "a.jsonl", agent="custom")
    assert plan([subject], ("n",), ()) == (Job(subject, "custom"),)


def test_fuzzing_skips_logs(tmp_path: Path) -> None:
    subjects = select_subjects([written(tmp_path, RETRIED)])
    assert not any(each.of_turns for each in subjects)
    assert seeds(subjects, load_normalizer("reference")) == ()
