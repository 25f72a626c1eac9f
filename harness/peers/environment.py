"""Install environments: a folder for each set of pinned packages, together with this harness.

A Python environment is a venv. A JavaScript environment is a folder with `node_modules` and the
clients. Both have `bin/harness`, and a `pyproject.toml` that keeps the settings of other projects
out. The installer writes the copy of the lock last, so that an interrupted installation never
counts as installed.
"""

import importlib.metadata
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Final, Literal

import msgspec

from harness import shipped
from harness.errors import UsageError
from harness.files.output import OutputFolder
from harness.peers.locks import npm_lock, python_lock, read_lock
from harness.peers.process import run_bounded
from harness.peers.table import Peer, peers
from harness.repro.code import DRIVERS, driver_name
from harness.results.peer_facts import Language

State = Literal["installed", "outdated", "missing"]

DISTRIBUTION: Final = "toolcall-harness"
_STAMP: Final = "installed.lock"
_INSTALL_SECONDS: Final = 1200.0
_NPM_CI: Final = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_LAUNCHER: Final = """\
#!/bin/sh
exec {python} -P -c 'from harness.cli import main; main()' "$@"
"""


class Environment(msgspec.Struct, frozen=True):
    """The folder with the installed packages of a peer.

    Fields:
        name: the name of the row in `peers.toml` that lists the packages.
        path: the folder.
    """

    name: str
    language: Language
    path: Path

    @property
    def command(self) -> Path:
        """The path of the command `harness` in this environment."""
        return self.path / "bin" / "harness"

    @property
    def executables(self) -> Path:
        """The folder of the programs that the packages install."""
        return self.path / ("bin" if self.language == "python" else "node_modules/.bin")

    @property
    def state(self) -> State:
        """Whether the environment is installed, and contains what its lock lists now."""
        stamp = self.path / _STAMP
        if not stamp.is_file():
            return "missing"
        return "installed" if stamp.read_bytes() == read_lock(self.name) else "outdated"


def environment_of(peer: Peer, folder: Path) -> Environment:
    """Return the environment of `peer`; `folder` contains all environments."""
    return Environment(peer.environment, peer.language, folder.absolute() / peer.environment)


def install(environment: Environment) -> None:
    """Create the environment that its lock describes, and then remove an older one.

    Raises:
        UsageError: a package manager is not installed, or failed, and then the older environment
            is still there; or the folder has files and the harness did not make it.
        UnreadableError: the environment has no lock.
    """
    lock = read_lock(environment.name)
    path = environment.path
    old = path.with_name(f"{path.name}.old")
    for folder in (path, old):
        if not (folder / _STAMP).is_file():  # an older harness wrote no marker
            OutputFolder(folder).require_own()
    if (path / _STAMP).is_file():
        shutil.rmtree(old)
        path.rename(old)
    try:
        _fill(environment)
        (path / _STAMP).write_bytes(lock)
    except BaseException:
        if (old / _STAMP).is_file():
            shutil.rmtree(path)
            old.rename(path)
        raise
    shutil.rmtree(old)


def _fill(environment: Environment) -> None:
    """Install the packages of the environment into its folder, after emptying it."""
    shutil.rmtree(environment.path, ignore_errors=True)
    OutputFolder(environment.path).require_own()
    if environment.language == "python":
        create_venv(environment.path)
        # With bytecode, because importing a library must not exceed the limit of a replay.
        lock_options = ("--no-deps", "-r", str(python_lock(environment.name)))
        pip(environment.path, "install", *_compile_option(), *lock_options)
    else:
        for file in npm_lock(environment.name):
            shutil.copy(file, environment.path)
        run_tool(_NPM_CI, environment.path)
    link_harness(environment)


def link_harness(environment: Environment) -> None:
    """Link the running harness into the environment, so that both judge by the same rules."""
    path = environment.path
    declared = ["[tool.harness]\n"]
    python = Path(sys.executable)
    if environment.language == "python":
        python = path / "bin" / "python"
        _link_package(path)
    else:
        for folder in (shipped.bundled_folder("clients") / "node", DRIVERS):
            modules = shutil.ignore_patterns("*.py", "__pycache__")
            shutil.copytree(folder, path, ignore=modules, dirs_exist_ok=True)
        declared += map(_declaration, _drivers(environment.name))
    (path / "pyproject.toml").write_text("\n".join(declared), encoding="utf-8")
    environment.command.parent.mkdir(exist_ok=True)
    launcher = _LAUNCHER.format(python=shlex.quote(str(python)))
    environment.command.write_text(launcher, encoding="utf-8")
    environment.command.chmod(0o755)


def _drivers(environment: str) -> list[Peer]:
    return [peer for peer in peers().values() if peer.environment == environment]


def _declaration(peer: Peer) -> str:
    """Return the `pyproject.toml` text that declares a JavaScript peer under its name."""
    command = f"node run-driver.mjs {driver_name(peer.name)}"
    return f'[tool.harness.normalizers.{peer.name}]\ntarget = "client:{command}"\n'


def _link_package(path: Path) -> None:
    """Link this package into the venv, and copy its metadata, which contains its entry points."""
    base = {"base": str(path), "platbase": str(path)}
    site = Path(sysconfig.get_path("purelib", "venv", base))
    package = site / "harness"
    package.unlink(missing_ok=True)
    package.symlink_to(Path(shipped.__file__).resolve().parent, target_is_directory=True)
    found = importlib.metadata.distribution(DISTRIBUTION)
    info = site / f"{DISTRIBUTION.replace('-', '_')}-{found.version}.dist-info"
    info.mkdir(exist_ok=True)
    for name in ("METADATA", "entry_points.txt"):
        (info / name).write_text(found.read_text(name) or "", encoding="utf-8")


def create_venv(path: Path) -> None:
    """Create a venv of the running Python at `path`; uv is faster, if it is installed.

    Raises:
        UsageError: the venv cannot be created.
    """
    uv = shutil.which("uv")
    if uv is None:
        run_tool((sys.executable, "-m", "venv", str(path)), path)
    else:
        options = ("--quiet", "--allow-existing", "--python", sys.executable)
        run_tool((uv, "venv", *options, str(path)), path)


def pip(path: Path, action: str, *options: str) -> str:
    """Run a command of pip, or of `uv pip`, on the venv at `path`, and return its output.

    Raises:
        UsageError: the command failed.
    """
    python, uv = str(path / "bin" / "python"), shutil.which("uv")
    if uv is not None:
        return run_tool((uv, "pip", action, "--quiet", "--python", python, *options), path)
    quiet = ("--quiet", "--disable-pip-version-check")
    return run_tool((python, "-m", "pip", action, *quiet, *options), path)


def _compile_option() -> tuple[str, ...]:
    """Return the option that makes uv compile bytecode; pip does that by default."""
    return ("--compile-bytecode",) if shutil.which("uv") else ()


def run_tool(command: tuple[str, ...], folder: Path) -> str:
    """Run a package manager in `folder`, and return what it printed.

    Raises:
        UsageError: the package manager is not installed, took too long or failed.
    """
    name = " ".join(Path(part).name for part in command[:3])
    try:
        ended = run_bounded(command, folder=folder, seconds=_INSTALL_SECONDS)
    except OSError as error:
        hint = f"Install {command[0]}."
        raise UsageError(f"cannot start: {error.strerror}", where=name, hint=hint) from error
    if ended.code != 0:
        how = f"exit code {ended.code}" if ended.code is not None else "the time limit"
        raise UsageError(
            f"failed with {how}: {ended.last_line}",
            where=f"{name} in {folder}",
            hint="Check the connection to the package index and the pins, and try again.",
        )
    return ended.output
