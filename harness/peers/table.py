"""Load `peers.toml` as typed values."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from harness.errors import UnreadableError, UsageError
from harness.files.load import load_toml_file
from harness.files.typed import File, Text, convert
from harness.results.peer_facts import Language
from harness.wording import nearest

PeerKind = Literal["normalizer", "agent"]

FOLDER: Final = Path(__file__).parent
_TABLE: Final = FOLDER / "peers.toml"
_MAX_BYTES: Final = 1 << 20
_SEPARATORS: Final[dict[Language, str]] = {"python": "==", "javascript": "@"}
# An npm package may be called @scope/name; a Python package may have extras.
_NAME: Final = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._/-]*")
_VERSION: Final = re.compile(r"[0-9][A-Za-z0-9.+-]*")
_ROW: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Pin(NamedTuple):
    """A package with its exact version; the name has no extras."""

    name: str
    version: str


class _Row(File, frozen=True):
    packages: tuple[Text, ...] = ()
    environment: str = ""
    dialects: tuple[Text, ...] = ()
    agent: bool = False


class Peer(msgspec.Struct, frozen=True):
    """A third-party library under test, which one adapter uses.

    Fields:
        name: the unique name of the normalizer, the agent or the JavaScript client.
        packages: the packages of its environment, as the package manager writes requirements.
        library: the package under test.
        environment: the name of its environment, which several peers may share.
        dialects: the dialects of a JavaScript client; () in Python, because a normalizer declares
            its dialects.
        kind: whether it is judged on turns, as a normalizer, or on conversations, as an agent.
    """

    name: str
    language: Language
    packages: tuple[str, ...]
    library: Pin
    environment: str
    dialects: tuple[str, ...] = ()
    kind: PeerKind = "normalizer"

    @property
    def pins(self) -> tuple[Pin, ...]:
        """The name and the version of each package in `packages`."""
        return tuple(_pin(each, self.language, self.name) for each in self.packages)


def load_peers(path: Path = _TABLE) -> dict[str, Peer]:
    """Return the peers by name, in the order of the file.

    Raises:
        UnreadableError: a row is not valid, or names an environment that no row defines.
    """
    rows = convert(load_toml_file(path, most=_MAX_BYTES), dict[str, _Row], str(path))
    return {name: _peer(name, rows, path) for name in rows}


@cache
def peers() -> dict[str, Peer]:
    """Return name -> peer of the bundled peers, read once in this process."""
    return load_peers()


def select_peers(names: tuple[str, ...]) -> tuple[Peer, ...]:
    """Return the peers called `names`; all if there are none.

    Raises:
        UsageError: a name is not the name of a peer.
    """
    known = peers()
    for name in names:
        if name not in known:
            hint = nearest(name, known) or "Run `harness peers list` to list them."
            raise UsageError(f"unknown peer {name!r}", hint=hint)
    return tuple(known[name] for name in dict.fromkeys(names)) if names else tuple(known.values())


def _peer(name: str, rows: dict[str, _Row], path: Path) -> Peer:
    row = rows[name]
    owner = rows.get(row.environment) if row.environment else row
    if not _ROW.fullmatch(name):
        raise _error("expected a name of lower-case letters, digits and hyphens", path, name)
    if owner is None or owner.environment or bool(row.packages) == bool(row.environment):
        raise _error(
            "expected either `packages`, or as `environment` a row with packages", path, name
        )
    if bool(row.dialects) != bool(owner.dialects):
        raise _error("expected `dialects` here and in its environment, or in neither", path, name)
    if row.agent and row.dialects:
        raise _error("expected an agent without `dialects`", path, name)
    language: Language = "javascript" if row.dialects else "python"
    return Peer(
        name,
        language,
        owner.packages,
        _pin(owner.packages[0], language, name),
        row.environment or name,
        row.dialects,
        "agent" if row.agent else "normalizer",
    )


def _pin(requirement: str, language: Language, row: str) -> Pin:
    name, separator, version = requirement.rpartition(_SEPARATORS[language])
    name = name.partition("[")[0]
    if not separator or not _NAME.fullmatch(name) or not _VERSION.fullmatch(version):
        example = f"name{_SEPARATORS[language]}1.2.3"
        what = f"expected an exact version such as {example!r}, found {requirement!r}"
        raise _error(what, _TABLE, row)
    return Pin(name, version)


def _error(what: str, path: Path, row: str) -> UnreadableError:
    return UnreadableError(what, where=f"{path}: [{row}]")


def default_folder() -> Path:
    """Return the default folder of all environments, in the user's cache (XDG Base Directory)."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "harness" / "peers"
