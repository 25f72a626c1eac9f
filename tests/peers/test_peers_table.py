"""The bundled peers: each row names an adapter, and each lock pins what the row says."""

import importlib
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.conversation.discovery import GROUP as AGENTS
from harness.dialects.table import DIALECTS
from harness.errors import UnreadableError, UsageError
from harness.normalizers.discovery import GROUP
from harness.normalizers.protocol import Normalizer
from harness.peers.locks import locked_versions, normalized, read_lock, without_addresses
from harness.peers.table import FOLDER, Peer, load_peers, peers, select_peers
from harness.repro.code import DRIVERS, driver_name

ROOT = Path(__file__).parents[2]
PEERS = list(peers().values())
NAMES = [peer.name for peer in PEERS]


def declared_clients() -> dict[str, str]:
    """Return the entry points of this checkout, which may be newer than what is installed."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    points = table["project"]["entry-points"]
    found: dict[str, str] = points[AGENTS] | points[GROUP]
    assert len(found) == len(points[AGENTS]) + len(points[GROUP])
    return found


@pytest.mark.parametrize("peer", PEERS, ids=NAMES)
def test_a_row_names_an_adapter(peer: Peer) -> None:
    if peer.language == "python":
        module, _, attribute = declared_clients()[peer.name].partition(":")
        found = getattr(importlib.import_module(module), attribute)
        assert found.role == "peer"
        assert isinstance(found, Normalizer) == (peer.kind == "normalizer")
    else:
        assert peer.name not in declared_clients()
        assert (DRIVERS / f"{driver_name(peer.name)}.mjs").is_file()
        assert set(peer.dialects) <= set(DIALECTS)


def test_each_driver_has_a_row() -> None:
    drivers = {path.stem for path in DRIVERS.glob("*.mjs")}
    rows = {peer.name for peer in PEERS if peer.language == "javascript"}
    assert drivers == set(map(driver_name, rows))


def test_each_adapter_has_a_row() -> None:
    modules = {name: value.partition(":") for name, value in declared_clients().items()}
    adapters = {
        name
        for name, (module, _, attribute) in modules.items()
        if getattr(importlib.import_module(module), attribute).role == "peer"
    }
    assert adapters == {peer.name for peer in PEERS if peer.language == "python"}


@pytest.mark.parametrize("peer", PEERS, ids=NAMES)
def test_a_lock_pins_the_packages_of_its_row(peer: Peer) -> None:
    versions = locked_versions(peer.environment)
    normal = normalized if peer.language == "python" else str
    assert {normal(pin.name): versions.get(normal(pin.name)) for pin in peer.pins} == {
        normal(pin.name): pin.version for pin in peer.pins
    }


def test_a_lock_names_no_address() -> None:
    for peer in PEERS:
        assert b"://" not in read_lock(peer.environment), peer.name
        assert b'"resolved"' not in read_lock(peer.environment), peer.name


def test_each_lock_is_of_an_environment() -> None:
    found = {path.stem for path in (FOLDER / "locks").iterdir()}
    assert found == {peer.environment for peer in PEERS}


def test_a_lock_of_npm_keeps_digests_and_loses_addresses() -> None:
    found = {"version": "1", "resolved": "https://x/a", "integrity": "d", "funding": "https://b"}
    left = without_addresses(msgspec.json.encode({"packages": {"a": found}}))
    assert b"https" not in left
    assert b'"integrity": "d"' in left
    assert without_addresses(left) == left


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('[a]\npackages = ["x>=1"]', "expected an exact version"),
        ('[a]\npackages = ["x"]', "expected an exact version"),
        ("[a]", "expected either `packages`"),
        ('[a]\nenvironment = "b"', "expected either `packages`"),
        ('[a]\npackages = ["x==1"]\nenvironment = "a"', "expected either `packages`"),
        ('[a]\npackages = ["x==1"]\n[b]\nenvironment = "a"\ndialects = ["tgi"]', "its environment"),
        ('[a]\npackages = ["x@1"]\ndialects = ["tgi"]\n[b]\nenvironment = "a"', "its environment"),
        ('[a]\npackages = ["x==1"]\ndialects = ["tgi"]', "expected an exact version"),
        ('[a]\npackages = ["x@1"]\ndialects = ["tgi"]\nagent = true', "an agent"),
        ('["../a"]\npackages = ["x==1"]', "expected a name"),
        ('[a]\npackage = ["x==1"]', "unknown key 'package'"),
    ],
)
def test_a_row_that_is_not_valid_is_refused(tmp_path: Path, table: str, problem: str) -> None:
    path = tmp_path / "peers.toml"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(UnreadableError, match=problem):
        load_peers(path)


def test_an_environment_may_be_shared(tmp_path: Path) -> None:
    path = tmp_path / "peers.toml"
    path.write_text('[a]\npackages = ["x[y]==1.0"]\n[b]\nenvironment = "a"', encoding="utf-8")
    first, second = load_peers(path).values()
    assert (first.environment, second.environment) == ("a", "a")
    assert first.library == second.library == ("x", "1.0")


def test_peers_are_selected_once_each() -> None:
    assert select_peers(("groq", "groq")) == (peers()["groq"],)
    assert select_peers(()) == tuple(PEERS)
    with pytest.raises(UsageError, match="did you mean 'groq'"):
        select_peers(("grok",))
