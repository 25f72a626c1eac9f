"""Define options, arguments, the progress bar and safe file names that several commands share."""

import re
import signal
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

import click
import msgspec

from harness.peers.table import default_folder

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

_POLL_SECONDS: Final = 0.2


def target_options(*, has_default: bool) -> Decorator:
    """Return the options that name clients under test: `-n`, `-a`, `--client` and `--gateway`.

    `--client` is short for `-n client:CMD`, and `--gateway` with its options for `-n gateway:URL`.

    Args:
        has_default: whether the command selects clients itself if the user gives none of these
            options; see `harness.runs.request`.
    """
    text = (
        " Default: the {} of the project, or else all conforming ones. If you pass only {}, none."
    )

    def option(flag: str, kind: str, parameter: str, about: str, other: str) -> Decorator:
        default = text.format(f"{kind}s", other) if has_default else ""
        about = f"Name or module:callable of {about}. Repeatable.{default}"
        names = (flag, f"--{kind}", parameter)
        return click.option(*names, multiple=True, metavar="NAME", help=about)

    normalizer = option("-n", "normalizer", "names", "a normalizer", "-a")
    agent = option("-a", "agent", "agents", "an agent, for conversations", "-n")
    client = click.option(
        "--client",
        "clients",
        multiple=True,
        metavar="CMD",
        help="Command of a client in any language, such as 'node client.mjs'. Repeatable.",
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_clients(
            *values: object,
            names: tuple[str, ...],
            clients: tuple[str, ...],
            gateway: str | None,
            upstream: int | None,
            read_with: str | None,
            **others: object,
        ) -> object:
            given = [f"client:{each}" for each in clients]
            given += _gateway_name(gateway, upstream, read_with)
            return command(*values, names=(*names, *given), **others)

        return normalizer(agent(client(_gateway_options(with_clients))))

    return decorate


def _gateway_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that describe a running gateway."""
    gateway = click.option(
        "--gateway",
        metavar="URL",
        help="Endpoint of a running gateway between two APIs, such as "
        "http://127.0.0.1:4000/v1/messages.",
    )
    upstream = click.option(
        "--upstream",
        type=click.IntRange(1, 65_535),
        metavar="PORT",
        help="Port of 127.0.0.1 that the gateway asks as its provider. The harness plays it.",
    )
    read_with = click.option(
        "--read-with",
        metavar="NAME",
        help="Normalizer that reads the answers of the gateway, such as anthropic-sdk. Default: "
        "the readers of the harness.",
    )
    return gateway(upstream(read_with(command)))


def _gateway_name(gateway: str | None, upstream: int | None, read_with: str | None) -> list[str]:
    """Return the name of the normalizer of a gateway; [] without the option.

    Raises:
        UsageError: one of the options needs another one.
    """
    if gateway is None:
        if upstream is not None or read_with is not None:
            raise click.UsageError("--upstream and --read-with need --gateway URL")
        return []
    if upstream is None:
        raise click.UsageError("--gateway needs --upstream PORT, which the gateway asks")
    reader = f" read-with={read_with}" if read_with else ""
    return [f"gateway:{gateway} upstream={upstream}{reader}"]


def format_option(*styles: str) -> Decorator:
    """Return the option `--format`; the first style is the default."""
    return click.option(
        "--format",
        "style",
        type=click.Choice(styles),
        default=styles[0],
        show_default=True,
        help="Output format.",
    )


def echo_result(style: str, result: object, lines: Iterable[str]) -> None:
    """Print `result` as one line of JSON if `style` is `json`, or else print `lines`."""
    click.echo(msgspec.json.encode(result).decode() if style == "json" else "\n".join(lines))


def output_option(help_text: str, *, default: str | None, is_folder: bool = True) -> Decorator:
    """Return the option `-o`."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, file_okay=not is_folder),
        default=default,
        show_default=default is not None,
        help=help_text,
    )


def only_once(
    _context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> str | None:
    """Return the one value of an option; refuse more, because click would use the last one only.

    Raises:
        BadParameter: the option was given several times.
    """
    if len(values) > 1:
        raise click.BadParameter(f"expected it once, found it {len(values)} times", param=option)
    return values[0] if values else None


def peers_folder_option() -> Decorator:
    """Return the option `--folder`, the folder of the environments of peers."""
    return click.option(
        "--folder",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="HARNESS_PEERS",
        default=default_folder,
        help="Folder of the environments. Default: HARNESS_PEERS, or else the user's cache.",
    )


def jobs_option(default: str) -> Decorator:
    """Return the option `-j`; `default` is text that describes the number without the option."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(min=1), help=f"Number of processes. Default: {default}."
    )


def wait_for_interrupt(
    address: str, note: str = "", *, meanwhile: Callable[[], None] = lambda: None
) -> None:
    """Print the address of a server, and wait for an interrupt or SIGTERM.

    If there is a note, the function prints it to standard error first. It calls `meanwhile` a few
    times in each second.

    It ignores further signals, because an exception in the shutdown of the server would leave its
    threads running. The command `timeout` sends two signals, and a user may press Ctrl-C again.
    """
    interrupted = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    if note:
        click.echo(note, err=True)
    click.echo(address)
    while not interrupted:
        meanwhile()
        time.sleep(_POLL_SECONDS)


evidence_option: Final = click.option(
    "--evidence",
    type=click.Choice(["own"]),
    callback=lambda _context, _option, value: value or "",
    help="own: judge third-party clients also by streams that no server is known to send. They "
    "violate SHOULD rules at most. Default: that of the project, or else leave these out.",
)
on_option: Final = click.option(
    "--on",
    default="local",
    show_default=True,
    metavar="WHERE",
    help="Where it runs: `local` processes, or the Dask cluster of a scheduler, dask://HOST:PORT.",
)
# No module below the command line reads the current date.
today_option: Final = click.option(
    "--today",
    type=click.DateTime(["%Y-%m-%d"]),
    callback=lambda _context, _option, value: (value or datetime.now(UTC)).date(),
    help="Date to compare expiry dates with. Default: today, UTC.",
)
accept_option: Final = click.option(
    "--accept-new", is_flag=True, help="Add new failures to the baseline of the project."
)
port_option: Final = click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default=True,
    help="Port to listen on; 0 for any free port.",
)
open_option: Final = click.option(
    "--open", "open_page", is_flag=True, help="Open the page in a browser."
)


_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_CHARS: Final = 120


def safe_name(name: str) -> str:
    """Return `name` as a file name that is safe on every file system and never hidden."""
    return _UNSAFE.sub("-", name)[:_MAX_CHARS].strip(".-") or "unnamed"
