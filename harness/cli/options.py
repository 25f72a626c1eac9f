"""What several commands share: options, the argument CASSETTE, progress bar, safe file names."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.files.names import nearest
from harness.shipped import bundled_folder
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette

_NAMES: Final = sorted(DIALECTS)


def dialect_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option; `what` says what becomes of the recordings."""
    return click.option(
        "--dialect",
        type=click.Choice(_NAMES),
        metavar="NAME",
        help=f"{what} as this dialect, whatever it seems to be: {', '.join(_NAMES)}.",
    )


_DEFAULT_TARGETS: Final = (
    " Default: the project's, else all meant to pass; none where {} are named."
)


def target_options(*, usual: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return both options, `names` and `agents`.

    Args:
        usual: whether somebody is taken where nobody is named; see `harness.runs.cells`.
    """
    told = _DEFAULT_TARGETS if usual else ""
    normalizer = click.option(
        "-n",
        "--normalizer",
        "names",
        multiple=True,
        metavar="NAME",
        help="A normalizer's name or module:callable; repeatable." + told.format("agents"),
    )
    agent = click.option(
        "-a",
        "--agent",
        "agents",
        multiple=True,
        metavar="NAME",
        help="An agent's name or module:callable, for conversations; repeatable."
        + told.format("normalizers"),
    )
    return lambda command: normalizer(agent(command))


def resolve_cassette(name: Path) -> Cassette:
    """Return the cassette in the file `name`, or with that id among those that ship.

    Raises:
        UsageError: there is neither.
        UnreadableError: the file is no cassette.
    """
    ships = bundled_folder("cassettes")
    shipped = ships / f"{name}.yaml"
    if not name.exists() and shipped.is_file():
        return load_cassette(shipped, ships)
    if not name.exists():
        raise UsageError(
            "no such file, and no cassette with that id ships",
            where=str(name),
            hint=_cassette_hint(name.as_posix(), ships),
        )
    return load_cassette(name)


def _cassette_hint(name: str, ships: Path) -> str:
    known = [path.relative_to(ships).with_suffix("").as_posix() for path in ships.rglob("*.yaml")]
    near = nearest(name.removesuffix(".yaml"), known)
    return f"{near + ' ' if near else ''}`harness list cassettes` prints those that ship"


@contextmanager
def progress() -> Iterator[Callable[[int, int], None]]:
    """Give a function of (done, total) that moves the bar."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with click.progressbar(length=1, file=sys.stderr, label="replaying", show_pos=True) as bar:

        def show(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield show


_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_CHARS: Final = 120


def safe_name(name: str) -> str:
    """Return `name` as one part of a path, never empty and never hidden."""
    return _UNSAFE.sub("-", name)[:_MOST_CHARS].strip(".-") or "unnamed"
