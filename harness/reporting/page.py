"""A run -> one self-contained HTML page, as a string.

Pure: same run, same bytes; no clock, no file but the templates of this package. Text of
streams is hostile: templates escape everything, and the page's own content policy allows
the one script and the one style sheet by their digests and nothing else.
"""

import base64
import hashlib
import shlex
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.judging.results import Result
from harness.reporting.boards import FEW, Board, boards
from harness.reporting.charts.squares import Matrix
from harness.reporting.charts.stacks import Stack, stacks
from harness.reporting.failures import is_must
from harness.reporting.pages.cases import CaseView, case_view
from harness.reporting.pages.cassettes import MOST_CASSETTES, Cassettes, cassettes
from harness.reporting.pages.compare import CompareView, compare_view
from harness.reporting.pages.conversations import Conversations, conversations
from harness.reporting.pages.failures import (
    CASES_PER_SIGNATURE,
    MAX_CASES,
    MAX_GROUPS,
    FailureGroup,
    cells_with_case,
    failure_groups,
)
from harness.reporting.pages.matrix import (
    client_matrix,
    dialect_matrix,
    measured_squares,
    model_matrix,
    quirk_matrix,
)
from harness.reporting.pages.normalizers import Disagreement, disagreement
from harness.reporting.pages.overview import Overview, overview
from harness.reporting.pages.quirks import QuirkCard, quirk_cards
from harness.reporting.pages.rankings import RankingDetails, ranking_details
from harness.reporting.pages.replays import rows
from harness.reporting.pages.trends import Trends, trends
from harness.reporting.report import NO_CONTEXT, NamedRun, ReportContext, anchor, replays_link
from harness.reporting.visible import PICTURES, pieces, plain
from harness.reporting.words import BLAMES, OUTCOME_WORDS, WORST_FIRST, percent, worst_first
from harness.runs.gate import Gate, judge_gate
from harness.runs.questions import Questions
from harness.runs.rankings import rank
from harness.runs.run import Run

_PACKAGE: Final = "harness.reporting"
_STYLE: Final = (
    *("colours", "text", "layout", "tables", "boards", "squares", "charts", "case", "narrow"),
    "print",
)
_SCRIPT: Final = (
    *("state", "theme", "tables", "copy", "rows", "query", "replays", "sheet", "steps"),
    *("pages", "keys", "live"),
)


@cache
def style_sheet() -> str:
    """Return the style sheet."""
    return "".join(_asset_text("style", f"{name}.css") for name in _STYLE)


@cache
def script_text() -> str:
    """Return the script: its parts in one function of their own."""
    parts = "".join(_asset_text("script", f"{name}.js") for name in _SCRIPT)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def content_policy(*, live: bool) -> str:
    """Return the content policy: nothing but the one style and the one script.

    Args:
        live: the page asks its own server whether there is more.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_source_digest(style_sheet())}'",
            f"script-src '{_source_digest(script_text())}'",
            "img-src data:",
            f"connect-src {_FROM_SERVER if live else _FROM_NOWHERE}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


_FROM_SERVER: Final = "'self'"
_FROM_NOWHERE: Final = "'none'"


def _asset_text(folder: str, name: str) -> str:
    place = resources.files(_PACKAGE) / "templates" / folder / name
    return place.read_text(encoding="utf-8")


def _source_digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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
    beside: ReportContext
    command: str
    suffix: str
    gate: Gate
    overview: Overview
    boards: tuple[Board, ...]
    standings: Mapping[str, Mapping[str, RankingDetails]]
    quirks: Matrix
    dialects: Matrix
    models: Matrix
    clients: Matrix
    bars: tuple[Stack, ...]
    agent_bars: tuple[Stack, ...]
    disagreement: Disagreement
    quirk_cards: tuple[QuirkCard, ...]
    groups: tuple[FailureGroup, ...]
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
        return sum(is_must(each.signature) for each in self.groups)


def build_view(run: Run, beside: ReportContext, gate: Gate | None) -> View:
    """Return what the page shows of `run`."""
    by_cell = {each.cell: each for each in run.results}
    with Questions(run) as questions:
        ranked = rank(questions)
        found = failure_groups(questions.failures_by_signature(), by_cell)
        quirks = quirk_matrix(questions.losses_by_quirk(), run.results)
    cases = sorted((by_cell[cell] for cell in cells_with_case(found)), key=worst_first)
    shown = frozenset(each.cell for each in cases)
    return View(
        run=run,
        beside=beside,
        command=shlex.join(run.header.command),
        suffix=_replay_options(run),
        gate=gate or judge_gate(run),
        overview=overview(run),
        boards=boards(run, ranked),
        standings={
            f"{axis}s": ranking_details(run, ranked.conversations, axis)
            for axis in ("model", "prompt")
        },
        quirks=quirks,
        dialects=dialect_matrix(run.results),
        models=model_matrix(run),
        clients=client_matrix(run),
        bars=stacks(run.results, "turns"),
        agent_bars=stacks(run.results, "conversation"),
        disagreement=disagreement(run.results),
        quirk_cards=quirk_cards(measured_squares(quirks), beside.quirks),
        groups=found,
        cases=tuple(_case_view(run, each) for each in cases),
        listed=tuple(sorted(run.results, key=worst_first)[:MAX_LISTED]),
        rows=rows(run.results),
        shown=shown,
        conversations=conversations(run, ranked, shown),
        compare=compare_view(beside.base, run) if beside.base else None,
        trends=trends((*beside.history, NamedRun(beside.label, run))),
        cassettes=cassettes(run.results),
    )


def _case_view(run: Run, result: Result) -> CaseView:
    found = run.cases.get(result.cell) or run.conversations.get(result.cell)
    return case_view(result, found, run.header.selection)


def _replay_options(run: Run) -> str:
    """Return what follows the cell in any command that replays it."""
    selection = run.header.selection
    words = [*selection.options, *(word for place in selection.paths for word in ("--in", place))]
    return shlex.join(words)


def render_page(run: Run, beside: ReportContext = NO_CONTEXT, gate: Gate | None = None) -> str:
    """Return the report of `run` as HTML.

    Args:
        run: finished or not; a page says which.
        beside: what else its reader wants to see.
        gate: the verdict; None judges the run without rules of a project.
    """
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            view=build_view(run, beside, gate),
            style=Markup(style_sheet()),  # noqa: S704 - our own file, and its digest is in the policy
            script=Markup(script_text()),  # noqa: S704 - as the style
            policy=content_policy(live=beside.live),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("harness.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "anchor": anchor,
        "facts": _set_fields,
        "number": "{:,}".format,
        "percent": percent,
        "pieces": pieces,
        "plain": plain,
    }
    environment.globals |= {
        "BLAMES": BLAMES,
        "CASES_PER_SIGNATURE": CASES_PER_SIGNATURE,
        "FEW": FEW,
        "MAX_CASES": MAX_CASES,
        "MAX_GROUPS": MAX_GROUPS,
        "MAX_LISTED": MAX_LISTED,
        "MOST_CASSETTES": MOST_CASSETTES,
        "PICTURES": PICTURES,
        "WORD": OUTCOME_WORDS,
        "WORST_FIRST": WORST_FIRST,
        "search": replays_link,
    }
    return environment


def _set_fields(said: msgspec.Struct) -> tuple[tuple[str, str], ...]:
    """Return the fields of `said` that say something, with their values."""
    return tuple((key, str(value)) for key, value in msgspec.structs.asdict(said).items() if value)
