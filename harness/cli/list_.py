"""`harness list KIND`: what is bundled and what is installed, as a table or JSON."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import click
import msgspec

from harness import shipped
from harness.cli.options import format_option
from harness.cli.quirks import quirk_rows
from harness.conversation.discovery import available_agents
from harness.conversation.prompts import PROMPTS
from harness.dialects.table import DIALECTS
from harness.judging.rules import RULES
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.normalizers.discovery import available_normalizers
from harness.normalizers.protocol import Normalizer
from harness.recording.identify import age_text
from harness.reporting.visible import aligned_columns
from harness.text_calls import TEXT_DIALECTS
from harness.wire import cassette_file

Row: TypeAlias = dict[str, Any]


def _scenarios() -> Iterator[Row]:
    root = shipped.bundled_folder("scenarios")
    for path in find_scenarios([root]):
        scenario = load_scenario(path, root)
        yield {
            "id": scenario.id,
            "title": scenario.title,
            "cassette": scenario.cassette,
            "quirks": scenario.quirks,
            "capabilities": scenario.capabilities,
            "blame": scenario.blame,
            "text_dialect": scenario.text_dialect,
            "policies": scenario.policies,
            "kind": "turns" if scenario.conversation is None else "conversation",
        }


def _cassettes() -> Iterator[Row]:
    root = shipped.bundled_folder("cassettes")
    for path in sorted(root.rglob("*.yaml")):
        cassette = cassette_file.load_cassette(path, root)
        yield {
            "id": cassette.id,
            "provider": cassette.provider,
            "model": cassette.model,
            "prompt": cassette.prompt,
            "dialect": cassette.dialect,
            "origin": cassette.origin.kind,
            "at": cassette.origin.at,
            "age": age_text(cassette.origin),
            "interactions": len(cassette.interactions),
            "bytes": sum(len(part.body) for part in cassette.interactions),
        }


def _normalizers() -> Iterator[Row]:
    for normalizer in available_normalizers():
        yield {
            "name": normalizer.name,
            "role": normalizer.role,
            "installed": not normalizer.missing,
            "summary": _summary(normalizer),
            "dialects": sorted(normalizer.dialects),
            "capabilities": sorted(normalizer.capabilities),
            "text_dialects": sorted(normalizer.text_dialects),
            "streams": normalizer.streams,
            "policies": normalizer.policies,
            "breaks": sorted(normalizer.breaks),
        }


def _summary(normalizer: Normalizer) -> str:
    if not normalizer.missing:
        return normalizer.summary
    return f"not installed (extra {normalizer.extra or 'unknown'}): {normalizer.summary}"


def _agents() -> Iterator[Row]:
    """Yield the clients that run complete conversations."""
    for agent in available_agents():
        yield {
            "name": agent.name,
            "role": agent.role,
            "summary": agent.summary,
            "dialects": sorted(agent.dialects),
            "prompts": sorted(agent.prompts),
            "policies": agent.policies,
            "breaks": sorted(agent.breaks),
        }


def _dialects() -> Iterator[Row]:
    root = shipped.bundled_folder("cassettes")
    cassettes = (cassette_file.load_cassette(path, root) for path in root.rglob("*.yaml"))
    ships = Counter(cassette.dialect for cassette in cassettes)
    for dialect in DIALECTS.values():
        yield {
            "name": dialect.name,
            "title": dialect.title,
            "content_type": dialect.content_type,
            "cassettes": ships[dialect.name],
        }


def _text_dialects() -> Iterator[Row]:
    """Yield the text dialects, with the normalizers that support each."""
    normalizers = [each for each in available_normalizers() if each.role != "mutant"]
    shows = Counter(scenario["text_dialect"] for scenario in _scenarios())
    for name, dialect in TEXT_DIALECTS.items():
        yield {
            "name": name,
            "title": dialect.title,
            "scenarios": shows[name],
            "normalizers": [each.name for each in normalizers if name in each.text_dialects],
        }


def _prompts() -> Iterator[Row]:
    for prompt in PROMPTS.values():
        yield {
            "id": prompt.id,
            "protocol": prompt.protocol,
            "language": prompt.language,
            "title": prompt.title,
            "text_dialects": prompt.text_dialects,
        }


def _rules() -> Iterator[Row]:
    for rule in RULES.values():
        yield {
            "id": rule.id,
            "level": rule.level,
            "title": rule.title,
            "outcome": rule.outcome,
            "quirks": rule.quirks,
            "about": rule.about,
        }


_KINDS: dict[str, Callable[[], Iterator[Row]]] = {
    "scenarios": _scenarios,
    "cassettes": _cassettes,
    "normalizers": _normalizers,
    "agents": _agents,
    "dialects": _dialects,
    "text-dialects": _text_dialects,
    "prompts": _prompts,
    "rules": _rules,
    "quirks": quirk_rows,
}
_COLUMNS = {
    "scenarios": ("id", "title"),
    "cassettes": ("id", "origin", "bytes", "age"),
    "normalizers": ("name", "role", "summary"),
    "agents": ("name", "role", "summary"),
    "dialects": ("name", "cassettes", "title"),
    "text-dialects": ("name", "scenarios", "title", "normalizers"),
    "prompts": ("id", "protocol", "language", "title"),
    "rules": ("id", "level", "title"),
    "quirks": ("id", "severity", "title"),
}


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@click.command("list")
@click.argument("kind", type=click.Choice(list(_KINDS)))
@format_option("pretty", "json")
def list_command(kind: str, style: Literal["pretty", "json"]) -> None:
    """List everything of one KIND, bundled and installed."""
    rows = list(_KINDS[kind]())
    if style == "json":
        click.echo(msgspec.json.encode(rows).decode())
    elif not rows:
        click.echo(f"no {kind}", err=True)
    else:
        table = [[_text(row[column]) for column in _COLUMNS[kind]] for row in rows]
        click.echo("\n".join(aligned_columns(table)))
