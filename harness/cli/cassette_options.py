"""Define the option `--dialect` and the argument CASSETTE, which several commands share."""

from pathlib import Path
from typing import Final

import click

from harness.cli.options import Decorator
from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.shipped import bundled_folder
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette
from harness.wording import nearest

_DIALECT_NAMES: Final = sorted(DIALECTS)


def dialect_option(action: str) -> Decorator:
    """Return the option `--dialect`; `action` is the start of its help text, such as a verb."""
    return click.option(
        "--dialect",
        type=click.Choice(_DIALECT_NAMES),
        metavar="NAME",
        help=f"{action} One of {', '.join(_DIALECT_NAMES)}.",
    )


def resolve_cassette(name: Path) -> Cassette:
    """Return the cassette in the file `name`, or the bundled cassette with the id `name`.

    Raises:
        UsageError: there is neither a file nor a bundled cassette called `name`.
        UnreadableError: the file is not a cassette.
    """
    bundled = bundled_folder("cassettes")
    path = bundled / f"{name}.yaml"
    if name.exists():
        return load_cassette(name)
    if path.is_file():
        return load_cassette(path, bundled)
    ids = [each.relative_to(bundled).with_suffix("").as_posix() for each in bundled.rglob("*.yaml")]
    near = nearest(name.as_posix().removesuffix(".yaml"), ids)
    raise UsageError(
        "no such file, and no bundled cassette has this id",
        where=str(name),
        hint=f"{near} Run `harness list cassettes` to list the bundled ones.".strip(),
    )
