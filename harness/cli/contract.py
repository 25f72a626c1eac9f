"""`harness contract diff`: print which members the streams of an API gained, lost or changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED
from harness.cli.options import echo_result, format_option
from harness.errors import UsageError
from harness.files.walk import is_yaml, walk_files
from harness.judging.contract.changes import ContractDiff, MemberChange, contract_diff
from harness.judging.contract.shape import MemberCount
from harness.recording.identify import identify
from harness.reporting.visible import markdown_code, markdown_table, markdown_text, plain
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Interaction
from harness.wording import pluralize

_TABLE: Final = "table"
_FIRST_ERROR_STATUS: Final = 400


@click.group("contract")
def contract_command() -> None:
    """Compare recorded streams with each other, or with the wire contract of their API."""


@contract_command.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path, exists=True))
@format_option("pretty", "json", "markdown")
def diff_contracts(old: Path, new: Path, style: str) -> int:
    """Print which members the streams in NEW gained, lost or changed since OLD.

    OLD and NEW are cassettes or folders of them. If OLD is `table`, NEW is compared with what the
    official servers sent. The command exits with code 1 if a member that the contract requires
    (MUST) is missing, rarer or of another type, and with code 5 if no stream was compared.
    """
    if str(old) != _TABLE and not old.exists():
        raise UsageError(f"no such file: {old}", hint=f"Name recordings, or `{_TABLE}`.")
    before = None if str(old) == _TABLE else tuple(_streams(old))
    found = contract_diff(before, _streams(new))
    echo_result(style, found, _markdown(found) if style == "markdown" else _lines(found))
    if found.violates_must:
        return EXIT_GATE_FAILED
    return 0 if found.compared else EXIT_NOTHING_SELECTED


def _streams(path: Path) -> Iterator[Interaction]:
    files = map(Path, walk_files(str(path), is_yaml)) if path.is_dir() else (path,)
    for file in files:
        for each in identify(load_cassette(file)).interactions:
            if each.status < _FIRST_ERROR_STATUS:
                yield each


def _lines(found: ContractDiff) -> Iterator[str]:
    for each in found.changes:
        level = each.level or "-"
        yield f"{level:<6}  {each.change:<12}  {plain(_path(each))}: {_counts(each)}"
    yield from _not_compared(found)
    yield _summary(found)


def _not_compared(found: ContractDiff) -> Iterator[str]:
    """Yield the streams of an API that only one side has."""
    for side, counts in (("OLD", found.old), ("NEW", found.new)):
        for dialect in sorted(counts.keys() - set(found.compared)):
            streams = pluralize(counts[dialect], "stream")
            yield f"not compared: {streams} of {dialect}, only in {side}"


def _path(change: MemberChange) -> str:
    return f"{change.kind}.{change.member}" if change.member else change.kind


def _counts(change: MemberChange) -> str:
    return f"{_count(change.old)}, now {_count(change.new)}"


def _count(count: MemberCount) -> str:
    if not count.streams:
        return "absent"
    return (
        f"in {count.present} of {pluralize(count.streams, 'stream')} ({' or '.join(count.types)})"
    )


def _summary(found: ContractDiff) -> str:
    new, old = (sum(it.get(name, 0) for name in found.compared) for it in (found.new, found.old))
    streams, before = pluralize(new, "new stream"), pluralize(old, "old stream")
    changes = pluralize(len(found.changes), "change")
    if not found.compared:
        return "nothing was compared"
    return f"{streams}, compared with {before if found.old else 'the table'}: {changes}"


def _markdown(found: ContractDiff) -> Iterator[str]:
    yield f"**{_summary(found)}**"
    if found.changes:
        yield ""
        yield markdown_table(
            ("level", "change", "API", "member", "old", "new"),
            (
                (
                    each.level or "",
                    each.change,
                    each.dialect,
                    markdown_code(_path(each)),
                    markdown_text(_count(each.old)),
                    markdown_text(_count(each.new)),
                )
                for each in found.changes
            ),
        )
    yield from (f"\n{each}" for each in _not_compared(found))
