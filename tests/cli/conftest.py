"""`harness` in this process."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from harness.cli import run_command_line
from tests.cli.cli_samples import Left

Harness: TypeAlias = Callable[..., Left]


@pytest.fixture(name="harness")
def _harness(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Harness:
    """Return a function that runs the command line here and says how it left."""

    def run(*arguments: str) -> Left:
        monkeypatch.setattr("sys.argv", ["harness", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            run_command_line()
        said = capsys.readouterr()
        return Left(left.value.code, said.out, said.err)

    return run


@pytest.fixture(params=["local", "dask"])
def on(request: pytest.FixtureRequest) -> str:
    """Return each value of `--on`: the same is expected of both."""
    found: str = "local" if request.param == "local" else request.getfixturevalue("cluster")
    return found
