"""Collect the bugs that a search found, each with the most realistic and smallest input so far.

Two findings are the same bug if rule, outcome, dialect and mutators of the input are equal, and the
paths differ only in numbers. Another finding that needs fewer mutators describes the same bug more
precisely. A seed that fails without mutators explains only findings on seeds with the same quirk,
because that may be the reason. Two exceptions are the same bug if the same function raised the same
type of exception.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from harness.dialects.table import oracle_reading
from harness.fuzzing.mutators.mutator import REALISMS, Mutation, Realism
from harness.fuzzing.mutators.table import quirks_of
from harness.results.cause import cause_of
from harness.results.expectation import Expectation
from harness.results.finding import Finding, Level
from harness.results.outcome import Blame, Outcome
from harness.wire.cuts import Chunking
from harness.wire.interaction import Interaction

# A normalizer that always fails reports its worst bugs first; more than this are not useful.
MAX_BUGS = 100

_NUMBER = re.compile(r"\d+")
RuleAndPath: TypeAlias = tuple[str, str]
_SEVERAL = 2
_CRASH_RULE = "NO-CRASH"
_DIGITS = 6


class Input(Protocol):
    """The interface of an input of a search: a turn or a conversation."""

    @property
    def dialect_key(self) -> str:
        """The dialect, `DIALECT/TEXT DIALECT`, or `conversation`."""

    @property
    def mutators(self) -> tuple[str, ...]:
        """Names of the mutators that changed the input, in their order."""

    @property
    def quirks(self) -> tuple[str, ...]:
        """The quirks of the seed, and then those that the mutators produce."""

    @property
    def is_seed(self) -> bool:
        """Whether the input is an unchanged seed, with the recorded cuts and no others."""

    @property
    def size(self) -> tuple[int, ...]:
        """A sort key for inputs of one bug, the best first: realism, success, length."""


InputT = TypeVar("InputT", bound=Input)


class FailureLocation(
    msgspec.Struct, frozen=True, order=True, rename={"dialect_key": "room"}
):  # the encoded names are part of each slug, which identifies saved findings
    """Which rule an input violates, and where; part of the identity of a bug.

    Fields:
        path: the path of the finding with `*` for each number, or where an exception was raised.
        badness: the position of the outcome in the order of outcomes; 0 is the worst.
        dialect_key: as in `Input`; "" for an exception, because no dialect causes it.
    """

    level: Level
    badness: int
    rule: str
    path: str
    dialect_key: str

    @property
    def outcome(self) -> Outcome:
        """The outcome of the violation."""
        return tuple(Outcome)[self.badness]


class BugSignature(
    msgspec.Struct, frozen=True, order=True, omit_defaults=True, rename={"location": "place"}
):
    """The identity of a bug: the properties that distinguish it from other bugs.

    Fields:
        mutators: the sorted names of the mutators that the bug needs.
        family: for a bug without mutators, the first quirk of the seed; "" if it has none.
    """

    location: FailureLocation
    mutators: tuple[str, ...] = ()
    family: str = ""

    @property
    def slug(self) -> str:
        """A name for files and cells, the same in every run."""
        encoded = msgspec.json.encode(self)
        dialect = self.location.dialect_key.replace("/", "-")
        digest = sha256(encoded).hexdigest()[:_DIGITS]
        return "-".join(filter(None, (self.location.rule.lower(), dialect, digest)))


def location_of(finding: Finding, dialect_key: str) -> FailureLocation:
    """Return the rule and the location of `finding`, or the function that raised an exception.

    An exception is one bug, even if it violates several rules with several cuts or bodies.
    """
    path = _NUMBER.sub("*", finding.path)
    if finding.raised:
        crash = Outcome.CRASH.badness
        return FailureLocation("MUST", crash, _CRASH_RULE, finding.raised, "")
    return FailureLocation(finding.level, finding.outcome.badness, finding.rule, path, dialect_key)


class Needs(msgspec.Struct, frozen=True):
    """The conditions under which a bug occurs, as far as one input shows them.

    Fields:
        steps: names of the mutators that changed the input.
        quirks: the quirks of the seed, and then those that the mutators produce.
    """

    steps: frozenset[str]
    quirks: tuple[str, ...]

    @property
    def family(self) -> str:
        """The quirk that may explain a failure without any mutator; "" if there is none."""
        return "" if self.steps else next(iter(self.quirks), "")

    def explains(self, other: "Needs") -> bool:
        """Return whether a finding with the conditions `other` at the same location is this bug."""
        if self.steps:
            return self.steps <= other.steps
        return not self.family or self.family in other.quirks


def needs_of(finding: Finding, steps: Iterable[str], quirks: tuple[str, ...]) -> Needs:
    """Return the conditions of the bug in `finding`. An exception has none."""
    if finding.raised:
        return Needs(frozenset(), ())
    return Needs(frozenset(steps), quirks)


def signature_of(
    finding: Finding, dialect_key: str, mutators: Iterable[str], quirks: tuple[str, ...]
) -> BugSignature:
    """Return the identity of the bug in `finding` on an input changed by `mutators`."""
    needs = needs_of(finding, mutators, quirks)
    return BugSignature(location_of(finding, dialect_key), tuple(sorted(needs.steps)), needs.family)


class Parent(msgspec.Struct, frozen=True):
    """The scenario, cassette or strategy from which an input was made.

    Fields:
        id: the id of the scenario or cassette, or of the strategy that drew it.
        cassette: id of the cassette; "" if the fuzzer generated the input.
        text_dialect, capabilities, policies: what a normalizer needs, as in a scenario.
        licence: the licence of the cassette, because the input contains its bytes.
        quirks: the quirks of the scenario, or those that the bytes of a cassette show.
        realism: `seen` if the scenario states evidence for its stream, `never seen` if the evidence
            is `own`; `possible` without evidence, and if the fuzzer generated the input.
    """

    id: str
    cassette: str = ""
    text_dialect: str = ""
    capabilities: tuple[str, ...] = ()
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    provider: str = "unknown"
    model: str = "unknown"
    licence: str = ""
    quirks: tuple[str, ...] = ()
    realism: Realism = "possible"


class FuzzFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A bug that the fuzzer found, with the smallest input that shows it.

    Fields:
        slug: a name for the bug, the same in every run.
        normalizer: name of the normalizer or agent, as the user gave it.
        finding: rule, path, expected and actual value.
        dialect_key: the dialect, `DIALECT/TEXT DIALECT`, or `conversation`.
        steps: the mutations that made the input from the seed.
        interaction: the input, or its first interaction.
        expectation: the expected result; None for a conversation.
        chunking: the cuts that the bug needs; () if the unsplit body shows it.
        random: the number that seeds the random choices of the search.
        examples: how many inputs were judged before the first one that showed the bug.
        others: the later interactions, if the input is a conversation.
        conversation: the value of that key in its scenario; None for a single turn.
        found_before: whether an earlier search found it, and it still fails.
        realism: the realism of the least realistic part of the input.
        every_seed: the number of seeds, if all of them fail in this way; else 0.
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
    realism: Realism = "possible"
    every_seed: int = 0

    @property
    def fails_gate(self) -> bool:
        """Whether the input violates a MUST rule, so that it fails in a run."""
        return self.finding.level == "MUST"

    @property
    def is_unchanged(self) -> bool:
        """Whether the input is a scenario or recording as it is, which `harness run` judges too."""
        return bool(self.parent.cassette) and not (
            self.steps or self.chunking or self.found_before or self.every_seed
        )

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, int, tuple[int, ...], str]:
        """A sort key for findings: what searching found, severity, realism, size.

        Failures of every seed come first. Failures on inputs that no server is known to send come
        last, before those of unchanged inputs.
        """
        never = self.realism == REALISMS[-1]
        order = (not self.every_seed, self.is_unchanged, never, not self.fails_gate)
        return *order, self.finding.outcome.badness, self.size, self.slug

    @property
    def needs(self) -> Needs:
        """The conditions under which this bug occurs, as far as its input shows them."""
        return needs_of(self.finding, (step.name for step in self.steps), self.quirks)

    @property
    def quirks(self) -> tuple[str, ...]:
        """The quirks of the mutations (if several, those that the bytes show) and of the seed."""
        made = quirks_of(step.name for step in self.steps)
        if len(made) > 1:
            shown = oracle_reading(self.interaction).quirks
            made = tuple(quirk for quirk in made if quirk in shown)
        return (*made, *self.parent.quirks)

    @property
    def cause(self) -> str:
        """The cause of the failure, as `harness.results.cause` names it."""
        return cause_of(self.finding)

    @property
    def location(self) -> FailureLocation:
        """The rule that the input violates, and where."""
        return location_of(self.finding, self.dialect_key)

    @property
    def size(self) -> tuple[int, ...]:
        """A sort key for findings of one bug, as `Input.size`."""
        body = sum(len(each.body) for each in (self.interaction, *self.others))
        fails = self.expectation is not None and self.expectation.failure is not None
        realism = REALISMS.index(self.realism)
        return realism, fails, len(self.steps), body, len(self.chunking)


class FuzzReport(msgspec.Struct, frozen=True):
    """The result of a search for bugs.

    Fields:
        examples: the number of judged inputs.
        chunkings: the number of replays.
        interrupted, crashed: whether the user stopped the search, and number of ended processes.
        seeds: the number of unchanged seeds that were judged.
        everywhere: rule and path, without numbers, of failures that every seed shows.
        unsaved: why the findings could not be saved, or "".
    """

    findings: tuple[FuzzFinding, ...] = ()
    examples: int = 0
    chunkings: int = 0
    interrupted: bool = False
    crashed: int = 0
    trace: str = ""
    seeds: int = 0
    everywhere: frozenset[RuleAndPath] = frozenset()
    unsaved: str = ""


def rule_and_path(finding: Finding) -> RuleAndPath:
    """Return the violated rule, and the path of the finding without numbers."""
    location = location_of(finding, "")
    return location.rule, location.path


class SmallestInput(msgspec.Struct, Generic[InputT]):
    """The most realistic and smallest input so far that shows a bug.

    Fields:
        examples: how many inputs were judged before the first one that shows the bug.
        needs: the fewest conditions of any input with the bug; `input` may have more.
    """

    input: InputT
    finding: Finding
    examples: int
    needs: Needs


class FoundBugs(Generic[InputT]):
    """Bugs by their location. A bug with fewer conditions replaces those that it explains.

    Attributes:
        seeds: the number of unchanged seeds that were judged.
    """

    def __init__(self) -> None:
        self.seeds = 0
        self._failing_seeds: Counter[RuleAndPath] = Counter()
        self._bugs: dict[FailureLocation, list[SmallestInput[InputT]]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[BugSignature, SmallestInput[InputT]]]:
        for location in sorted(self._bugs):
            for smallest in self._bugs[location]:
                steps = tuple(sorted(smallest.needs.steps))
                yield BugSignature(location, steps, smallest.needs.family), smallest

    @property
    def everywhere(self) -> frozenset[RuleAndPath]:
        """The failures that every seed shows; empty if there are too few seeds."""
        if self.seeds < _SEVERAL:
            return frozenset()
        counts = self._failing_seeds.items()
        return frozenset(each for each, count in counts if count == self.seeds)

    def note(self, tried: InputT, findings: Iterable[Finding], examples: int) -> int:
        """Add the findings on an input, and return how many new bugs there are."""
        before = self._count
        found = tuple(findings)
        if tried.is_seed:
            self.seeds += 1
            self._failing_seeds.update({rule_and_path(each) for each in found})
        for finding in found:
            self._note(tried, finding, examples)
        return self._count - before

    def _note(self, tried: InputT, finding: Finding, examples: int) -> None:
        location = location_of(finding, tried.dialect_key)
        needs = needs_of(finding, tried.mutators, tried.quirks)
        new = SmallestInput(tried, finding, examples, needs)
        known = self._bugs.get(location, [])
        same = next((each for each in known if each.needs.explains(needs)), None)
        if same is not None:
            same.input, same.finding = _better(same, new)
        elif self._count < MAX_BUGS:
            kept = [each for each in known if not needs.explains(each.needs)]
            for each in known:
                if each not in kept:
                    new.input, new.finding = _better(new, each)
                    new.examples = min(new.examples, each.examples)
            self._count += len(kept) + 1 - len(known)
            self._bugs[location] = [*kept, new]


def _better(one: SmallestInput[InputT], other: SmallestInput[InputT]) -> tuple[InputT, Finding]:
    best = min(one, other, key=lambda each: (each.finding.level != "MUST", each.input.size))
    return best.input, best.finding


def merge_findings(findings: Iterable[FuzzFinding]) -> tuple[FuzzFinding, ...]:
    """Return each bug once, with its best input, in the order of `FuzzFinding.rank`."""
    bugs: dict[FailureLocation, list[tuple[Needs, FuzzFinding]]] = {}
    for each in sorted(findings, key=lambda finding: (not finding.fails_gate, finding.size)):
        known = bugs.setdefault(each.location, [])
        if any(needs.explains(each.needs) for needs, _ in known):
            continue
        same = [best for needs, best in known if each.needs.explains(needs)]
        rest = [bug for bug in known if not each.needs.explains(bug[0])]
        bugs[each.location] = [*rest, (each.needs, same[0] if same else each)]
    found = (best for known in bugs.values() for _, best in known)
    return tuple(sorted(found, key=lambda finding: finding.rank))
