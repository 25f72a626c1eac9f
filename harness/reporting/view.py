"""A run, and what stands beside it -> everything that the templates may show.

Nothing is counted here: each page has a module that does. What is left out for length is a
number in its page's part.
"""

import shlex
from collections.abc import Mapping
from typing import Final

import msgspec

from harness.judging.results import Result
from harness.reporting.beside import Beside, Edition
from harness.reporting.boards import Board, boards
from harness.reporting.case_view import CaseView, case_view
from harness.reporting.cassette_view import Cassettes, cassettes
from harness.reporting.compare_view import CompareView, compare_view
from harness.reporting.conversation_list import Conversations, conversations
from harness.reporting.disagreement import Disagreement, disagreement
from harness.reporting.failing import decides
from harness.reporting.failures import Group, embedded, groups
from harness.reporting.matrix import (
    client_matrix,
    dialect_matrix,
    model_matrix,
    of_row,
    quirk_matrix,
)
from harness.reporting.overview import Overview, overview
from harness.reporting.quirk_view import QuirkCard, quirk_cards
from harness.reporting.rows import rows
from harness.reporting.squares import Matrix
from harness.reporting.stacks import Stack, stacks
from harness.reporting.standings import Standing, standings
from harness.reporting.trends import Trends, trends
from harness.reporting.words import worst_first
from harness.runs.gate import Gate, judge_gate
from harness.runs.questions import Questions
from harness.runs.rankings import rank
from harness.runs.run import Run

MAX_LISTED: Final = 150


class View(msgspec.Struct, frozen=True):
    """Everything that the templates may show.

    Fields:
        standings: of models and prompts, by the id of their board, then name.
        clients: models by normalizers, turn success on the same bytes.
        bars, agent_bars: outcomes stacked.
        cases: of the cells whose bytes are part of the page, worst first.
        listed: the first cells, worst first, for readers without script.
        rows: all cells, for the script.
        shown: ids of the cells that have a case to link to.
    """

    run: Run
    beside: Beside
    command: str
    suffix: str
    gate: Gate
    overview: Overview
    boards: tuple[Board, ...]
    standings: Mapping[str, Mapping[str, Standing]]
    quirks: Matrix
    dialects: Matrix
    models: Matrix
    clients: Matrix
    bars: tuple[Stack, ...]
    agent_bars: tuple[Stack, ...]
    disagreement: Disagreement
    quirk_cards: tuple[QuirkCard, ...]
    groups: tuple[Group, ...]
    cases: tuple[CaseView, ...]
    listed: tuple[Result, ...]
    rows: str
    shown: frozenset[str]
    conversations: Conversations
    compare: CompareView | None
    trends: Trends
    cassettes: Cassettes

    def board(self, name: str) -> Board:
        """Return the board called `name`."""
        return next(each for each in self.boards if each.id == name)

    @property
    def ways(self) -> int:
        """How many of the signatures are ways to fail."""
        return sum(decides(each.signature) for each in self.groups)


def view(run: Run, beside: Beside, gate: Gate | None) -> View:
    """Return what the page shows of `run`."""
    by_cell = {each.cell: each for each in run.results}
    with Questions(run) as questions:
        ranked = rank(questions)
        found = groups(questions.failures_by_signature(), by_cell)
        quirks = quirk_matrix(questions.losses_by_quirk(), run.results)
    cases = sorted((by_cell[cell] for cell in embedded(found)), key=worst_first)
    shown = frozenset(each.cell for each in cases)
    return View(
        run=run,
        beside=beside,
        command=shlex.join(run.header.command),
        suffix=_suffix(run),
        gate=gate or judge_gate(run),
        overview=overview(run),
        boards=boards(run, ranked),
        standings={
            f"{axis}s": standings(run, ranked.conversations, axis) for axis in ("model", "prompt")
        },
        quirks=quirks,
        dialects=dialect_matrix(run.results),
        models=model_matrix(run),
        clients=client_matrix(run),
        bars=stacks(run.results, "turns"),
        agent_bars=stacks(run.results, "conversation"),
        disagreement=disagreement(run.results),
        quirk_cards=quirk_cards(of_row(quirks), beside.quirks),
        groups=found,
        cases=tuple(_case(run, each) for each in cases),
        listed=tuple(sorted(run.results, key=worst_first)[:MAX_LISTED]),
        rows=rows(run.results),
        shown=shown,
        conversations=conversations(run, ranked, shown),
        compare=compare_view(beside.base, run) if beside.base else None,
        trends=trends((*beside.history, Edition(beside.label, run))),
        cassettes=cassettes(run.results),
    )


def _case(run: Run, result: Result) -> CaseView:
    found = run.cases.get(result.cell) or run.conversations.get(result.cell)
    return case_view(result, found, run.header.selection)


def _suffix(run: Run) -> str:
    """Return what follows the cell in any command that replays it."""
    selection = run.header.selection
    words = [*selection.options, *(word for place in selection.paths for word in ("--in", place))]
    return shlex.join(words)
