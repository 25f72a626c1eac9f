"""The rows of a run have no secrets; what has none is unchanged."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from harness.normalizers.protocol import Normalizer
from harness.results.case import Case
from harness.results.store import encode_line
from harness.runs import redaction
from harness.runs.judge_job import crash_result, judge_job
from harness.runs.load import load_subject
from harness.runs.plan import Job
from harness.runs.redaction import clean_rows
from harness.runs.selection import select_subjects
from harness.turns.deltas import Delta, TextDelta
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Interaction, Read, Request
from tests.runs.runs_samples import a_result

KEY = "k7Zx81aB3dE6gH9jK2mN5p"
BODY = f'data: {{"choices": [{{"delta": {{"content": "{KEY}"}}}}]}}\n\n'.encode()


def _repeat(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    yield TextDelta(b"".join(reads).decode())
    yield TextDelta(f"{interaction.request.headers} {os.environ.get('MY_API_KEY')}")
    raise ValueError(f"401: {os.environ.get('MY_API_KEY')}")


REPEATING = Normalizer("repeating", _repeat)
NAME = f"{__name__}:REPEATING"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    request = Request("POST", "http://h/v1/chat/completions", (("authorization", KEY),), b"{}")
    sent = Interaction(request, 200, (), BODY, (Read(len(BODY)),))
    path = tmp_path / "a.yaml"
    save_cassette(Cassette("a", (sent,), Origin("recorded")), path)
    return path


def test_rows_without_secrets_are_unchanged() -> None:
    result = a_result()
    assert clean_rows(result, None) == (result, None)


def test_a_client_that_repeats_its_input_shows_no_secret(recording: Path) -> None:
    (subject,) = select_subjects([recording])
    result, case = judge_job(Job(subject, NAME), "whole")
    assert isinstance(case, Case)
    assert len(case.body) == len(BODY)
    assert b'"content": "xxxx' in case.body
    for text in (encode_line(result), encode_line(case), case.body, case.frames[0].data):
        assert KEY.encode() not in text
    assert result.source is not None
    assert result.source.leaks == 1  # the file itself has one
    assert KEY.encode() not in load_subject(subject).cassette.interactions[0].body


def test_a_client_that_prints_its_environment_shows_no_key(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "Zq81k7aB3dE6gH9jK2mN5p"
    monkeypatch.setenv("MY_API_KEY", own)
    redaction._of_environment.cache_clear()
    try:
        (subject,) = select_subjects([recording])
        result, case = judge_job(Job(subject, NAME), "whole")
        crashed = crash_result(Job(subject, NAME), f"killed: {own}")
    finally:
        redaction._of_environment.cache_clear()
    assert case is not None
    assert all(own.encode() not in encode_line(row) for row in (result, case, crashed))
