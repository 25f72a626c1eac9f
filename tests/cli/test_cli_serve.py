"""`harness serve`: a base URL first, then the answers, and at the end what did not fit."""

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from harness.cli import EXIT_NOTHING_SELECTED
from harness.judging.scenario_file import load_scenario
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.interaction import Interaction, Read, Request
from tests.cli.cli_samples import Left, command
from tests.cli.conftest import Harness

ROOT = Path(__file__).parents[2]
SHIPPED = "dashscope/qwen-plus/multi-round"
PATH = "/compatible-mode/v1/chat/completions"
EVIL = "\x1b[31m\u202e"


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `harness serve` in a process; give its base URL."""
    with subprocess.Popen(
        command("serve", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def left(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> Left:
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return Left(process.returncode, out, err)


def post(base_url: str, path: str = PATH, body: bytes = b"{}") -> httpx.Response:
    return httpx.post(base_url + path, content=body, trust_env=False, timeout=60)


def get(base_url: str, path: str) -> httpx.Response:
    return httpx.get(base_url + path, trust_env=False, timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cassette_that_is_played_to_its_end(number: signal.Signals) -> None:
    with serving(SHIPPED, "--match", "path", "--match", "order", "--cuts", "each-byte") as (
        base_url,
        process,
    ):
        assert base_url.startswith("http://127.0.0.1:")
        replies = [post(base_url) for _ in range(2)]
        done = left(process, number)
    assert all(reply.text.endswith("data: [DONE]\n\n") for reply in replies)
    assert (done.code, done.out) == (0, "2 of 2 interactions played\n")
    assert f"interaction 1: POST https://dashscope.aliyuncs.com{PATH} -> 200, " in done.err
    assert f"openai-chat: set OPENAI_BASE_URL={base_url}/compatible-mode/v1\n" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_come_again_do_not_stop_the_shutdown(number: signal.Signals) -> None:
    with serving("--select", "id:dashscope/split-chunks") as (_, process):
        for _ in range(3):  # `timeout` sends two
            process.send_signal(number)
            time.sleep(0.001)
        done = left(process, number)
    assert (done.code, done.out) == (0, "0 requests played, 0 refused\n")
    assert "Traceback" not in done.err


def test_serve_prints_surplus_requests_and_unplayed_interactions() -> None:
    with serving(SHIPPED, "--match", "path") as (base_url, process):
        assert [post(base_url).status_code, post(base_url, "/v1").status_code] == [200, 410]
        done = left(process)
    assert done.code == 1
    first, surplus, unplayed = done.out.splitlines()
    assert first == "1 of 2 interactions played"
    assert surplus == (
        f"surplus: POST {base_url}/v1: the request differs from interaction 1: "
        f"path: expected '{PATH}', found '/v1'"
    )
    assert unplayed.startswith("unplayed: interaction 1, POST https://dashscope.aliyuncs.com/")


def test_serve_prints_no_control_characters(tmp_path: Path) -> None:
    request = Request("POST", f"https://a.example/{EVIL}", (), b"")
    answer = Interaction(request, 200, (), b"1", (Read(1),))
    save_cassette(Cassette("a", (answer,), Origin("recorded", by="tests")), tmp_path / "a.yaml")
    with serving(str(tmp_path / "a.yaml"), "--match", "path") as (base_url, process):
        post(base_url)
        done = left(process)
    assert done.code == 1
    assert all(char.isprintable() or char == "\n" for char in done.out + done.err)


def test_serve_rejects_unusable_arguments(harness: Harness, tmp_path: Path) -> None:
    assert harness("serve", str(tmp_path / "none.yaml")).code == 2
    assert harness("serve", SHIPPED, "--match", "colour").code == 2
    assert harness("serve", SHIPPED, "--port", "70000").code == 2
    for option in ("--cuts=often", "--delay=slow", "--fault=fire", "--connections=0"):
        assert harness("serve", SHIPPED, option).code == 2
    assert harness("serve", "--select", "dialect:tgi", "--match", "path").code == 2
    assert harness("serve", "--select", "id:no-such/*").code == EXIT_NOTHING_SELECTED


def test_a_fault_and_offsets_for_one_cassette() -> None:
    with (
        serving(SHIPPED, "--cuts", "3,7", "--fault", "truncate@9", "--delay", "1") as (
            base_url,
            _,
        ),
        pytest.raises(httpx.RemoteProtocolError),
    ):
        post(base_url)


def test_a_selection_plays_each_recording_as_often_as_a_client_wants() -> None:
    with serving("--select", "area:dashscope") as (base_url, process):
        rows = get(base_url, "/index.json").json()["recordings"]
        for row in rows:
            for _ in range(2):
                replies = [
                    post(f"{base_url}/turn={turn + 1}{row['path']}", row["endpoint"])
                    for turn in range(row["interactions"])
                ]
                assert [reply.status_code < 500 for reply in replies] == [True] * len(replies)
        done = left(process)
    ids = [row["id"] for row in rows]
    assert "dashscope/split-chunks" in ids
    assert all(name.startswith("dashscope/") for name in ids)
    played = 2 * sum(row["interactions"] for row in rows)
    assert (done.code, done.out) == (0, f"{played} requests played, 0 refused\n")
    assert f"{len(rows)} scenarios and recordings; index: {base_url}/index.json" in done.err
    assert f"openai-chat: set OPENAI_BASE_URL={rows[0]['base_url']}\n" in done.err


def test_the_index_states_what_each_turn_must_give() -> None:
    chosen = ("--select", "id:dashscope/split-chunks", "--fault", "reset@9")
    with serving("--connections", "1", *chosen) as (base_url, _):
        (row,) = get(base_url, "/").json()["recordings"]
    assert row["base_url"] == f"{base_url}/dashscope/split-chunks"
    assert [tool["name"] for tool in row["tools"]] == ["writing", "set_memory"]
    scenario = load_scenario(ROOT / "scenarios/dashscope/split-chunks.yaml", ROOT / "scenarios")
    assert row["title"] == scenario.title
    (turn,) = row["expect"]
    assert [call["arguments"] for call in turn["tool_calls"]] == [
        call.arguments for call in scenario.expect[0].calls
    ]
    assert turn["finish"] == "tool_calls"


def test_a_scenario_is_a_selection_of_one() -> None:
    with serving(str(ROOT / "scenarios/dashscope/split-chunks.yaml")) as (base_url, _):
        assert post(f"{base_url}/dashscope/split-chunks").status_code == 200


def test_a_folder_is_a_selection_and_a_recording_in_it_has_turns(tmp_path: Path) -> None:
    shutil.copy(ROOT / f"cassettes/{SHIPPED}.yaml", tmp_path / "talk.yaml")
    bodies = [each.body for each in load_cassette(tmp_path / "talk.yaml").interactions]
    with serving(str(tmp_path), "--cuts", "whole") as (base_url, _):
        (row,) = get(base_url, "/").json()["recordings"]
        assert (row["id"], row["interactions"]) == ("cassette:talk", len(bodies))
        assert len(row["expect"]) == len(bodies)
        for turn, body in enumerate(bodies, start=1):
            assert post(f"{base_url}/turn={turn}/cassette:talk").content == body


def test_timing_scenario_plays_its_script_again_and_again() -> None:
    path = ROOT / "scenarios/timing/status-503-unavailable.yaml"
    with serving(str(path)) as (base_url, process):
        (row,) = get(base_url, "/").json()["recordings"]
        assert row["timing"]["responses"][0]["status"] == 503
        url = f"{base_url}/timing/status-503-unavailable"
        assert [post(url).status_code for _ in range(4)] == [503, 200, 503, 200]
        assert left(process).out == "4 requests played, 0 refused\n"


def test_a_client_beyond_the_limit_gets_a_reason() -> None:
    with (
        serving("--select", "id:dashscope/split-chunks", "--connections", "1") as (base_url, _),
        httpx.Client(base_url=base_url, trust_env=False) as client,
    ):
        assert client.get("/").status_code == 200  # the connection stays open
        beyond = post(base_url, "/dashscope/split-chunks")
    assert beyond.status_code == 503
    assert "raise the limit with --connections" in beyond.json()["error"]["message"]
