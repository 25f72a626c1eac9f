"""What pytest and other callers ask for: search one normalizer, and give the findings."""

from collections.abc import Iterable
from pathlib import Path

from harness.fuzzing.found import FuzzFinding
from harness.fuzzing.profiles import find_profile
from harness.fuzzing.shards import Task, search_here
from harness.runs.select import select


def fuzz_findings(
    normalizer: str, profile: str = "ci", *, paths: Iterable[Path] = (), random: int = 0
) -> tuple[FuzzFinding, ...]:
    """Search `normalizer` in this process and return what it does wrong, the worst first.

    Args:
        normalizer: its name or `module:callable`.
        profile: `dev`, `ci` or `deep`.
        paths: scenarios and cassettes to start from; those that ship where there are none.
        random: the seed of the search.

    Raises:
        UsageError: nothing is called so.
        NormalizerLoadError: the normalizer cannot be loaded.
        UnreadableError: a file of `paths` cannot be used.
    """
    task = Task("normalizer", normalizer, select(paths), find_profile(profile), random=random)
    return search_here(task).findings
