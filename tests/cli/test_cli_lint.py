"""`harness lint`: the gate of people who build servers."""

import shutil
from pathlib import Path

import pytest

from harness import shipped
from harness.checks.lint_prompts import lint_prompts
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
    names = sorted(path.stem for path in tmp_path.glob("*.yaml"))
    assert left.json["streams"] == len(server.requests) == len(names) == 8
    found = {(each["quirk"], each["level"]) for each in left.json["findings"]}
    assert ("DELTA-INDEX-MISSING", "MUST") in found
    assert ("tool-not-offered", "SHOULD") in found
    assert names == sorted(each.id for each in lint_prompts("openai-chat"))
    again = harness("lint", str(tmp_path), "--format", "markdown")
    assert again.code == 1
    assert again.out.startswith("**8 streams: 8 MUST")
    assert "- not checked: forms that no stream shows: " in again.out


def test_answers_of_an_earlier_server_in_the_folder_are_not_judged(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    command = ("lint", "-o", str(tmp_path), "--format", "json", "--model", "m", "--url")
    checks = ("--profile", "openresponses")
    document = (b'{"object":"response","status":"completed","output":[{"type":"message"}]}',)
    with PacedServer(NO_INDEX, gated=False).running() as first:
        assert harness(*command, first.url).json["streams"] == 8
        (basic, *_) = harness(*command, f"{first.url}/v1/responses", *checks).json["results"]
        assert basic["problems"] == ["the body is not a JSON object"]
    with PacedServer(document, gated=False).running() as second:
        found = harness(*command, second.url).json
        assert {each["quirk"] for each in found["findings"]}.isdisjoint({"DELTA-INDEX-MISSING"})
        (basic, *_) = harness(*command, f"{second.url}/v1/responses", *checks).json["results"]
        assert basic["problems"] != ["the body is not a JSON object"]


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


def test_what_breaks_named_clients_is_listed_for_them_only(
    harness: Harness, tmp_path: Path
) -> None:
    body = b"".join(NO_INDEX).decode()
    (tmp_path / "a.yaml").write_text(Path(NULL_LATER).read_text(encoding="utf-8"))
    left = harness("lint", str(tmp_path), "--for", "koog,ai-sdk")
    assert (left.code, left.err) == (0, "")
    assert "not checked: what breaks koog, ai-sdk, other than absent members" in left.out
    (tmp_path / "b.sse").write_text(body)
    assert harness("import", str(tmp_path / "b.sse"), "-o", str(tmp_path / "in")).code == 0
    left = harness("lint", str(tmp_path / "in"), "--for", "async-openai", "--format", "json")
    (finding,) = left.json["findings"]
    assert left.code == 1
    assert finding["quirk"] == "DELTA-INDEX-MISSING"
    assert [it.partition(" ")[0] for it in finding["clients"]] == ["async-openai"]
    left = harness("lint", str(tmp_path), "--for", "koogle")
    assert left.code == 2
    assert "no table lists client 'koogle'" in left.err


@pytest.mark.parametrize(
    "given",
    [
        ["--profile", "openresponses", "--for", "koog"],
        ["--profile", "openresponses", "--tools"],
        ["--prompts", "--tools"],
    ],
)
def test_an_option_without_an_effect_is_refused(
    harness: Harness, tmp_path: Path, given: list[str]
) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text("[]")
    files = {"--tools", "--prompts"}
    words = [it for each in given for it in ([each, str(file)] if each in files else [each])]
    left = harness("lint", "--url", "http://127.0.0.1:9", *words)
    assert left.code == 2
    assert "has no effect with" in left.err
    assert harness("lint", str(tmp_path), "--tools", str(file)).code == 2


def test_members_that_a_server_lost_fail_the_comparison_with_older_streams(
    harness: Harness, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, text in ((old, CHUNK), (new, CHUNK.replace(b'"created":1,', b""))):
        folder.mkdir()
        (folder / "a.sse").write_bytes(text + b"data: [DONE]\n\n")
        assert harness("import", str(folder / "a.sse"), "-o", str(folder / "in")).code == 0
    same = harness("contract", "diff", str(old / "in"), str(old / "in"))
    assert (same.code, same.out.strip()) == (
        0, "1 new stream, compared with 1 old stream: 0 changes",
    )  # fmt: skip
    left = harness("contract", "diff", str(old / "in"), str(new / "in"), "--format", "json")
    (change,) = left.json["changes"]
    assert (left.code, change["kind"], change["member"]) == (1, "chunk", "created")
    assert (change["change"], change["level"]) == ("missing", "MUST")
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.sse").write_bytes(b'{"model":"m","message":{"role":"assistant"},"done":true}\n')
    assert harness("import", str(other / "b.sse"), "-o", str(other / "in")).code == 0
    left = harness("contract", "diff", str(old / "in"), str(other / "in"))
    assert left.code == 5
    assert left.out.splitlines() == [
        "not compared: 1 stream of openai-chat, only in OLD",
        "not compared: 1 stream of ollama, only in NEW",
        "nothing was compared",
    ]
    table = harness("contract", "diff", "table", str(new / "in"), "--format", "markdown")
    assert table.code == 1
    assert "| MUST | missing | openai-chat | `chunk.created` |" in table.out
    assert harness("contract", "diff", str(old / "in"), str(tmp_path / "old" / "a.sse")).code == 2


def test_the_checks_of_open_responses_run_over_http(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    server = PacedServer(NO_INDEX, gated=False)
    with server.running():
        url = f"{server.url}/v1/responses"
        left = harness(
            "lint", "--url", url, "--profile", "openresponses", "-o", str(tmp_path),
            "--format", "json",
        )  # fmt: skip
    results = {each["id"]: each["status"] for each in left.json["results"]}
    assert left.code == 1
    assert sum(head.startswith(b"POST ") for head, _ in server.requests) == 10
    sessions = {status for name, status in results.items() if name.startswith("websocket-")}
    assert sessions in ({"failed"}, {"not run"})  # without the extra `websocket`
    assert results["basic-response"] == results["compact-missing-model"] == "failed"
