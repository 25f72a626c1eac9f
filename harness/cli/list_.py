"""`harness list KIND`: list what is bundled and installed, as a table or JSON."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, TypeAlias

import click

from harness import shipped
from harness.cli.options import echo_result, format_option
from harness.cli.quirks import quirk_rows
from harness.conversation.prompts import PROMPTS
from harness.dialects.table import DIALECTS
from harness.judging.rules import RULES
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.recording.identify import age_text
from harness.reporting.visible import aligned_columns
from harness.results.dialect_titles import DIALECT_TITLES
from harness.results.duties import levels_text, rulings_of
from harness.runs.declared import available_agents, available_normalizers, is_bundled
from harness.runs.requirement_sets import load_set, set_names
from harness.text_calls import TEXT_DIALECTS
from harness.wire import cassette_file

Row: TypeAlias = dict[str, Any]


def _row(item: object, *fields: str, **others: object) -> Row:
    """Return the `fields` of `item` as a row; a value in `others` replaces the item's value."""
    row = {name: others.pop(name) if name in others else getattr(item, name) for name in fields}
    sets = {name: sorted(value) for name, value in row.items() if isinstance(value, frozenset)}
    return row | sets | others


def _scenarios() -> Iterator[Row]:
    root = shipped.bundled_folder("scenarios")
    fields = ("id", "title", "cassette", "quirks", "capabilities", "blame", "text_dialect")
    for path in find_scenarios([root]):
        scenario = load_scenario(path, root)
        kind = scenario.kind
        stated = scenario.evidence
        evidence = {"evidence": stated.kind, "place": stated.place} if stated else {}
        yield _row(scenario, *fields, "policies", kind=kind, **evidence)


def _cassettes() -> Iterator[Row]:
    root = shipped.bundled_folder("cassettes")
    for path in sorted(root.rglob("*.yaml")):
        cassette = cassette_file.load_cassette(path, root)
        yield _row(
            cassette,
            *("id", "provider", "model", "prompt", "dialect", "origin"),
            origin=cassette.origin.kind,
            at=cassette.origin.at,
            age=age_text(cassette.origin),
            interactions=len(cassette.interactions),
            bytes=sum(len(part.body) for part in cassette.interactions),
        )


def _normalizers() -> Iterator[Row]:
    for each in available_normalizers():
        missing = f"not installed (extra {each.extra or 'unknown'}): " if each.missing else ""
        yield _row(
            each,
            *("name", "kind", "role", "installed", "summary", "dialects", "capabilities"),
            *("text_dialects", "streams", "policies", "breaks", "hides"),
            installed=not each.missing,
            summary=missing + each.summary,
            bundled=is_bundled(each.name, is_agent=False),
        )


def _agents() -> Iterator[Row]:
    fields = ("name", "role", "summary", "dialects", "prompts", "policies", "breaks", "hides")
    for each in available_agents():
        yield _row(each, *fields, bundled=is_bundled(each.name, is_agent=True))


def _dialects() -> Iterator[Row]:
    cassettes = Counter(row["dialect"] for row in _cassettes())
    for dialect in DIALECTS.values():
        shown = {"title": DIALECT_TITLES[dialect.name], "cassettes": cassettes[dialect.name]}
        yield _row(dialect, "name", "title", "content_type", **shown)


def _text_dialects() -> Iterator[Row]:
    """Yield the text dialects, with the normalizers that support each."""
    normalizers = [each for each in available_normalizers() if each.role != "mutant"]
    scenarios = Counter(row["text_dialect"] for row in _scenarios())
    for name, dialect in TEXT_DIALECTS.items():
        supporting = [each.name for each in normalizers if name in each.text_dialects]
        shown = {"scenarios": scenarios[name], "normalizers": supporting}
        yield _row(dialect, "name", "title", name=name, **shown)


def _prompts() -> Iterator[Row]:
    for prompt in PROMPTS.values():
        yield _row(prompt, "id", "protocol", "language", "title", "text_dialects")


def _rules() -> Iterator[Row]:
    for rule in RULES.values():
        yield _row(
            rule.duty,
            *("id", "levels", "title", "outcome", "quirks", "about", "duty", "why", "rulings"),
            id=rule.id,
            outcome=rule.outcome,
            levels=levels_text(rule.id),
            rulings=rulings_of(rule.id),
            source=list(rule.duty.sources),
        )


def _sets() -> Iterator[Row]:
    for name in set_names():
        found = load_set(name)
        lists = {field: getattr(found, field) for field in found.__struct_fields__}
        counts = {field: len(RULES if each is None else each) for field, each in lists.items()}
        yield {"name": name, **counts}


# The rows of each kind, and the columns that the text output has.
_KINDS: dict[str, tuple[Callable[[], Iterator[Row]], tuple[str, ...]]] = {
    "scenarios": (_scenarios, ("id", "evidence", "title")),
    "cassettes": (_cassettes, ("id", "origin", "bytes", "age")),
    "normalizers": (_normalizers, ("name", "role", "summary")),
    "agents": (_agents, ("name", "role", "summary")),
    "dialects": (_dialects, ("name", "cassettes", "title")),
    "text-dialects": (_text_dialects, ("name", "scenarios", "title", "normalizers")),
    "prompts": (_prompts, ("id", "protocol", "language", "title")),
    "rules": (_rules, ("id", "levels", "title", "source")),
    "quirks": (quirk_rows, ("id", "severity", "title")),
    "sets": (_sets, ("name", "scenarios", "recordings", "rules")),
}


# Kinds whose rows have a role, and the sections of their text output.
_WITH_ROLES: Final = ("normalizers", "agents")
_SECTIONS: Final = {
    "own": "of this project, or installed by other packages",
    "conforming": "bundled: they must conform, and run by default",
    "peer": "bundled adapters of third-party libraries",
    "known-bad": "bundled, known-bad: each reproduces bugs of real clients",
    "mutant": "bundled mutants: each has one fault that a rule finds, as `harness doctor` checks",
}


def _section(row: Row) -> str:
    return row["role"] if row["bundled"] else "own"


def _sectioned_lines(rows: list[Row], columns: tuple[str, ...]) -> Iterator[str]:
    """Yield the rows in sections with headings; the section of the mutants comes last."""
    for section, heading in _SECTIONS.items():
        table = [
            [_text(row[column]) for column in columns if column != "role"]
            for row in rows
            if _section(row) == section
        ]
        if table:
            yield f"{heading} ({len(table)})"
            yield from (f"  {line}" for line in aligned_columns(table))
            yield ""


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@click.command("list")
@click.argument("kind", type=click.Choice(list(_KINDS)))
@format_option("pretty", "json")
def list_command(kind: str, style: Literal["pretty", "json"]) -> None:
    """List everything of one KIND, bundled and installed."""
    iter_rows, columns = _KINDS[kind]
    rows = list(iter_rows())
    if rows or style == "json":
        if kind in _WITH_ROLES:
            lines = list(_sectioned_lines(rows, columns))[:-1]
        else:
            lines = list(aligned_columns([[_text(row[name]) for name in columns] for row in rows]))
        echo_result(style, rows, lines)
    else:
        click.echo(f"no {kind}", err=True)
