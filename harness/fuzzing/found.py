"""What a search found: for each bug one input, the simplest so far; and in the end, shrunk."""

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.fuzzing.mutators import Mutation
from harness.fuzzing.oracle import Trial, Tried
from harness.fuzzing.signature import Place, Signature, signature_of
from harness.judging.expectation import Expectation
from harness.judging.results import Blame, Finding
from harness.wire.cuts import Chunking
from harness.wire.interaction import Interaction

# A normalizer that fails everywhere shows its worst; more bugs than this nobody reads.
MOST = 100


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


class Met(msgspec.Struct):
    """The simplest input on which a bug was met, and how many had been judged by then."""

    trial: Trial
    finding: Finding
    examples: int


class Found:
    """Bugs by signature; one that takes fewer steps replaces those that it explains."""

    def __init__(self) -> None:
        self._met: dict[Place, dict[frozenset[str], Met]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Signature, Met]]:
        for place in sorted(self._met):
            for steps, met in self._met[place].items():
                yield Signature(place, tuple(sorted(steps))), met

    def note(self, trial: Trial, tried: Tried, examples: int) -> int:
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
        if any(fewer < steps for fewer in known) or self._count >= MOST:
            return
        first = min([examples, *(met.examples for more, met in known.items() if steps < more)])
        kept = {more: met for more, met in known.items() if not steps < more}
        kept[steps] = Met(trial, finding, first)
        self._count += len(kept) - len(known)
        self._met[signature.place] = kept
