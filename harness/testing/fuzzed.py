"""The items of a suite that search for failures which no shipped scenario shows.

Searching needs an extra, so that nothing of it is imported before an item is wanted. As in the
gate, only a broken MUST rule fails; SHOULD rules are told beside it.
"""

import shlex
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import pytest

from harness.errors import UsageError
from harness.reporting.findings_text import findings_lines
from harness.reporting.visible import marked
from harness.runs.plan import Job

if TYPE_CHECKING:
    from harness.fuzzing.found import FuzzFinding

_Kind: TypeAlias = Literal["normalizer", "agent"]
# The same inputs in each run, so that an item is not red by chance.
_SEED: Final = 0


def fuzzed(
    normalizer: str,
    agent: str,
    profile: str | None,
    cells: Collection[Job],
    places: Collection[Path] = (),
) -> Iterator[Any]:
    """Yield an item for each of `normalizer` and `agent` that is named, where a profile is wanted.

    Args:
        normalizer: what is searched; "" for none.
        agent: the same.
        profile: a name; None for no item.
        cells: of the suite, whose scenarios are started from.
        places: paths that hold them, to be told; none for what ships.

    Raises:
        UsageError: the extra is missing, or there is no such profile.
    """
    if profile is None:
        return
    try:
        from harness.fuzzing.profiles import find_profile  # noqa: PLC0415 - see the rule above
    except ModuleNotFoundError as error:
        raise UsageError(
            f"searching needs {error.name}, which is not installed",
            where="fuzz",
            hint="Install the extra: pip install 'toolcall-harness[fuzz]'",
        ) from error
    find_profile(profile)
    named: tuple[tuple[_Kind, str], ...] = (("normalizer", normalizer), ("agent", agent))
    for kind, name in named:
        if name:
            again = _command(kind, name, profile, places)
            run = _searching(kind, name, profile, cells, again)
            yield pytest.param(run, id=f"fuzz-{profile}-{kind}")


def _searching(
    kind: _Kind, name: str, profile: str, cells: Collection[Job], again: str
) -> Callable[[pytest.Config], None]:
    def run(_config: pytest.Config) -> None:
        from harness.fuzzing.items import fuzz_findings  # noqa: PLC0415 - as above

        found = fuzz_findings(name, profile, kind=kind, paths=_starts(cells), random=_SEED)
        if any(each.fails_gate for each in found):
            pytest.fail("\n".join([*_told(found), f"  {marked(again)}"]), pytrace=False)

    return run


def _starts(cells: Collection[Job]) -> list[Path]:
    """Return the scenarios that a search starts from, or the recordings where there are none."""
    turns = [job.subject for job in cells if job.subject.of_turns]
    labelled = [subject for subject in turns if subject.kind == "scenario"]
    return [Path(subject.path) for subject in labelled or turns]


def _told(found: Collection["FuzzFinding"]) -> Iterator[str]:
    for each in found:
        yield marked(f"{each.slug}, found from {each.parent}")
        yield from findings_lines([each.finding])


def _command(kind: _Kind, name: str, profile: str, places: Collection[Path]) -> str:
    """Return the command that searches in the same way and keeps what it finds."""
    option = "-n" if kind == "normalizer" else "-a"
    how = (option, name, "--profile", profile, "--seed", str(_SEED), "-j", "1", "--save", ".")
    return shlex.join(("harness", "fuzz", *map(str, places), *how))
