"""A Dask cluster in another process, for as long as a test or a session needs it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def started_cluster(*script: str | Path) -> Iterator[tuple[str, list[int]]]:
    """Yield what `--on` needs for a cluster, and the processes of its workers.

    Args:
        script: arguments of Python for code that prints the address of the scheduler and those
            processes on one line, and ends with its standard input.
    """
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    with subprocess.Popen(
        [sys.executable, *script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address, *workers = process.stdout.readline().split()
        yield address.replace("tcp://", "dask://"), [int(each) for each in workers]
        process.stdin.close()
