"""`harness quirks`: list the catalogued deviations of real providers and models.

Without ids, it prints one line for each quirk with the number of scenarios that show it. With ids,
it prints the complete entries of the catalogue.
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import click
import msgspec

from harness import shipped
from harness.cli.options import echo_result, format_option
from harness.errors import UsageError
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.reporting.visible import aligned_columns
from harness.results.catalogue import GROUP_TITLES, load_catalogue, load_excluded
from harness.results.duties import load_duties
from harness.wording import nearest

Row: TypeAlias = dict[str, Any]

_WIDTH: Final = 100
_INDENT: Final = 13


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
    echo_result(style, chosen, _describe_lines(chosen) if quirks else _list_lines(chosen))


def require_quirk(quirk: str, known: Sequence[str]) -> None:
    """Reject an id that is not in the catalogue.

    Raises:
        UsageError: the id is unknown; the error suggests the most similar id.
    """
    if quirk not in known:
        raise UsageError(
            f"unknown quirk {quirk!r}",
            where="QUIRK",
            hint=f"{nearest(quirk.upper(), known)} Run `harness quirks` to list all.".strip(),
        )


def quirk_rows() -> Iterator[Row]:
    """Yield each quirk with its scenarios and rules, or the reason why no scenario shows it."""
    root, catalogue = shipped.bundled_folder("scenarios"), shipped.bundled_folder("catalogue")
    covered: dict[str, list[str]] = {}
    for path in find_scenarios([root]):
        scenario = load_scenario(path, root)
        for cited in scenario.quirks:
            covered.setdefault(cited, []).append(scenario.id)
    excluded = load_excluded(catalogue / "excluded.yaml")
    rules = [(name, duty.quirks) for name, duty in load_duties().items()]
    for quirk in load_catalogue(catalogue / "quirks").values():
        yield {
            **msgspec.to_builtins(quirk),
            "scenarios": covered.get(quirk.id, []),
            "rules": [rule for rule, cited in rules if quirk.id in cited],
            "excluded": excluded.get(quirk.id, ""),
        }


def _list_lines(rows: Sequence[Row]) -> Iterator[str]:
    table = []
    for row in rows:
        count = "excluded" if row["excluded"] else str(len(row["scenarios"]))
        table.append((row["id"], row["severity"], f"{count:>8}", row["title"]))
    return aligned_columns(table)


def _describe_lines(rows: Sequence[Row]) -> Iterator[str]:
    for n, row in enumerate(rows):
        yield from ("",) if n else ()
        yield f"{row['id']}  {row['title']}"
        entries = (
            ("severity", row["severity"]),
            ("group", f"{row['group']}, {GROUP_TITLES[row['group']]}"),
            ("summary", row["summary"]),
            ("rule", row["rule"]),
            ("checked by", ", ".join(row["rules"]) or "none"),
            ("scenarios", ", ".join(row["scenarios"]) or f"none: {row['excluded']}"),
            *([("merged", ", ".join(row["merged"]))] if row["merged"] else []),
            *(("reported", url) for url in row["references"]),
        )
        for label, text in entries:
            yield from _entry(label, text)


def _entry(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=f"  {label:<{_INDENT - 2}}",
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
