"""The one item of a suite that searches for failures which no shipped scenario shows.

Searching needs an extra, so that nothing of it is imported before the item is wanted.
"""

import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import UsageError
from harness.reporting.findings_text import findings_lines
from harness.reporting.visible import marked
from harness.runs.plan import Job

if TYPE_CHECKING:
    from harness.fuzzing.found import FuzzFinding


def fuzzed(normalizer: str, profile: str | None, cells: Collection[Job]) -> Iterator[Any]:
    """Yield the item, where a profile is wanted.

    Raises:
        UsageError: the extra is missing, or there is no such profile.
    """
    if profile is None:
        return
    try:
        from harness.fuzzing.items import fuzz_findings  # noqa: PLC0415 - see the rule above
        from harness.fuzzing.profiles import find_profile  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise UsageError(
            f"searching needs {error.name}, which is not installed",
            where="fuzz",
            hint="Install the extra: pip install 'toolcall-harness[fuzz]'",
        ) from error
    find_profile(profile)
    paths = [Path(job.subject.path) for job in cells if not job.subject.conversation]

    def run(_config: pytest.Config) -> None:
        told = _told(fuzz_findings(normalizer, profile, paths=paths), normalizer, profile)
        if told:
            pytest.fail("\n".join(told), pytrace=False)

    yield pytest.param(run, id=f"fuzz-{profile}")


def _told(found: Collection["FuzzFinding"], normalizer: str, profile: str) -> list[str]:
    lines = [
        line
        for each in found
        for line in (
            marked(f"{each.slug}, found from {each.parent}"),
            *findings_lines([each.finding]),
        )
    ]
    command = ("harness", "fuzz", "-n", normalizer, "--profile", profile, "--save", "scenarios")
    return [*lines, f"  {marked(shlex.join(command))}"] if lines else []
