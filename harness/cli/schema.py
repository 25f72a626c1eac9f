"""`harness schema NAME`: print the JSON Schema of a file format or an output format."""

from collections.abc import Callable
from typing import Any

import click
import msgspec

from harness.checks.lint import LintReport
from harness.checks.text_fixtures import TextFixture
from harness.emulation.recipe import EmulateKey, TextFormKey
from harness.judging import scenario_file
from harness.judging.contract.changes import ContractDiff
from harness.measuring.drift import Drift
from harness.normalizers.client.lines import Line, Reply
from harness.project import Table
from harness.reporting.text.files import Badge
from harness.results.case import Case
from harness.results.conversation_case import ConversationCase
from harness.results.result import Result
from harness.results.run import Footer, Header
from harness.verdicts.baseline import Baseline
from harness.verdicts.compare import Comparison
from harness.verdicts.expectations import ExpectationsFile
from harness.verdicts.gate import Gate, RunSummary


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, including the key `emulate`."""
    schema, recipe = scenario_file.schema(), msgspec.json.schema(EmulateKey)["$defs"]
    properties = recipe.pop("EmulateKey")["properties"]
    in_text = msgspec.json.schema(TextFormKey)["$defs"]
    properties["emulate"]["anyOf"].append(in_text.pop("TextFormKey")["properties"]["emulate"])
    schema["$defs"]["ScenarioFile"]["properties"] |= properties
    schema["$defs"] |= recipe | in_text
    return schema


def client_protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema of all messages between the harness and a client."""
    lines, defs = msgspec.json.schema_components((Line, Reply), ref_template="#/$defs/{name}")
    sides = zip(("from harness", "from the client"), lines, strict=True)
    return {"anyOf": [{"title": title, **side} for title, side in sides], "$defs": defs}


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "scenario": scenario_schema,
    "result": lambda: msgspec.json.schema(Result),
    "run": lambda: msgspec.json.schema(Header | Result | Case | ConversationCase | Footer),
    "summary": lambda: msgspec.json.schema(RunSummary),
    "gate": lambda: msgspec.json.schema(Gate),
    "comparison": lambda: msgspec.json.schema(Comparison),
    "project": lambda: msgspec.json.schema(Table),
    "expectations": lambda: msgspec.json.schema(ExpectationsFile),
    "baseline": lambda: msgspec.json.schema(Baseline),
    "client-protocol": client_protocol_schema,
    "text-fixture": lambda: msgspec.json.schema(TextFixture),
    "drift": lambda: msgspec.json.schema(Drift),
    "contract-diff": lambda: msgspec.json.schema(ContractDiff),
    "lint": lambda: msgspec.json.schema(LintReport),
    "badge": lambda: msgspec.json.schema(Badge),
}


@click.command("schema")
@click.argument("name", type=click.Choice(sorted(SCHEMAS)))
def schema_command(name: str) -> None:
    """Print the JSON Schema of NAME."""
    click.echo(msgspec.json.format(msgspec.json.encode(SCHEMAS[name]()), indent=2).decode())
