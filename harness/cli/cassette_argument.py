"""The argument CASSETTE, alike in every command that takes one."""

from pathlib import Path

from harness.errors import UsageError
from harness.shipped import folder
from harness.typed_file import nearest
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load


def load_cassette(name: Path) -> Cassette:
    """Return the cassette in the file `name`, or with that id among those that ship.

    Raises:
        UsageError: there is neither.
        UnreadableError: the file is no cassette.
    """
    ships = folder("cassettes")
    shipped = ships / f"{name}.yaml"
    if not name.exists() and shipped.is_file():
        return load(shipped, ships)
    if not name.exists():
        raise UsageError(
            "no such file, and no cassette with that id ships",
            where=str(name),
            hint=_hint(name.as_posix(), ships),
        )
    return load(name)


def _hint(name: str, ships: Path) -> str:
    known = [path.relative_to(ships).with_suffix("").as_posix() for path in ships.rglob("*.yaml")]
    near = nearest(name.removesuffix(".yaml"), known)
    return f"{near + ' ' if near else ''}`harness list cassettes` prints those that ship"
