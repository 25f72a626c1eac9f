"""What a page may show beside the run itself; all of it is given, nothing is looked up here."""

from collections.abc import Mapping

import msgspec

from harness.judging.catalogue import Quirk
from harness.runs.kill_table import Kill
from harness.runs.run import Run


class Edition(msgspec.Struct, frozen=True):
    """A run under the name that its reader knows it by, such as its file's."""

    label: str
    run: Run


class Beside(msgspec.Struct, frozen=True):
    """What stands beside a run.

    Fields:
        base: the run that it is compared with; None where none was named.
        history: earlier runs, the oldest first; the run itself is not among them.
        label: the run's own name in the trends.
        quirks: the catalogue, by id: titles, rules and citations of the quirks met.
        kills: what proves that each rule can fail.
        live: the run still goes on, and the page is served while it does.
    """

    base: Edition | None = None
    history: tuple[Edition, ...] = ()
    label: str = "this run"
    quirks: Mapping[str, Quirk] = msgspec.field(default_factory=dict)
    kills: tuple[Kill, ...] = ()
    live: bool = False


NOTHING = Beside()
