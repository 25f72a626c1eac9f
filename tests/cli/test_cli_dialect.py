"""A plain vcrpy cassette: its dialects are found, and `--dialect` overrules them.

What its client sent besides, such as a login, is left out.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Harness

pytest_plugins = ["pytester"]

CLAUDE = "https://api.anthropic.com/v1/messages"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5:streamGenerateContent"
LOGIN = "https://oauth2.googleapis.com/token"
MESSAGE: list[dict[str, object]] = [
    {"type": "message_start", "message": {"model": "claude", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
]
CHUNK = {
    "candidates": [
        {"content": {"parts": [{"text": "hi"}], "role": "model"}, "finishReason": "STOP"}
    ]
}


def stream(*events: Mapping[str, object], crlf: bool = False) -> str:
    end = "\r\n" if crlf else "\n"
    named = (f"event: {event['type']}{end}" if "type" in event else "" for event in events)
    parts = (f"data: {json.dumps(event)}{end}{end}" for event in events)
    return "".join(name + part for name, part in zip(named, parts, strict=True))


def recorded(path: Path, *parts: tuple[str, str]) -> str:
    items = [
        {
            "request": {"method": "POST", "uri": uri, "headers": {}, "body": '{"stream": true}'},
            "response": {"status": {"code": 200}, "headers": {}, "body": {"string": body}},
        }
        for uri, body in parts
    ]
    path.write_text(yaml.safe_dump({"interactions": items, "version": 1}))
    return str(path)


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with one cassette for each of two APIs."""
    monkeypatch.chdir(tmp_path)
    recorded(tmp_path / "claude.yaml", (LOGIN, '{"access_token": "x"}'), (CLAUDE, stream(*MESSAGE)))
    recorded(tmp_path / "gemini.yaml", (GEMINI, stream(CHUNK, crlf=True)))
    return tmp_path


def test_run_detects_dialects_and_judges_responses_only(harness: Harness, plain: Path) -> None:
    left = harness("run", str(plain), "-n", "reference", "--no-report", "--format", "jsonl")
    assert left.code == 0
    results = [json.loads(line) for line in left.out.splitlines()]
    told = [(r["cassette"], r["dialect"], r["provider"], len(r["turns"])) for r in results]
    assert told == [
        ("claude", "anthropic", "anthropic", 1),
        ("gemini", "gemini", "google-gemini", 1),
    ]
    assert all(turn["success"] for result in results for turn in result["turns"])


def test_dialect_option_is_in_the_replay_command(harness: Harness, plain: Path) -> None:
    claude = str(plain / "claude.yaml")
    options = ("-n", "reference", "--no-report", "--format", "jsonl")
    left = harness("run", claude, *options, "--dialect", "openai-chat")
    (result,) = map(json.loads, left.out.splitlines())
    assert (result["dialect"], len(result["turns"])) == ("openai-chat", 2)
    assert not any(turn["success"] for turn in result["turns"])
    header = json.loads((plain / "reports" / "run.jsonl").read_text().splitlines()[0])
    assert header["command"][-2:] == ["--dialect", "openai-chat"]
    replayed = harness("replay", result["cell"], "--interaction", "1")
    assert "turn 1 is not a success" in replayed.out  # as in the run, without a word
    again = harness("replay", result["cell"], "--interaction", "1", "--dialect", "anthropic")
    assert "end_turn" in again.out


@pytest.mark.parametrize("command", ["run", "show", "replay"])
def test_unknown_dialect_is_rejected(harness: Harness, plain: Path, command: str) -> None:
    left = harness(command, str(plain / "claude.yaml"), "--dialect", "morse")
    assert (left.code, "openai-chat" in left.err) == (2, True)


def test_show_prints_the_dialect_with_the_reason(harness: Harness, plain: Path) -> None:
    text = harness("show", str(plain / "claude.yaml")).out
    assert "  dialect   left out: an OAuth token exchange" in text
    assert "interaction 0: POST https://api.anthropic.com/v1/messages" in text
    assert "  dialect   anthropic, certain: the address and the first events" in text
    answer = harness("show", str(plain / "gemini.yaml"), "--format", "json").json
    assert answer["interactions"][0]["dialect"]["confidence"] == "certain"
    said = harness("show", str(plain / "gemini.yaml"), "--dialect", "ollama").out
    assert "dialect     ollama" in said


def test_pytest_option_sets_the_dialect(pytester: pytest.Pytester, plain: Path) -> None:
    (plain / "pytest.ini").write_text(f"[pytest]\nharness_scenarios = {plain}\n")
    left_out = ("cacheprovider", "hypothesispytest", "xdist")
    command = [part for name in left_out for part in ("-p", f"no:{name}")]
    command += ["--harness-normalizer", "reference", str(plain)]
    pytester.runpytest_inprocess(*command).assert_outcomes(passed=2)
    wrong = pytester.runpytest_inprocess(*command, "--harness-dialect", "morse")
    wrong.stdout.fnmatch_lines("*no reader knows the dialect 'morse'*")
