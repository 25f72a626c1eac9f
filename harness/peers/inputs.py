"""Compute the digest of what a peer is judged by, and mark rows of the matrix that are older.

The inputs of a peer are the bundled scenarios and cassettes of its dialects, its adapter and the
versions of its packages. The rules are not among them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from harness import conversation, normalizers, shipped
from harness.peers.locks import read_lock
from harness.peers.table import Peer, peers
from harness.repro.code import load_driver, reproducible_clients
from harness.runs.declared import available_agents, available_normalizers, facts_of, facts_of_agent

_SHOWN_DIGITS: Final = 12
_OLDER: Final = " older"
# Of a row of an older harness.
UNKNOWN_INPUTS: Final = "unknown"
_DIALECT: Final = re.compile(rb"^ +dialect: ([\w-]+)$", re.MULTILINE)
_CASSETTE: Final = re.compile(rb"^cassette:\s*['\"]?([^\s'\"#]+)", re.MULTILINE)
# A row of the table of peers: its name, and its last cell.
_ROW: Final = re.compile(
    rf"^(\| \[?(?P<name>[a-z0-9-]+)(?:\]\(#[^)]*\))? \|.*\| )"
    rf"(?P<digest>[0-9a-f]{{{_SHOWN_DIGITS}}}|{UNKNOWN_INPUTS})(?:{_OLDER})? \|$",
    re.MULTILINE,
)


def declared_dialects() -> dict[str, tuple[str, ...]]:
    """Return the dialects that each normalizer and each agent declares, by its name."""
    found = {each.name: tuple(sorted(each.dialects)) for each in available_normalizers()}
    return found | {it.name: tuple(sorted(it.dialects)) for it in available_agents()}


def inputs_digest(peer: Peer, dialects: Iterable[str]) -> str:
    """Return hex digits that change if a scenario of `dialects` or the adapter of `peer` does."""
    found = sha256(read_lock(peer.environment))
    for part in _adapter(peer):
        found.update(part)
    for dialect in sorted(dialects):
        found.update(_digests_of_dialects().get(dialect, b""))
    return found.hexdigest()[:_SHOWN_DIGITS]


def current_digests() -> dict[str, str]:
    """Return name -> the digest of the inputs of each peer now."""
    known = declared_dialects()
    return {
        name: inputs_digest(peer, peer.dialects or known.get(name, ()))
        for name, peer in peers().items()
    }


def mark_older(page: str, current: Mapping[str, str]) -> str:
    """Return the matrix with a mark at each row whose inputs changed since it was judged.

    Args:
        page: the matrix, as Markdown.
        current: name of a peer -> the digest of its inputs now.
    """

    def row(found: re.Match[str]) -> str:
        mark = "" if current.get(found["name"]) == found["digest"] else _OLDER
        return f"{found[1]}{found['digest']}{mark} |"

    return _ROW.sub(row, page)


def _adapter(peer: Peer) -> Iterator[bytes]:
    """Yield the code that calls the library, and what the adapter declares."""
    if peer.kind == "agent":
        declared = (facts_of_agent(it) for it in available_agents() if it.name == peer.name)
        yield from map(msgspec.json.encode, declared)
        yield _content(Path(conversation.__file__).parent / "sdk", "*.py")
        return
    if peer.name in reproducible_clients():
        yield msgspec.json.encode(load_driver(peer.name))
    if peer.language == "javascript":
        yield _content(shipped.bundled_folder("clients") / "node", "*.mjs")
        return
    facts = (facts_of(it) for it in available_normalizers() if it.name == peer.name)
    yield from map(msgspec.json.encode, facts)
    yield _content(Path(normalizers.__file__).parent / "sdk", "*.py", without="adapters.py")


@cache
def _content(folder: Path, pattern: str, without: str = "") -> bytes:
    """Return the content of the files; `adapters.py` has the declarations of all adapters."""
    files = (path for path in sorted(folder.glob(pattern)) if path.name != without)
    return b"".join(path.name.encode() + path.read_bytes() for path in files)


@cache
def _digests_of_dialects() -> dict[str, bytes]:
    """Return, for each dialect, a digest of its scenarios and cassettes."""
    digests: dict[str, list[bytes]] = {}
    root = shipped.bundled_folder("cassettes")
    dialects: dict[str, set[str]] = {}
    for path in sorted(root.rglob("*.yaml")):
        data = path.read_bytes()
        name = path.relative_to(root).with_suffix("").as_posix()
        dialects[name] = {found.decode() for found in _DIALECT.findall(data)}
        _add(digests, dialects[name], name, data)
    root = shipped.bundled_folder("scenarios")
    for path in sorted(root.rglob("*.yaml")):
        data = path.read_bytes()
        named = _CASSETTE.search(data)
        of_scenario = dialects.get(named[1].decode(), set()) if named else set()
        _add(digests, of_scenario, path.relative_to(root).as_posix(), data)
    return {name: sha256(b"".join(parts)).digest() for name, parts in digests.items()}


def _add(digests: dict[str, list[bytes]], names: Iterable[str], path: str, data: bytes) -> None:
    for name in names:
        digests.setdefault(name, []).append(sha256(path.encode() + data).digest())
