"""The command `harness`: one file a command, loaded when it is called.

Exit codes: 0 ok, 1 gate failed, 2 usage or unreadable input, 3 internal, 5 nothing selected,
130 interrupted.
"""

import difflib
import errno
import importlib
import sys

import click

from harness import __version__
from harness.cli.exits import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_USAGE
from harness.errors import HarnessError

# name -> module:attribute; a command's module is imported when it is called or helped.
_COMMANDS = {
    "run": "harness.cli.run:run_command",
    "gate": "harness.cli.gate:gate_command",
    "report": "harness.cli.report:report_command",
    "view": "harness.cli.view:view_command",
    "compare": "harness.cli.compare:compare_command",
    "fuzz": "harness.cli.fuzz:fuzz_command",
    "replay": "harness.cli.replay:replay_command",
    "show": "harness.cli.show:show_command",
    "serve": "harness.cli.serve:serve_command",
    "record": "harness.cli.record:record_command",
    "audit": "harness.cli.audit:audit_command",
    "import": "harness.cli.import_:import_command",
    "new": "harness.cli.new:new_command",
    "list": "harness.cli.list_:list_command",
    "quirks": "harness.cli.quirks:quirks_command",
    "prompt": "harness.cli.prompt:prompt_command",
    "schema": "harness.cli.schema:schema_command",
    "doctor": "harness.cli.doctor:doctor_command",
}


class _LazyGroup(click.Group):
    """A group whose commands are imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command with the nearest one."""
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        return command if isinstance(command, click.Command) else None


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Replay recorded LLM streams through normalizers, judge them, and rank what came out."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = cli(prog_name="harness", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = EXIT_USAGE
    except HarnessError as error:
        _refuse(error)
        code = EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except OSError as error:
        code = _full(error)
    except Exception as error:  # noqa: BLE001 - the last door: a bug of the harness has its own code
        _internal(error)
        code = EXIT_INTERNAL
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(error: HarnessError) -> None:
    from harness.reporting.visible import marked  # noqa: PLC0415 - only an error needs it

    # Names of files are hostile too: none may drive the terminal.
    told = "\n".join(marked(line) for line in str(error).split("\n"))
    click.echo(f"error: {told}", err=True)


def _full(error: OSError) -> int:
    """Say that a disk is full, which is nobody's bug; any other error of the system is one."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        _internal(error)
        return EXIT_INTERNAL
    click.echo(f"error: cannot write: {error.strerror}\n  Make room, or write elsewhere.", err=True)
    return EXIT_USAGE


def _internal(error: Exception) -> None:
    import traceback  # noqa: PLC0415 - only a crash needs it

    traceback.print_exception(error)
    click.echo("internal error of harness: please report it with the lines above", err=True)
