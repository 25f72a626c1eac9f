"""What exists beside a run: what somebody may have left out of it on purpose."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from harness.conversation.discovery import installed_agent_names
from harness.conversation.miniatures import MINIATURES as AGENT_MINIATURES
from harness.normalizers.discovery import installed_names
from harness.normalizers.miniatures import MINIATURES
from harness.project import project
from harness.runs.select import select, subject_id


class Known(msgspec.Struct, frozen=True):
    """Ids of scenarios and unlabelled cassettes, and names of normalizers and agents."""

    scenarios: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def known(paths: Iterable[Path] = ()) -> Known:
    """Return what ships, what is installed, what the project lists, and what `paths` hold.

    Args:
        paths: those that still exist are looked into.
    """
    found = project()
    listed = (found.root / path for path in found.table.paths)
    places = dict.fromkeys((*listed, *paths))
    return Known(
        scenarios=_shipped().union(*(_ids([place]) for place in places if place.exists())),
        names=frozenset(
            (
                *found.table.normalizers,
                *found.table.agents,
                *installed_names(),
                *installed_agent_names(),
                *MINIATURES,
                *AGENT_MINIATURES,
            )
        ),
    )


@cache
def _shipped() -> frozenset[str]:
    return _ids([])


def _ids(paths: Sequence[Path]) -> frozenset[str]:
    return frozenset(subject_id(subject) for subject in select(paths, recordings=True))
