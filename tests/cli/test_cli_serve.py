"""`harness serve`: a base URL first, then whoever asks, and at the end what did not fit."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Interaction, Read, Request
from tests.cli.cli_samples import Left, command
from tests.cli.conftest import Harness

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


def post(base_url: str, path: str = PATH) -> httpx.Response:
    return httpx.post(base_url + path, json={}, trust_env=False, timeout=60)


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
