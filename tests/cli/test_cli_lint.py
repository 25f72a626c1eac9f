"""`harness lint`: the gate of people who build servers."""

import shutil
from pathlib import Path

import pytest

from harness import shipped
from tests.cli.conftest import Harness
from tests.recording.paced_server import PacedServer

CASSETTES = shipped.bundled_folder("cassettes")
NULL_LATER = str(CASSETTES / "dashscope" / "qwen-plus" / "split-chunks-null.yaml")
CHUNK = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{'
    b'"index":0,"delta":{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{'
    b'"name":"get_weather","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\n'
)
NO_INDEX = (CHUNK, b"data: [DONE]\n\n")


def test_levels_decide_what_is_printed_and_the_exit_code(harness: Harness) -> None:
    left = harness("lint", NULL_LATER)
    assert (left.code, left.err) == (0, "")
    assert "SHOULD  DELTA-ID-NULL-LATER: Later deltas carry null" in left.out
    assert "at byte 326:" in left.out
    assert left.out.splitlines()[-1].endswith(" SHOULD")
    assert "DELTA-ID-NULL-LATER" not in harness("lint", NULL_LATER, "--level", "MUST").out


def test_a_server_that_violates_its_contract_exits_with_1(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    server = PacedServer(NO_INDEX, gated=False)
    with server.running():
        left = harness(
            "lint", "--url", server.url, "--model", "m", "-o", str(tmp_path), "--format", "json"
        )
    assert left.code == 1
    assert left.json["streams"] == len(server.requests) == 3
    assert {each["quirk"] for each in left.json["findings"]} == {"DELTA-INDEX-MISSING"}
    assert sorted(path.name for path in tmp_path.glob("*.yaml")) == [
        "call.yaml", "text.yaml", "two-calls.yaml",
    ]  # fmt: skip
    again = harness("lint", str(tmp_path), "--format", "markdown")
    assert again.code == 1
    assert again.out.startswith("**3 streams: 3 MUST**\n\n| level |")


def test_nothing_to_judge_exits_with_5_and_wrong_use_with_2(
    harness: Harness, tmp_path: Path
) -> None:
    assert harness("lint", str(tmp_path)).code == 5
    (tmp_path / "damaged.yaml").write_text("interactions: 5")
    shutil.copy(NULL_LATER, tmp_path)
    left = harness("lint", str(tmp_path))
    assert (left.code, "damaged.yaml" in left.err) == (2, True)
    assert "DELTA-ID-NULL-LATER" in left.out
    assert "expected either cassettes or --url" in harness("lint").err
    left = harness("lint", "--url", "http://127.0.0.1:9", "--dialect", "gemini")
    assert left.code == 2
    assert "cannot send requests of the dialect 'gemini'" in left.err
