"""What tells one bug from another: so much of a finding that shrinking must not change.

Two findings of one rule, at places of one shape, with one outcome, in one dialect, after the
same steps are taken for one bug. What needs fewer steps is the same bug too, told better.
Crashes are of one bug only where the same was raised.
"""

import re
from hashlib import sha256

import msgspec

from harness.judging.results import Finding, Level, Outcome

_NUMBER = re.compile(r"\d+")
# Of what was raised: its type, and so many words of its text that no input stands in them.
_WORD = re.compile(r"[A-Za-z_]+")
_RAISED_WORDS = 6
_DIGITS = 6


class Place(msgspec.Struct, frozen=True, order=True):
    """Which rule was broken where.

    Fields:
        path: of the finding, with `*` for each number; of a crash, with what was raised.
        room: the dialect, or `dialect/text dialect`.
    """

    level: Level
    badness: int
    rule: str
    path: str
    room: str

    @property
    def outcome(self) -> Outcome:
        """Return what kind of failure it is."""
        return tuple(Outcome)[self.badness]


class Signature(msgspec.Struct, frozen=True, order=True):
    """A place, and the names of the steps that it takes."""

    place: Place
    mutators: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """Return a name for files and cells, the same in every run."""
        said = msgspec.json.encode(self)
        room = self.place.room.replace("/", "-")
        return f"{self.place.rule.lower()}-{room}-{sha256(said).hexdigest()[:_DIGITS]}"


def place_of(finding: Finding, room: str) -> Place:
    """Return the place of `finding`."""
    path = _NUMBER.sub("*", finding.path)
    if finding.outcome is Outcome.CRASH:
        path = " ".join((path, *_WORD.findall(finding.actual)[:_RAISED_WORDS]))
    return Place(finding.level, finding.outcome.badness, finding.rule, path, room)


def signature_of(finding: Finding, room: str, mutators: tuple[str, ...]) -> Signature:
    """Return the signature of `finding` after the steps called `mutators`."""
    return Signature(place_of(finding, room), tuple(sorted(set(mutators))))
