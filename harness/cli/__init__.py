"""The command `harness`: one file for each command, imported when the command is called.

Exit codes: 0 ok, 1 gate failed, 2 usage or unreadable input, 3 internal, 5 nothing selected,
130 interrupted, 141 the reader of the output has closed it.
"""

import errno
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from harness import __version__
from harness.cli.interrupts import Interrupts
from harness.errors import HarnessError
from harness.wording import nearest_name

EXIT_GATE_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 3
EXIT_NOTHING_SELECTED = 5
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141  # as a shell reports a process that SIGPIPE ended


_INTERRUPTS = Interrupts(EXIT_INTERRUPTED)

# Name and summary. Commands are imported one by one, because some need large libraries.
_COMMANDS = {
    "run": "Replay and judge scenarios, rank normalizers and models, apply the gate.",
    "gate": "Apply the gate rules of the project to an existing run.",
    "report": "Write the HTML report of a run, and machine-readable files.",
    "view": "Serve the report of a run on 127.0.0.1, also while it is in progress.",
    "compare": "Compare two runs.",
    "measure": "Measure turns in logs of any size: rates by model, prompt, provider and day.",
    "drift": "Test whether rates in the rows of `measure` fell on a day, and exit with code 1.",
    "query": "Answer SQL about the rows of `measure` or about a run.",
    "lint": "List what the streams of a server violate of the contract of their API.",
    "contract": "Compare the members of recorded streams, old and new.",
    "fuzz": "Search for inputs on which normalizers and agents fail.",
    "replay": "Replay one cell, and print its reads, frames and deltas.",
    "repro": "Print a script that shows a failure to the maintainers of a library.",
    "cost": "Measure time and memory of clients, and what they hold back.",
    "show": "Print the reads and events of a cassette.",
    "serve": "Serve a cassette as a provider on 127.0.0.1.",
    "record": "Record cassettes from a live or local server.",
    "audit": "Search cassettes for secrets.",
    "import": "Convert recordings of other tools to cassettes.",
    "export": "Write scenarios as plain JSON, for tests in other languages.",
    "cassettes": "Write the emulated cassettes of scenarios.",
    "new": "Write a cassette of a quirk or a pasted stream, and a draft of its scenario.",
    "list": "List scenarios, cassettes, normalizers, rules and more.",
    "quirks": "List the catalogued quirks, or describe some.",
    "peers": "Install third-party libraries, judge each in an environment, compare them.",
    "prompt": "Print the system text of a prompt.",
    "schema": "Print the JSON Schema of a file or an output.",
    "init": "Write the files with which a repository tests its client.",
    "doctor": "Check a project, or that the bundled data is consistent.",
}


@contextmanager
def _exit_quietly_on_closed_pipe() -> Iterator[None]:
    """Exit without a message if the reader closes the output, as `head` does.

    Without this, click would exit with code 1, which means here that the gate failed.
    """
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):  # Python flushes their buffers at exit
            os.dup2(nowhere, stream.fileno())
        sys.exit(EXIT_CLOSED_PIPE)


class _LazyGroup(click.Group):
    """The group of all commands, which imports the module of a command only when it is called."""

    @_exit_quietly_on_closed_pipe()
    def make_context(self, *args: Any, **more: Any) -> click.Context:  # noqa: ANN401 - click's own
        """Parse the command line; this also prints help."""
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
        """Reject an unknown command and suggest the nearest one."""
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = nearest_name(args[0], _COMMANDS)
            hint = f" Did you mean {near!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        # The names of these modules would hide a keyword and a built-in type.
        module = f"{cmd_name}_" if cmd_name in {"import", "list"} else cmd_name
        command = getattr(importlib.import_module(f"harness.cli.{module}"), f"{cmd_name}_command")
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Replay recorded LLM streams through normalizers, and judge and rank the results."""


def main() -> None:
    """Run the command line in this process, and exit with its code."""
    try:
        _INTERRUPTS.watch()
        run_command_line()
    except KeyboardInterrupt:  # before the command began
        sys.exit(EXIT_INTERRUPTED)


@_exit_quietly_on_closed_pipe()
def run_command_line() -> None:
    """Run the command line and exit with its code."""
    try:
        Path.cwd()
    except FileNotFoundError:
        click.echo("error: the working folder was removed\n  Change to another folder.", err=True)
        sys.exit(EXIT_USAGE)
    try:
        code = cli(prog_name="harness", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = EXIT_USAGE
    except HarnessError as error:
        print_error(error)
        code = EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        _INTERRUPTS.leave()
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except OSError as error:
        code = _print_os_error(error)
    except Exception as error:  # noqa: BLE001 - a bug of the harness has a separate exit code
        _print_crash(error)
        code = EXIT_INTERNAL
    sys.exit(code if isinstance(code, int) else 0)


def print_error(error: HarnessError | str) -> None:
    """Print an error to standard error."""
    from harness.reporting.visible import marked  # noqa: PLC0415 - only an error needs it

    # File names are hostile too: a message must not contain control characters.
    text = "\n".join(marked(line) for line in str(error).split("\n"))
    click.echo(f"error: {text}", err=True)


def _print_os_error(error: OSError) -> int:
    """Print that a file cannot be written, or a crash if the error has another cause.

    Returns:
        The exit code.
    """
    if error.errno in (errno.EMFILE, errno.ENFILE):
        click.echo(
            f"error: {error.strerror}\n  Raise the limit of open files, such as with "
            "`ulimit -n 1024`.",
            err=True,
        )
        return EXIT_USAGE
    if error.errno == errno.ENOENT and "temporary directory" in str(error.strerror):
        click.echo(
            "error: no folder for temporary files can be written\n  Free disk space, or set TMPDIR "
            "to another folder.",
            err=True,
        )
        return EXIT_USAGE
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS):
        _print_crash(error)
        return EXIT_INTERNAL
    click.echo(
        f"error: cannot write: {error.strerror}\n  Free disk space, or choose another folder.",
        err=True,
    )
    return EXIT_USAGE


def _print_crash(error: Exception) -> None:
    import traceback  # noqa: PLC0415 - only a crash needs it

    traceback.print_exception(error)
    click.echo("internal error of harness: please report it with the lines above", err=True)
