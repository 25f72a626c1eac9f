"""The option `--dialect`, alike in every command that takes recordings of others."""

from collections.abc import Callable
from typing import Any, Final

import click

from harness.dialects.table import DIALECTS

_NAMES: Final = sorted(DIALECTS)


def dialect_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option; `what` says what becomes of the recordings."""
    return click.option(
        "--dialect",
        type=click.Choice(_NAMES),
        metavar="NAME",
        help=f"{what} as this dialect, whatever it seems to be: {', '.join(_NAMES)}.",
    )
