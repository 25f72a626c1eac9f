"""Account for the planned cells of a run: which have an outcome, and why others did not run."""

from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

import msgspec

from harness.project import GateRule, Where
from harness.results.outcome import Outcome
from harness.results.result import NORMALIZER_KINDS, Result, area_of
from harness.results.run import Run
from harness.wording import pluralize

CONFORMANCE = "conformance"


def counts_text(counts: Iterable[tuple[int, str]]) -> str:
    """Return the numbers of cells that are not 0, each with what the cells have, as text."""
    return ", ".join(f"{count:,} {what}" for count, what in counts if count) or "0 judged"


class Accounting(msgspec.Struct, frozen=True):
    """The number of planned cells, by what they have.

    Fields:
        planned: the cells that were selected.
        judged: those that conform or fail.
        unsupported: those whose client declares that it does not support the subject.
        unjudged: those of which nothing could be judged.
        skipped: those that `expectations.toml` excludes.
        not_run: those without an outcome, for another reason.
        unjudged_clients: clients of the project without a judged cell.
    """

    planned: int
    judged: int
    unsupported: int
    unjudged: int
    skipped: int = 0
    not_run: int = 0
    unjudged_clients: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The numbers in one line."""
        counts = (
            (self.judged, "judged"),
            (self.unsupported, "unsupported"),
            (self.unjudged, "unjudged"),
            (self.skipped, "skipped by expectations"),
            (self.not_run, "not run"),
        )
        return f"{pluralize(self.planned, 'cell')} planned: {counts_text(counts)}"

    @property
    def reasons(self) -> Iterator[str]:
        """Why the gate must not pass: a client of the project was not judged."""
        for name in self.unjudged_clients:
            yield f"{name}: no cell of this client of the project was judged"


def account(run: Run, own: Iterable[str] = ()) -> Accounting:
    """Return the accounting of a run.

    Args:
        run: the run.
        own: the clients that the project declares. One counts if it takes part in the run.
    """
    counts = Counter(result.outcome for result in run.results)
    skipped = len(run.header.selection.skipped)
    left = run.footer.not_run if run.footer else 0
    planned = max(run.header.cell_count, len(run.results) + left)
    judged = {result.normalizer for result in run.results if result.outcome.judged}
    taking_part = set(run.header.names)
    return Accounting(
        planned + skipped,
        sum(count for outcome, count in counts.items() if outcome.judged),
        counts[Outcome.UNSUPPORTED],
        counts[Outcome.UNJUDGED],
        skipped,
        planned - len(run.results),
        tuple(name for name in own if name in taking_part and name not in judged),
    )


def rule_covers(rules: Iterable[GateRule], result: Result) -> bool:
    """Return whether a rule on conformance replaces the check that this cell conforms.

    A rule with the key `blame` covers all cells that its other keys select.
    """
    return any(each.metric == CONFORMANCE and _selects(each.where, result) for each in rules)


def _selects(where: Where, result: Result) -> bool:
    is_turn = result.kind in NORMALIZER_KINDS
    pairs = (
        (where.normalizer, result.normalizer if is_turn else None),
        (where.agent, None if is_turn else result.normalizer),
        (where.model, result.model),
        (where.prompt, result.prompt),
        (where.provider, result.provider),
        (where.dialect, result.dialect),
        (where.area, area_of(result.scenario)),
    )
    return all(not glob or (it is not None and fnmatchcase(it, glob)) for glob, it in pairs)
