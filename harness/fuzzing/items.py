"""What pytest and other callers ask for: search one normalizer or agent, and give the findings."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from harness.fuzzing.found import FuzzFinding
from harness.fuzzing.profiles import find_profile
from harness.fuzzing.shards import Task, search_here
from harness.runs.select import select


def fuzz_findings(
    name: str,
    profile: str = "ci",
    *,
    kind: Literal["normalizer", "agent"] = "normalizer",
    paths: Iterable[Path] = (),
    random: int = 0,
) -> tuple[FuzzFinding, ...]:
    """Search one normalizer or agent in this process and return what it does wrong, worst first.

    Args:
        name: its name or `module:callable`.
        profile: `dev`, `ci` or `deep`.
        kind: what `name` is.
        paths: scenarios and cassettes to start from; those that ship where there are none.
            An agent has conversations that are drawn, and starts from none.
        random: the seed of the search.

    Raises:
        UsageError: nothing is called so.
        NormalizerLoadError, AgentLoadError: it cannot be loaded.
        UnreadableError: a file of `paths` cannot be used.
    """
    task = Task(kind, name, select(paths), find_profile(profile), random=random)
    return search_here(task).findings
