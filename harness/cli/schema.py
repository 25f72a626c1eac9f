"""`harness schema NAME`: print the JSON Schema of a file format or an output format."""

from collections.abc import Callable
from inspect import cleandoc
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


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema NAME of `SCHEMAS`, the same with each version of Python and msgspec.

    Python 3.13 and msgspec 0.23 remove the indentation of docstrings, older ones do not.
    """
    return _with_clean_descriptions(SCHEMAS[name]())


def _with_clean_descriptions(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        key: cleandoc(value) if key == "description" and isinstance(value, str) else _clean(value)
        for key, value in schema.items()
    }


def _clean(value: Any) -> Any:  # noqa: ANN401 - a part of a JSON Schema
    match value:
        case dict():
            return _with_clean_descriptions(value)
        case list() | tuple():
            return [_clean(item) for item in value]
        case _:
            return value


def _scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, including the key `emulate`."""
    schema, recipe = scenario_file.schema(), msgspec.json.schema(EmulateKey)["$defs"]
    properties = recipe.pop("EmulateKey")["properties"]
    in_text = msgspec.json.schema(TextFormKey)["$defs"]
    properties["emulate"]["anyOf"].append(in_text.pop("TextFormKey")["properties"]["emulate"])
    schema["$defs"]["ScenarioFile"]["properties"] |= properties
    schema["$defs"] |= recipe | in_text
    return schema


def _client_protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema of all messages between the harness and a client."""
    lines, defs = msgspec.json.schema_components((Line, Reply), ref_template="#/$defs/{name}")
    sides = zip(("from harness", "from the client"), lines, strict=True)
    return {"anyOf": [{"title": title, **side} for title, side in sides], "$defs": defs}


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "scenario": _scenario_schema,
    "result": lambda: msgspec.json.schema(Result),
    "run": lambda: msgspec.json.schema(Header | Result | Case | ConversationCase | Footer),
    "summary": lambda: msgspec.json.schema(RunSummary),
    "gate": lambda: msgspec.json.schema(Gate),
    "comparison": lambda: msgspec.json.schema(Comparison),
    "project": lambda: msgspec.json.schema(Table),
    "expectations": lambda: msgspec.json.schema(ExpectationsFile),
    "baseline": lambda: msgspec.json.schema(Baseline),
    "client-protocol": _client_protocol_schema,
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
    click.echo(msgspec.json.format(msgspec.json.encode(schema_of(name)), indent=2).decode())
