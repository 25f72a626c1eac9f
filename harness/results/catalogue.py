"""Load the catalogue of quirks from the files of `catalogue/quirks/`, and validate it.

A quirk is one way in which real providers or models deviate. Rules and scenarios cite it by id.
`harness doctor` checks that scenarios cite each quirk, except those that
`catalogue/excluded.yaml` lists with a reason.
"""

from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import msgspec

from harness.errors import UnreadableError
from harness.files.load import load_yaml_file
from harness.files.typed import Text, convert

T = TypeVar("T")

_Id = Annotated[str, msgspec.Meta(pattern="^[A-Z0-9]+(-[A-Z0-9]+)*$")]

Group = Literal["A", "B", "C", "D", "E", "F", "G"]

GROUP_TITLES: Final[dict[Group, str]] = {
    "A": "framing and transport",
    "B": "deltas",
    "C": "arguments",
    "D": "text calls",
    "E": "conversation",
    "F": "other dialects",
    "G": "time and life cycle",
}
Severity = Literal["wrong call executed", "corrupted args", "lost call", "crash", "cosmetic"]


class Quirk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A quirk: one way in which real providers or models deviate, as the catalogue describes it.

    Fields:
        id: a name such as `DELTA-ID-EMPTY-LATER`, which no other quirk ever gets.
        group: the chapter of the catalogue: A framing and transport, B deltas, C arguments,
            D text calls, E conversation, F other dialects, G time and life cycle.
        summary: what a recorded stream with the quirk contains.
        rule: what a client must do if it receives such a stream.
        severity: what happens in a client that does not follow `rule`.
        references: URLs of reports about the quirk.
        merged: ids that other lists of quirks use for the same deviation. The catalogue has no
            entry with such an id.
    """

    id: _Id
    group: Group
    title: Text
    summary: Text
    rule: Text
    severity: Severity
    references: tuple[Text, ...] = ()
    merged: tuple[_Id, ...] = ()


def load_catalogue(folder: Path) -> dict[str, Quirk]:
    """Return the quirks by id, in the order of the YAML files in `folder`.

    Raises:
        UnreadableError: `folder` has no YAML file, a file is not a list of quirks, or two quirks
            have the same id.
    """
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise UnreadableError("expected files of quirks (*.yaml), found none", where=str(folder))
    quirks: dict[str, Quirk] = {}
    for path in paths:
        for quirk in _load(path, tuple[Quirk, ...]):
            if quirk.id in quirks:
                raise UnreadableError(f"two quirks have the id {quirk.id!r}", where=str(path))
            quirks[quirk.id] = quirk
    return quirks


def load_excluded(path: Path) -> dict[str, str]:
    """Return the ids of the quirks that need no scenario, each with the reason.

    Raises:
        UnreadableError: `path` is not a YAML file that maps ids to reasons.
    """
    return _load(path, dict[_Id, Text])


def _load(path: Path, kind: type[T]) -> T:
    return convert(load_yaml_file(path), kind, str(path))
