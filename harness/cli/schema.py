"""`harness schema NAME`: the JSON Schema of a file that people write or machines read."""

from collections.abc import Callable
from typing import Any

import click
import msgspec

from harness.judging.case import Case
from harness.judging.conversations.case import ConversationCase
from harness.judging.results import Result
from harness.judging.scenario_file import schema as scenario_schema
from harness.project import Table
from harness.reporting.text.files import Badge
from harness.runs.baseline import Baseline
from harness.runs.compare import Comparison
from harness.runs.expectations import ExpectationsFile
from harness.runs.gate import Gate
from harness.runs.run import Footer, Header
from harness.runs.summary import Summary

_SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "scenario": scenario_schema,
    "result": lambda: msgspec.json.schema(Result),
    "run": lambda: msgspec.json.schema(Header | Result | Case | ConversationCase | Footer),
    "summary": lambda: msgspec.json.schema(Summary),
    "gate": lambda: msgspec.json.schema(Gate),
    "comparison": lambda: msgspec.json.schema(Comparison),
    "project": lambda: msgspec.json.schema(Table),
    "expectations": lambda: msgspec.json.schema(ExpectationsFile),
    "baseline": lambda: msgspec.json.schema(Baseline),
    "badge": lambda: msgspec.json.schema(Badge),
}


@click.command("schema")
@click.argument("name", type=click.Choice(sorted(_SCHEMAS)))
def schema_command(name: str) -> None:
    """Print the JSON Schema of NAME."""
    click.echo(msgspec.json.format(msgspec.json.encode(_SCHEMAS[name]()), indent=2).decode())
