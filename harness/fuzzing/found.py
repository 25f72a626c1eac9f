"""What a search found: for each bug one input, the simplest so far; and in the end, shrunk."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from harness.fuzzing.mutators import Mutation
from harness.fuzzing.turns.evaluate import Trial, TrialResult
from harness.judging.expectation import Expectation
from harness.judging.results import Blame, Finding, Level, Outcome
from harness.wire.cuts import Chunking
from harness.wire.interaction import Interaction

_NUMBER = re.compile(r"\d+")
# Of what was raised: its type, and so many words of its text that no input stands in them.
_WORD = re.compile(r"[A-Za-z_]+")
_RAISED_WORDS = 6
_DIGITS = 6


class FailureLocation(msgspec.Struct, frozen=True, order=True):
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


class BugSignature(msgspec.Struct, frozen=True, order=True):
    """A place, and the names of the steps that it takes."""

    place: FailureLocation
    mutators: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """Return a name for files and cells, the same in every run."""
        said = msgspec.json.encode(self)
        room = self.place.room.replace("/", "-")
        return f"{self.place.rule.lower()}-{room}-{sha256(said).hexdigest()[:_DIGITS]}"


def location_of(finding: Finding, room: str) -> FailureLocation:
    """Return the place of `finding`."""
    path = _NUMBER.sub("*", finding.path)
    if finding.outcome is Outcome.CRASH:
        path = " ".join((path, *_WORD.findall(finding.actual)[:_RAISED_WORDS]))
    return FailureLocation(finding.level, finding.outcome.badness, finding.rule, path, room)


def signature_of(finding: Finding, room: str, mutators: tuple[str, ...]) -> BugSignature:
    """Return the signature of `finding` after the steps called `mutators`."""
    return BugSignature(location_of(finding, room), tuple(sorted(set(mutators))))


# A normalizer that fails everywhere shows its worst; more bugs than this nobody reads.
MAX_BUGS = 100


class FuzzFinding(msgspec.Struct, frozen=True):
    """One bug, on the smallest input that shows it.

    Fields:
        slug: its name, the same in every run.
        normalizer: that it is of; the name that it was given by.
        finding: the rule, the place, what was expected and what came.
        blame: whose fault it is.
        room: the dialect, or `dialect/text dialect`.
        parent: id of the scenario, cassette or strategy that the input was made from.
        cassette: id of the parent's cassette; "" where it was generated.
        trail: the steps that made it.
        interaction: the input.
        expectation: what it is judged by; None for a conversation.
        chunking: the cuts that it takes; () where it fails as a whole.
        licence: of the parent's cassette, whose bytes the input is made of.
        random: the seed of the search.
        examples: how many inputs had been judged when it was met.
        others: the replies after the first, where a whole conversation is the input.
        conversation: the value of that key in its scenario; None for a single turn.
        again: it was found by a former search and fails still.
    """

    slug: str
    normalizer: str
    finding: Finding
    blame: Blame
    room: str
    parent: str
    cassette: str
    trail: tuple[Mutation, ...]
    interaction: Interaction
    expectation: Expectation | None
    chunking: Chunking = ()
    text_dialect: str = ""
    capabilities: tuple[str, ...] = ()
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    provider: str = "unknown"
    model: str = "unknown"
    licence: str = ""
    random: int = 0
    examples: int = 0
    others: tuple[Interaction, ...] = ()
    conversation: dict[str, Any] | None = None
    again: bool = False

    @property
    def fails_gate(self) -> bool:
        """Whether a MUST rule is broken, so that the input fails in a plain run."""
        return self.finding.level == "MUST"

    @property
    def rank(self) -> tuple[bool, int, str, str]:
        """Return the key that sorts the worst first."""
        finding = self.finding
        return not self.fails_gate, finding.outcome.badness, finding.rule, self.slug


class SmallestInput(msgspec.Struct):
    """The simplest input on which a bug was met, and how many had been judged by then."""

    trial: Trial
    finding: Finding
    examples: int


class Found:
    """Bugs by signature; one that takes fewer steps replaces those that it explains."""

    def __init__(self) -> None:
        self._met: dict[FailureLocation, dict[frozenset[str], SmallestInput]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[BugSignature, SmallestInput]]:
        for place in sorted(self._met):
            for steps, met in self._met[place].items():
                yield BugSignature(place, tuple(sorted(steps))), met

    def note(self, trial: Trial, tried: TrialResult, examples: int) -> int:
        """Take in what came of a trial; return how many bugs of it were new."""
        before = self._count
        for finding in tried.findings:
            self._note(trial, finding, examples)
        return self._count - before

    def _note(self, trial: Trial, finding: Finding, examples: int) -> None:
        signature = signature_of(finding, trial.seed.room, trial.mutators)
        steps = frozenset(signature.mutators)
        known = self._met.get(signature.place, {})
        if steps in known:
            if trial.size < known[steps].trial.size:
                known[steps].trial, known[steps].finding = trial, finding
            return
        if any(fewer < steps for fewer in known) or self._count >= MAX_BUGS:
            return
        first = min([examples, *(met.examples for more, met in known.items() if steps < more)])
        kept = {more: met for more, met in known.items() if not steps < more}
        kept[steps] = SmallestInput(trial, finding, first)
        self._count += len(kept) - len(known)
        self._met[signature.place] = kept
