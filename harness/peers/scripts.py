"""Run the scripts of `harness repro`, each in the environment of its peer."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final, Literal, NamedTuple

from harness.peers.environment import Environment, environment_of
from harness.peers.process import judging_variables, run_bounded
from harness.peers.table import Peer, peers

State = Literal["fails", "hangs", "passes", "broken", "not run"]

_SECONDS: Final = 90.0
_PASSED, _FAILED = 0, 1
_WRONG: Final = "WRONG  "


class ScriptRun(NamedTuple):
    """The result of a script that `harness repro` wrote.

    Fields:
        state: `fails` if the script shows the failure of the library, `hangs` if it did not end in
            time, `broken` if it ended with another error, `not run` if its environment is not
            installed.
        output: the end of what the script printed, or the reason why it did not run.
    """

    state: State
    output: str

    @property
    def shows_failure(self) -> bool:
        """Whether the script shows that the library also fails without the harness."""
        return self.state in {"fails", "hangs"}


def run_script(script: Path, client: str, folder: Path) -> ScriptRun:
    """Run a script without network, in the environment of its client if it is installed.

    A Python script of a client without an environment runs with this Python.

    Args:
        script: a file that `harness repro` wrote.
        client: the name of the peer, or of a normalizer that is not a peer.
        folder: the folder that contains all environments.
    """
    peer = peers().get(client)
    environment = _installed(peer, folder)
    if script.suffix != ".py" and environment is None:
        return ScriptRun("not run", f"the environment of {client} is not installed")
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        if script.suffix == ".py":
            python = environment.path / "bin" / "python" if environment else sys.executable
            command = [str(python), "-I", str(script.absolute())]
        else:
            command = ["node", str(_beside_packages(script, environment, home))]
        executables = environment.executables if environment else Path(sys.executable).parent
        variables = judging_variables(executables, home)
        try:
            ended = run_bounded(command, folder=home, seconds=_SECONDS, variables=variables)
        except OSError as problem:
            return ScriptRun("not run", f"cannot start {command[0]}: {problem.strerror}")
    return ScriptRun(_state(ended.code, ended.output), ended.output)


def _installed(peer: Peer | None, folder: Path) -> Environment | None:
    """Return the environment of a peer, even an outdated one; None if it is missing."""
    environment = environment_of(peer, folder) if peer else None
    return environment if environment and environment.state != "missing" else None


def _beside_packages(script: Path, environment: Environment | None, home: Path) -> Path:
    """Copy the script next to the installed packages, because Node searches for modules there."""
    if environment is not None:
        (home / "node_modules").symlink_to(environment.path / "node_modules")
    return Path(shutil.copy(script, home))


def _state(code: int | None, output: str) -> State:
    if code is None:
        return "hangs"
    if code == _PASSED:
        return "passes"
    return "fails" if code == _FAILED and _WRONG in output else "broken"


def packages_of(client: str) -> tuple[str, ...]:
    """Return the pinned packages of a peer, without the HTTP client of its adapter."""
    peer = peers().get(client)
    if peer is None:
        return ()
    pairs = zip(peer.packages, peer.pins, strict=True)
    found = tuple(text for text, pin in pairs if pin.name not in {"httpx", "httpx2"})
    return found or peer.packages
