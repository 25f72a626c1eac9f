"""`harness quirks`: the catalogued deviations of real providers and models, with their coverage.

Without ids, it prints one line for each quirk with the number of scenarios that show it. With
ids, it prints the complete entries of the catalogue.
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import click
import msgspec

from harness import shipped
from harness.cli.options import format_option
from harness.errors import UsageError
from harness.files.names import nearest
from harness.judging.catalogue import Group, load_catalogue, load_excluded
from harness.judging.rules import RULES
from harness.judging.scenario_file import find_scenarios, load_scenario

Row: TypeAlias = dict[str, Any]

_WIDTH: Final = 100
_INDENT: Final = 13
_GROUPS: Final[dict[Group, str]] = {
    "A": "framing and transport",
    "B": "deltas",
    "C": "arguments",
    "D": "text calls",
    "E": "conversation",
    "F": "other dialects",
}


@click.command("quirks")
@click.argument("quirks", nargs=-1, metavar="[QUIRK]...")
@format_option("pretty", "json")
def quirks_command(quirks: tuple[str, ...], style: Literal["pretty", "json"]) -> None:
    """List the catalogued quirks with their coverage, or describe each QUIRK.

    The columns are id, severity, number of scenarios that show the quirk, and title. If no scenario
    can show a quirk, it is `excluded`, and its description contains the reason.
    """
    rows = {row["id"]: row for row in quirk_rows()}
    for quirk in quirks:
        require_quirk(quirk, tuple(rows))
    chosen = [rows[quirk] for quirk in quirks or rows]
    if style == "json":
        click.echo(msgspec.json.encode(chosen).decode())
    else:
        click.echo("\n".join(_explain_lines(chosen) if quirks else _list_lines(chosen)))


def require_quirk(quirk: str, known: Sequence[str]) -> None:
    """Reject an id that is not in the catalogue.

    Raises:
        UsageError: with the nearest id.
    """
    if quirk not in known:
        raise UsageError(
            f"unknown quirk {quirk!r}",
            where="QUIRK",
            hint=f"{nearest(quirk.upper(), known)} Run `harness quirks` to list all.".strip(),
        )


def quirk_rows() -> Iterator[Row]:
    """Yield each quirk with its scenarios, its rules, and the reason if no scenario shows it."""
    root, catalogue = shipped.bundled_folder("scenarios"), shipped.bundled_folder("catalogue")
    covered: dict[str, list[str]] = {}
    for path in find_scenarios([root]):
        scenario = load_scenario(path, root)
        for cited in scenario.quirks:
            covered.setdefault(cited, []).append(scenario.id)
    excluded = load_excluded(catalogue / "excluded.yaml")
    rules = [(rule.id, rule.quirks) for rule in RULES.values()]
    for quirk in load_catalogue(catalogue / "quirks").values():
        yield {
            **msgspec.to_builtins(quirk),
            "scenarios": covered.get(quirk.id, []),
            "rules": [rule for rule, cited in rules if quirk.id in cited],
            "excluded": excluded.get(quirk.id, ""),
        }


def _list_lines(rows: Sequence[Row]) -> Iterator[str]:
    wide = {key: max(len(row[key]) for row in rows) for key in ("id", "severity")}
    for row in rows:
        shown = "excluded" if row["excluded"] else str(len(row["scenarios"]))
        yield (
            f"{row['id']:<{wide['id']}}  {row['severity']:<{wide['severity']}}  "
            f"{shown:>8}  {row['title']}"
        )


def _explain_lines(rows: Sequence[Row]) -> Iterator[str]:
    for n, row in enumerate(rows):
        if n:
            yield ""
        yield f"{row['id']}  {row['title']}"
        yield from _entry("severity", row["severity"])
        yield from _entry("group", f"{row['group']}, {_GROUPS[row['group']]}")
        yield from _entry("summary", row["summary"])
        yield from _entry("rule", row["rule"])
        yield from _entry("rules", ", ".join(row["rules"]) or "none")
        yield from _entry("scenarios", ", ".join(row["scenarios"]) or f"none: {row['excluded']}")
        for url in row["references"]:
            yield from _entry("reported", url)


def _entry(label: str, text: str) -> Iterator[str]:
    lead = f"  {label:<{_INDENT - 2}}"
    yield from textwrap.wrap(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
