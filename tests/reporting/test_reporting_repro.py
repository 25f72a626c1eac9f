"""A script for maintainers runs without the harness, and exits with 1 only if the library fails."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.judging.judge import LoadedSubject, empty_result
from harness.judging.results import Finding, Outcome, Result
from harness.normalizers.discovery import installed_normalizer_names
from harness.reporting.text.repro import repro_script, reproducible_clients
from harness.turns.deltas import Finish, FinishReason, StreamFailure, ToolCall, call_deltas
from harness.turns.turn import Turn
from harness.wire.cassette import Cassette, Origin
from harness.wire.cuts import each_byte

BODY = DIALECTS["openai-chat"].interaction(
    (
        *call_deltas(0, "call_a", "get_weather", '{"city": "Oslo"}'),
        Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    )
)
EXPECTED = Turn(
    tool_calls=(ToolCall("call_a", "get_weather", '{"city": "Oslo"}'),),
    finish=Finish(FinishReason.TOOL_CALLS, "tool_calls"),
)
# A library that returns what the file `turn.json` contains, after it has read the response.
LIBRARY = """
import contextlib, json, types, urllib.request
from pathlib import Path

class OpenAIError(Exception): pass

def _object(value):
    return json.loads(json.dumps(value), object_hook=lambda it: types.SimpleNamespace(**it))

class OpenAI:
    def __init__(self, base_url, api_key, max_retries):
        self.chat = types.SimpleNamespace(completions=self)
        self.url = base_url
    @contextlib.contextmanager
    def stream(self, model, messages):
        body = urllib.request.urlopen(self.url, b"{}").read()
        Path(__file__).with_name("received").write_bytes(body)
        yield self
    def get_final_completion(self):
        turn = json.loads(Path(__file__).with_name("turn.json").read_text())
        if isinstance(turn, str):
            raise {"documented": OpenAIError, "crash": KeyError}[turn](turn)
        return _object({"choices": [turn]})
"""


def result(rule: str, path: str, normalizer: str = "openai-sdk") -> Result:
    finding = Finding(rule, "MUST", Outcome.LOST_CALL, path, "x", "y")
    subject = LoadedSubject(Cassette("c", (BODY,), Origin("emulated")))
    empty = empty_result(subject, normalizer)
    return msgspec.structs.replace(empty, findings=(finding,))


def run(
    folder: Path, turn: object, expected: Turn = EXPECTED, *, path: str = "turns[0].calls[0]"
) -> subprocess.CompletedProcess[str]:
    script = repro_script(result("CALLS-KEPT", path), BODY, each_byte(BODY.body), expected, {})
    (folder / "repro.py").write_text(script, encoding="utf-8")
    (folder / "openai.py").write_text(LIBRARY, encoding="utf-8")
    (folder / "turn.json").write_text(json.dumps(turn), encoding="utf-8")
    command = [sys.executable, "repro.py"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def choice(*calls: tuple[str, str, str], finish: str | None = "tool_calls") -> object:
    entries = [{"id": i, "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"message": {"content": None, "tool_calls": entries}, "finish_reason": finish}


OSLO = ("call_a", "get_weather", '{"city":"Oslo"}')


def test_the_script_sends_the_bytes_and_passes_if_the_library_is_right(tmp_path: Path) -> None:
    done = run(tmp_path, choice(OSLO))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "received").read_bytes() == BODY.body


@pytest.mark.parametrize(
    ("turn", "path", "key"),
    [
        (choice(), "turns[0].calls[0]", "calls"),
        (choice(("call_a", "get_weather", '{"city": "Os')), "turns[0].calls[0]", "calls"),
        (choice(("call_b", *OSLO[1:])), "turns[0].calls[0].id", "ids"),
        (choice(OSLO, finish="stop"), "turns[0].finish.raw", "finish"),
        (choice(OSLO, finish=None), "turns[0].failure", "failed"),
        ("documented", "turns[0].failure", "failed"),
        ("crash", "replay", "crash"),
    ],
)
def test_the_script_fails_if_the_library_is_wrong(
    tmp_path: Path, turn: object, path: str, key: str
) -> None:
    done = run(tmp_path, turn, path=path)
    assert done.returncode == 1
    assert f"WRONG  {key}\n" in done.stdout


def test_an_id_that_the_response_does_not_contain_may_be_any(tmp_path: Path) -> None:
    call = msgspec.structs.replace(EXPECTED.tool_calls[0], id="")
    turn = msgspec.structs.replace(EXPECTED, tool_calls=(call,))
    assert run(tmp_path, choice(OSLO), turn, path="turns[0].calls[0].id").returncode == 0
    nameless = choice(("", *OSLO[1:]))
    assert run(tmp_path, nameless, turn, path="turns[0].calls[0].id").returncode == 1


def test_a_documented_exception_is_right_for_a_turn_that_must_fail(tmp_path: Path) -> None:
    expected = Turn(failure=StreamFailure("interrupted"))
    assert run(tmp_path, "documented", expected, path="turns[0].failure").returncode == 0
    assert run(tmp_path, choice(OSLO), expected).returncode == 1


def test_each_script_is_for_an_installed_normalizer() -> None:
    assert set(reproducible_clients()) <= set(installed_normalizer_names())


def test_a_client_without_a_script_is_named() -> None:
    with pytest.raises(UsageError, match="there is no script for the client 'openai-sd'") as raised:
        repro_script(result("CALLS-KEPT", "replay", "openai-sd"), BODY, (), EXPECTED, {})
    assert "openai-sdk" in raised.value.hint
