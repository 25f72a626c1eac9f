"""`harness doctor`: what is unused, uncovered, unmatched or unscrubbed in what ships."""

from typing import Literal

import click
import msgspec

from harness.cli.exits import EXIT_GATE_FAILED
from harness.runs.upkeep import checks

_SHOWN = 10


@click.command("doctor")
@click.option("--format", "style", type=click.Choice(["pretty", "json"]), default="pretty")
def doctor_command(style: Literal["pretty", "json"]) -> int:
    """Check scenarios, cassettes, catalogue, rules and miniatures against each other."""
    done = []
    for check in checks():
        done.append(check)
        if style == "pretty":
            click.echo(f"{'ok  ' if check.ok else 'FAIL'}  {check.check} ({check.count})")
            for line in check.detail[:_SHOWN]:
                click.echo(f"      {line}")
            if len(check.detail) > _SHOWN:
                click.echo(f"      and {len(check.detail) - _SHOWN} more")
    if style == "json":
        click.echo(msgspec.json.encode(done).decode())
    return 0 if all(check.ok for check in done) else EXIT_GATE_FAILED
