"""The command `harness`: one file a command, loaded when it is called.

Exit codes: 0 ok, 1 gate failed, 2 usage or unreadable input, 3 internal, 5 nothing selected,
130 interrupted, 141 nobody reads the output any more.
"""

import errno
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from harness import __version__
from harness.errors import HarnessError
from harness.files.names import nearest_name

EXIT_GATE_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 3
EXIT_NOTHING_SELECTED = 5
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141  # what a shell says of a program that SIGPIPE ended


# name -> module, and what it does; a command's module is imported when it is called or helped.
_COMMANDS = {
    "run": ("run", "Replay, judge, rank, and apply the gate."),
    "gate": ("gate", "Judge a run that is there already, by the rules of the project."),
    "report": ("report", "Write the HTML page of a run, and files for machines."),
    "view": ("view", "Serve the page of a run, finished or not, on 127.0.0.1."),
    "compare": ("compare", "Say what changed from one run to another."),
    "fuzz": ("fuzz", "Search for inputs that normalizers and agents get wrong."),
    "replay": ("replay", "Replay one cell again, read by read and delta by delta."),
    "show": ("show", "Print a cassette read by read and event by event."),
    "serve": ("serve", "Play a cassette to any client on 127.0.0.1."),
    "record": ("record", "Record cassettes from a live or local server."),
    "audit": ("audit", "Look for secrets in cassettes."),
    "import": ("import_", "Turn recordings of other tools into cassettes."),
    "cassettes": ("cassettes", "Write the emulated cassettes of scenarios."),
    "new": ("new", "Write a cassette that shows a quirk, and its scenario."),
    "list": ("list_", "List scenarios, cassettes, normalizers, rules and the like."),
    "quirks": ("quirks", "List the catalogued quirks, or explain some."),
    "prompt": ("prompt", "Print the system text of a prompt."),
    "schema": ("schema", "Print the JSON Schema of a file or an output."),
    "doctor": ("doctor", "Check what ships against itself."),
}


@contextmanager
def _exit_quietly_on_closed_pipe() -> Iterator[None]:
    """Leave in silence once the reader of the output has gone, as `head` does.

    Not left to click: its code is 1, which says here that the gate failed.
    """
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):  # what they still hold is flushed at the end
            os.dup2(nowhere, stream.fileno())
        sys.exit(EXIT_CLOSED_PIPE)


class _LazyGroup(click.Group):
    """A group whose commands are imported one by one."""

    @_exit_quietly_on_closed_pipe()
    def make_context(self, *args: Any, **more: Any) -> click.Context:  # noqa: ANN401 - click's own
        """Read the command line; help is printed here."""
        return super().make_context(*args, **more)

    @_exit_quietly_on_closed_pipe()
    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command."""
        return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command with the nearest one."""
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = nearest_name(args[0], _COMMANDS)
            hint = f" Did you mean {near!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        command = getattr(importlib.import_module(f"harness.cli.{module}"), f"{cmd_name}_command")
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, what) for name, (_, what) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Replay recorded LLM streams through normalizers, judge them, and rank what came out."""


@_exit_quietly_on_closed_pipe()
def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = cli(prog_name="harness", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = EXIT_USAGE
    except HarnessError as error:
        _print_error(error)
        code = EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except OSError as error:
        code = _print_os_error(error)
    except Exception as error:  # noqa: BLE001 - the last door: a bug of the harness has its own code
        _print_crash(error)
        code = EXIT_INTERNAL
    sys.exit(code if isinstance(code, int) else 0)


def _print_error(error: HarnessError) -> None:
    from harness.reporting.visible import marked  # noqa: PLC0415 - only an error needs it

    # Names of files are hostile too: none may drive the terminal.
    told = "\n".join(marked(line) for line in str(error).split("\n"))
    click.echo(f"error: {told}", err=True)


def _print_os_error(error: OSError) -> int:
    """Say that a disk is full, which is nobody's bug; any other error of the system is one."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        _print_crash(error)
        return EXIT_INTERNAL
    click.echo(f"error: cannot write: {error.strerror}\n  Make room, or write elsewhere.", err=True)
    return EXIT_USAGE


def _print_crash(error: Exception) -> None:
    import traceback  # noqa: PLC0415 - only a crash needs it

    traceback.print_exception(error)
    click.echo("internal error of harness: please report it with the lines above", err=True)
