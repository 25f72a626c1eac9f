"""What a search found: for each bug one input, the smallest so far.

Two findings of one rule, at locations of one shape, with one outcome, in one dialect, after the
same steps are one bug. A finding that needs fewer steps is the same bug, reported more precisely.
Crashes are one bug only if the same exception was raised.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from harness.fuzzing.mutators.mutator import Mutation
from harness.judging.expectation import Expectation
from harness.judging.results import Blame, Finding, Level, Outcome
from harness.wire.cuts import Chunking
from harness.wire.interaction import Interaction

# A normalizer that always fails reports its worst bugs first; more than this are not useful.
MAX_BUGS = 100

_NUMBER = re.compile(r"\d+")
# Of an exception: its type, and so few words of its text that they contain nothing of the input.
_WORD = re.compile(r"[A-Za-z_]+")
_RAISED_WORDS = 6
_DIGITS = 6


class Input(Protocol):
    """One input that can be judged."""

    @property
    def dialect_key(self) -> str:
        """The dialect, `dialect/text dialect`, or `conversation`."""

    @property
    def mutators(self) -> tuple[str, ...]:
        """Names of the steps that made it, in their order."""

    @property
    def size(self) -> tuple[int, ...]:
        """What makes one input smaller than another."""


InputT = TypeVar("InputT", bound=Input)


class FailureLocation(
    msgspec.Struct, frozen=True, order=True, rename={"dialect_key": "room"}
):  # the encoded names are part of each slug, which identifies saved findings
    """Which rule was broken where.

    Fields:
        path: of the finding, with `*` for each number; of a crash, with the exception.
        dialect_key: as that of the input.
    """

    level: Level
    badness: int
    rule: str
    path: str
    dialect_key: str

    @property
    def outcome(self) -> Outcome:
        """Return the kind of failure."""
        return tuple(Outcome)[self.badness]


class BugSignature(msgspec.Struct, frozen=True, order=True, rename={"location": "place"}):
    """A location, and the sorted names of the steps that the bug needs."""

    location: FailureLocation
    mutators: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """Return a name for files and cells, the same in every run."""
        encoded = msgspec.json.encode(self)
        dialect = self.location.dialect_key.replace("/", "-")
        digest = sha256(encoded).hexdigest()[:_DIGITS]
        return f"{self.location.rule.lower()}-{dialect}-{digest}"


def location_of(finding: Finding, dialect_key: str) -> FailureLocation:
    """Return the location of `finding`."""
    path = _NUMBER.sub("*", finding.path)
    if finding.outcome is Outcome.CRASH:
        path = " ".join((path, *_WORD.findall(finding.actual)[:_RAISED_WORDS]))
    return FailureLocation(finding.level, finding.outcome.badness, finding.rule, path, dialect_key)


def signature_of(finding: Finding, dialect_key: str, mutators: Iterable[str]) -> BugSignature:
    """Return the signature of `finding` after the steps called `mutators`."""
    return BugSignature(location_of(finding, dialect_key), tuple(sorted(set(mutators))))


class Parent(msgspec.Struct, frozen=True):
    """What an input was made from.

    Fields:
        id: of the scenario or cassette, or of the strategy that drew it.
        cassette: id of the cassette; "" if the input was generated.
        text_dialect, capabilities, policies: what the scenario requires of a normalizer.
        licence: of the cassette, because the input contains its bytes.
    """

    id: str
    cassette: str = ""
    text_dialect: str = ""
    capabilities: tuple[str, ...] = ()
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    provider: str = "unknown"
    model: str = "unknown"
    licence: str = ""


class FuzzFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One bug, on the smallest input that shows it.

    Fields:
        slug: its name, the same in every run.
        normalizer: name of the normalizer or agent, as the user gave it.
        finding: rule, path, expected and actual value.
        dialect_key: the dialect, `dialect/text dialect`, or `conversation`.
        steps: the mutations that made it.
        interaction: the input.
        expectation: its expected result; None for a conversation.
        chunking: the cuts that it needs; () if it fails unsplit.
        random: the seed of the search.
        examples: how many inputs were judged before the first one that showed the bug.
        others: the responses after the first, if the input is a conversation.
        conversation: the value of that key in its scenario; None for a single turn.
        found_before: an earlier search found it, and it still fails.
    """

    slug: str
    normalizer: str
    finding: Finding
    blame: Blame = "normalizer"
    dialect_key: str
    parent: Parent
    steps: tuple[Mutation, ...] = ()
    interaction: Interaction
    expectation: Expectation | None = None
    chunking: Chunking = ()
    random: int = 0
    examples: int = 0
    others: tuple[Interaction, ...] = ()
    conversation: dict[str, Any] | None = None
    found_before: bool = False

    @property
    def fails_gate(self) -> bool:
        """Whether a MUST rule is broken, so that the input fails in a plain run."""
        return self.finding.level == "MUST"

    @property
    def rank(self) -> tuple[bool, int, str, str]:
        """Return the key that sorts the worst first."""
        finding = self.finding
        return not self.fails_gate, finding.outcome.badness, finding.rule, self.slug

    @property
    def signature(self) -> BugSignature:
        """Return what distinguishes this bug from others."""
        return signature_of(self.finding, self.dialect_key, (step.name for step in self.steps))

    @property
    def size(self) -> tuple[int, int, int]:
        """Return what makes one finding of a bug smaller than another: steps, bytes, cuts."""
        body = sum(len(each.body) for each in (self.interaction, *self.others))
        return len(self.steps), body, len(self.chunking)


class FuzzReport(msgspec.Struct, frozen=True):
    """The result of a search.

    Fields:
        examples: inputs that were judged.
        chunkings: replays that this took.
        interrupted: the user stopped the search; the findings up to then are here.
        crashed: processes that an input killed.
    """

    findings: tuple[FuzzFinding, ...] = ()
    examples: int = 0
    chunkings: int = 0
    interrupted: bool = False
    crashed: int = 0


class SmallestInput(msgspec.Struct, Generic[InputT]):
    """The smallest input that shows a bug, and how many inputs were judged before the first."""

    input: InputT
    finding: Finding
    examples: int


class FoundBugs(Generic[InputT]):
    """Bugs by signature; one that needs fewer steps replaces those that it explains."""

    def __init__(self) -> None:
        self._bugs: dict[FailureLocation, dict[frozenset[str], SmallestInput[InputT]]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[BugSignature, SmallestInput[InputT]]]:
        for location in sorted(self._bugs):
            for steps, smallest in self._bugs[location].items():
                yield BugSignature(location, tuple(sorted(steps))), smallest

    def note(self, tried: InputT, findings: Iterable[Finding], examples: int) -> int:
        """Add the findings on an input; return how many bugs were new."""
        before = self._count
        for finding in findings:
            self._note(tried, finding, examples)
        return self._count - before

    def _note(self, tried: InputT, finding: Finding, examples: int) -> None:
        location = location_of(finding, tried.dialect_key)
        steps = frozenset(tried.mutators)
        known = self._bugs.get(location, {})
        if steps in known:
            if tried.size < known[steps].input.size:
                known[steps].input, known[steps].finding = tried, finding
            return
        if any(fewer < steps for fewer in known) or self._count >= MAX_BUGS:
            return
        replaced = [each for more, each in known.items() if steps < more]
        kept = {more: each for more, each in known.items() if not steps < more}
        first = min([examples, *(each.examples for each in replaced)])
        kept[steps] = SmallestInput(tried, finding, first)
        self._count += len(kept) - len(known)
        self._bugs[location] = kept


def merge_findings(findings: Iterable[FuzzFinding]) -> tuple[FuzzFinding, ...]:
    """Return each bug once, on the smallest input, the worst first.

    Of bugs at one location, those that need more steps than another are left out.
    """
    best: dict[BugSignature, FuzzFinding] = {}
    for each in findings:
        known = best.setdefault(each.signature, each)
        if each.size < known.size:
            best[each.signature] = each
    kept = (it for signature, it in best.items() if not _has_fewer_steps(signature, best))
    return tuple(sorted(kept, key=lambda finding: finding.rank))


def _has_fewer_steps(signature: BugSignature, known: Iterable[BugSignature]) -> bool:
    steps = frozenset(signature.mutators)
    return any(
        other.location == signature.location and frozenset(other.mutators) < steps
        for other in known
    )
