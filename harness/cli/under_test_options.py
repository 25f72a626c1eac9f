"""The options `-n` and `-a`, alike in every command that takes who is under test."""

from collections.abc import Callable
from typing import Any, Final

import click

_USUAL: Final = " Default: the project's, else all meant to pass; none where {} are named."


def under_test_options(*, usual: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return both options, `names` and `agents`.

    Args:
        usual: whether somebody is taken where nobody is named; see `harness.runs.choose`.
    """
    told = _USUAL if usual else ""
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
