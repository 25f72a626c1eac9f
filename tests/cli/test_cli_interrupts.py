"""SIGTERM works as Ctrl-C, and two of them end a process that does not end by itself."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.cli_samples import command

STUBBORN = """
import signal, time
signal.signal(signal.SIGINT, signal.{handler})
from harness.cli import interrupts
interrupts._SECONDS = 0.3
interrupts.Interrupts(130).watch()
said = "ready"
while True:
    try:
        print(said, flush=True)
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        said = "heard"
"""

# A process that waits for a reader never ends; a loaded machine takes some seconds.
_AT_MOST = 60


@pytest.mark.parametrize(
    ("handler", "numbers"),
    [
        ("default_int_handler", (signal.SIGINT, signal.SIGTERM)),
        ("SIG_IGN", (signal.SIGTERM, signal.SIGTERM)),  # started with nohup
    ],
)
def test_two_interrupts_end_the_process(handler: str, numbers: tuple[signal.Signals, ...]) -> None:
    program = [sys.executable, "-c", STUBBORN.format(handler=handler)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        for number in numbers:
            process.send_signal(number)
            assert process.stdout.readline() == b"heard\n"
            time.sleep(0.1)  # until it sleeps again
        out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert out == b""
    assert b"interrupted twice" in err


def test_an_interrupted_command_does_not_wait_for_a_reader_of_its_output() -> None:
    """`list` fills a pipe that is not read."""
    unread, pipe = os.pipe()
    try:
        with subprocess.Popen(
            command("list", "quirks", "--format", "json"), stdout=pipe, stderr=subprocess.DEVNULL
        ) as process:
            while select.select([], [pipe], [], 0)[1]:  # there is room in the pipe
                assert process.poll() is None, "the output fits into the pipe"
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            assert process.wait(_AT_MOST) == 130
    finally:
        os.close(unread)
        os.close(pipe)
