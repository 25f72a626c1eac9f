"""Names on a command line -> the normalizers and agents of a run.

Whoever names only one kind wants only that; whoever names nothing wants what the project lists
as its own, and where it lists nothing all that are meant to pass, of both kinds.
"""

from collections.abc import Iterable

import msgspec

from harness.conversation.discovery import default_agent_names
from harness.normalizers.discovery import default_names
from harness.project import project


class Chosen(msgspec.Struct, frozen=True):
    """Names, each once, in the order in which they were given."""

    normalizers: tuple[str, ...]
    agents: tuple[str, ...]


def chosen_names(normalizers: Iterable[str], agents: Iterable[str]) -> Chosen:
    """Return what is to run."""
    chosen = Chosen(tuple(dict.fromkeys(normalizers)), tuple(dict.fromkeys(agents)))
    if chosen.normalizers or chosen.agents:
        return chosen
    table = project().table
    if table.normalizers or table.agents:
        return Chosen(tuple(table.normalizers), tuple(table.agents))
    return Chosen(default_names(), default_agent_names())
