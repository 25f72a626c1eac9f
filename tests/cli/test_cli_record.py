"""`harness record`: questions of our own, a proxy for others, and a cassette asked again."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import msgspec
import pytest
from click.testing import CliRunner

from harness.cli.record import record_command
from harness.errors import UnreadableError, UsageError
from harness.files.write import partial_path
from harness.judging.scenario_file import load_scenario
from harness.recording.recorder import Recorder
from harness.runs.selection import select_subjects
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.interaction import Request
from tests.recording.paced_server import PacedServer

ARGUMENTS = b'"{\\"city\\":\\"Oslo\\"}"'
CALL = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":'
    b'{"name":"get_weather","arguments":%b}}]}}]}\n\n' % ARGUMENTS,
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n',
    b"data: [DONE]\n\n",
)
ANSWER = (
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Rain."}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)
PROMPTS = """
- id: native/oslo
  question: Weather in Oslo?
  tools: [{name: get_weather, parameters: {type: object, properties: {city: {type: string}}}}]
- id: told
  question: Weather in Oslo?
  prompt: tag-tools-zh/v1
  tools: [{name: get_weather}]
  options: {temperature: 0}
"""


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def record(*args: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(
        record_command, list(map(str, args)), catch_exceptions=False, standalone_mode=False
    )
    return result.return_value, result.output


@pytest.fixture
def asked(tmp_path: Path) -> tuple[PacedServer, Path]:
    """Record two prompts twice, with a key and scenarios; return the server and the folder."""
    (tmp_path / "prompts.yaml").write_text(PROMPTS, "utf-8")
    server = PacedServer(CALL, gated=False)
    with server.running():
        code, output = record(
            server.url, "--prompts", tmp_path / "prompts.yaml", "--repeat", "2", "--model", "m1",
            "--option", "seed=7", "--header", "X-Api-Key: s3cret-value-0001", "-o", tmp_path / "c",
            "--scenarios", tmp_path / "s", "--provider", "llamacpp", "--source", "a server 1.0",
        )  # fmt: skip
    assert code == 0
    assert "4 requests" in output
    return server, tmp_path


def test_prompts_become_cassettes(asked: tuple[PacedServer, Path]) -> None:
    server, folder = asked
    names = ["native-oslo-1", "native-oslo-2", "told-1", "told-2"]
    assert sorted(path.stem for path in (folder / "c").glob("*.yaml")) == names
    native, told = (
        load_cassette(folder / "c" / "native-oslo-1.yaml"),
        load_cassette(folder / "c" / "told-1.yaml"),
    )
    assert (native.model, native.provider, native.prompt) == ("m1", "llamacpp", "native-tools/v2")
    assert (native.origin.kind, native.origin.source) == ("recorded", "a server 1.0")
    assert [tool["name"] for tool in told.tools] == ["get_weather"]
    assert native.tools == ()
    assert told.prompt == "tag-tools-zh/v1"
    assert native.interactions[0].body == b"".join(CALL)
    head, body = server.requests[0]
    assert b"POST /v1/chat/completions" in head
    assert b"s3cret-value-0001" in head
    assert json.loads(body)["seed"] == 7
    assert json.loads(body)["tools"][0]["function"]["name"] == "get_weather"
    assert "s3cret" not in (folder / "c" / "native-oslo-1.yaml").read_text("utf-8")


def test_draft_scenarios_expect_the_oracle_reading(asked: tuple[PacedServer, Path]) -> None:
    _, folder = asked
    path = folder / "s" / "native-oslo-1.yaml"
    scenario = load_scenario(path, folder / "s")
    assert scenario.cassette == "native-oslo-1"
    (call,) = scenario.expect[0].calls
    assert (call.name, call.arguments, call.id) == ("get_weather", {"city": "Oslo"}, "c1")
    assert "confirm" in path.read_text("utf-8").splitlines()[0]


def test_draft_scenario_finds_its_cassette_in_the_next_folder(tmp_path: Path) -> None:
    (tmp_path / "prompts.yaml").write_text(PROMPTS, "utf-8")
    server = PacedServer(CALL, gated=False)
    with server.running():
        record(
            server.url, "--prompts", tmp_path / "prompts.yaml", "--model", "m1",
            "-o", tmp_path / "cassettes" / "m1", "--scenarios", tmp_path / "scenarios" / "m1",
        )  # fmt: skip
    scenario = load_scenario(tmp_path / "scenarios" / "m1" / "told.yaml", tmp_path / "scenarios")
    assert scenario.cassette == "m1/told"
    assert {subject.kind for subject in select_subjects([tmp_path / "scenarios"])} == {"scenario"}


def test_refresh_shows_a_difference_in_meaning(asked: tuple[PacedServer, Path]) -> None:
    _, folder = asked
    path = folder / "c" / "native-oslo-1.yaml"
    before = path.read_bytes()
    server = PacedServer(ANSWER, gated=False)
    with server.running():
        code, output = record("--refresh", path, "--upstream", server.url)
        assert code == 1
        assert path.read_bytes() == before
        for line in (
            "finish: was 'tool_calls', is 'stop'",
            "calls: was ['get_weather'], is []",
            "field gone: choices[].delta.tool_calls[].function.name",
            "field new: choices[].delta.content",
            '"delta":{"role":"assistant","content":"Rain."}',
        ):
            assert line in output
        assert record("--refresh", path, "--upstream", server.url, "--write")[0] == 1
    assert load_cassette(path).interactions[0].body == b"".join(ANSWER)
    assert load_cassette(path).model == "m1"
    with (again := PacedServer(ANSWER, gated=False)).running():
        code, output = record("--refresh", path, "--upstream", again.url)
    assert code == 0
    assert "in meaning: no difference" in output


def test_the_proxy_serves_a_client_until_it_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    server = PacedServer(CALL, gated=False)
    command = [
        sys.executable, "-c", "from harness.cli import main; main()", "record", "--proxy", "0",
        "--upstream", server.url, "-o", str(path), "--model", "m2",
    ]  # fmt: skip
    with server.running(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base = process.stdout.readline().strip()
        answer = httpx.post(base + "/v1/chat/completions?a=1", json={"model": "m2"})
        end = time.monotonic() + 10
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert load_cassette(path).interactions[0].body == answer.content
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate()
    assert process.returncode == 0
    assert rest.splitlines()[0].endswith("p.yaml: 1 interaction recorded")
    assert rest.splitlines()[1].split() == ["1", "status", "200,", "complete"]
    assert list(tmp_path.iterdir()) == [path]
    assert answer.content == b"".join(CALL)
    kept = load_cassette(path).interactions[0]
    assert kept.request.uri == f"{server.url}/v1/chat/completions?a=1"
    assert kept.body == answer.content


def test_the_proxy_does_not_start_if_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    upstream = ("--proxy", "0", "--upstream", "http://127.0.0.1:9")
    with pytest.raises(UsageError, match="cannot write the recording"):
        record(*upstream, "-o", tmp_path / "file" / "p.yaml")


def test_a_killed_refresh_goes_on_where_it_ended(kept: Cassette, tmp_path: Path) -> None:
    path, (each,) = tmp_path / "a.yaml", kept.interactions
    second = msgspec.structs.replace(each.request, body=each.request.body.replace(b"Oslo", b"Rome"))
    both = (each, msgspec.structs.replace(each, request=second))
    save_cassette(msgspec.structs.replace(kept, interactions=both), path)
    with (server := PacedServer(ANSWER, gated=False)).running():
        requested = msgspec.structs.replace(each.request, uri=f"{server.url}/v1/chat/completions")
        recorder = Recorder(tmp_path / "killed" / "a.yaml.refreshed", mode="all")
        response = recorder.record(requested)
        response.head(200, (("content-type", "text/event-stream"),))
        response.add(b"".join(CALL))
        response.end("complete")
        shutil.copy(partial_path(recorder.path), tmp_path)
        recorder.save()
        code, output = record("--refresh", path, "--upstream", server.url, "--write")
    assert (code, len(server.requests)) == (1, 1)
    assert "1 interaction of a killed recording added" in output
    bodies = [each.body for each in load_cassette(path).interactions]
    assert bodies == [b"".join(CALL), b"".join(ANSWER)]
    assert sorted(each.name for each in tmp_path.iterdir() if "refreshed" in each.name) == []


@pytest.fixture
def kept(asked: tuple[PacedServer, Path]) -> Cassette:
    return load_cassette(asked[1] / "c" / "told-1.yaml")


def test_record_sends_the_requests_of_a_scenario(kept: Cassette, tmp_path: Path) -> None:
    sent = json.loads(kept.interactions[0].request.body)
    scenario = tmp_path / "again.yaml"
    cassette = tmp_path / "c" / "told-1.yaml"
    scenario.write_text(f"title: t\ncassette: {cassette}\nexpect:\n- finish: stop\n", "utf-8")
    server = PacedServer(ANSWER, gated=False)
    with server.running():
        record(server.url, "--scenario", scenario, "--model", "m9", "-o", tmp_path / "d")
    assert json.loads(server.requests[0][1]) == {**sent, "model": "m9"}
    assert load_cassette(tmp_path / "d" / "again-0.yaml").model == "m9"


def test_refresh_refuses_a_cassette_with_only_exchanges_of_tokens(
    kept: Cassette, tmp_path: Path
) -> None:
    request = Request("POST", "http://127.0.0.1:1/token", (), b"grant_type=refresh_token")
    interaction = msgspec.structs.replace(kept.interactions[0], request=request)
    path = tmp_path / "tokens.yaml"
    save_cassette(msgspec.structs.replace(kept, interactions=(interaction,)), path)
    with pytest.raises(UsageError, match="found only exchanges of OAuth tokens"):
        record("--refresh", path)


def test_record_copies_the_labels_of_the_recording(kept: Cassette, tmp_path: Path) -> None:
    """Somebody's own prompt, the tools that it taught, and what is due."""
    path, scenario = tmp_path / "own.yaml", tmp_path / "again.yaml"
    save_cassette(msgspec.structs.replace(kept, prompt="ours/v7").with_each(due="call"), path)
    scenario.write_text(f"title: t\ncassette: {path}\nexpect:\n- finish: stop\n", "utf-8")
    with (server := PacedServer(CALL, gated=False)).running():
        record(server.url, "--scenario", scenario, "-o", tmp_path / "d")
        record("--refresh", path, "--upstream", server.url, "--write")
    for found in (load_cassette(tmp_path / "d" / "again-0.yaml"), load_cassette(path)):
        assert (found.prompt, found.due) == ("ours/v7", "call")
        assert found.tools == kept.tools != ()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "one of URL, --proxy and --refresh"),
        (["http://localhost", "--proxy", "0"], "one of URL, --proxy and --refresh"),
        (["http://localhost"], "either --prompts FILE or --scenario ID"),
        (["ftp://localhost", "--scenario", "x"], "expected an address"),
        (["http://u:p@localhost", "--scenario", "x"], "expected an address"),
        (["http://localhost", "--header", "s3cret"], "expected --header NAME:VALUE"),
        (["http://localhost", "--key-env", "NO_SUCH_VARIABLE"], "is not set"),
        (["http://localhost", "--option", "a=b"], "expected --option KEY=JSON"),
        (["--proxy", "0", "--upstream", ""], "expected an address"),
    ],
)
def test_record_rejects_unusable_options(args: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        record(*args, "-o", tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {id: a}", "expected text"),
        ("- {id: a, question: b, promt: c}", "Did you mean 'prompt'"),
        ("[]", "found none"),
        ("{}", "expected a list"),
    ],
)
def test_record_rejects_unusable_prompt_files(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(UnreadableError, match=message):
        record("http://127.0.0.1:9", "--prompts", tmp_path / "p.yaml", "-o", tmp_path / "c")


def test_record_does_not_connect_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    (tmp_path / "p.yaml").write_text(PROMPTS, "utf-8")
    with pytest.raises(UsageError, match="CI is set"):
        record("http://127.0.0.1:9", "--prompts", tmp_path / "p.yaml", "-o", tmp_path / "c")
