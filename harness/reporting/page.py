"""Render the HTML report of a run: several pages in one self-contained file.

The page depends on its arguments only: no clock, and no file except the templates of this package.
Text of streams is hostile: templates escape everything, and the content policy allows only the
script and the style sheet of the page, by their digests.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib import resources
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec
from markupsafe import Markup

from harness.reporting import words
from harness.reporting.boards import FEW
from harness.reporting.cell_index import cell_index
from harness.reporting.cost_table import COST_HEAD, COST_LIMITS, cost_cells
from harness.reporting.pages.cases import MAX_FINDINGS, cases_page
from harness.reporting.pages.cassettes import cassettes_page
from harness.reporting.pages.compare import compare_page
from harness.reporting.pages.conversations import conversations_page
from harness.reporting.pages.failures import (
    CASES_PER_CAUSE,
    MAX_CASES,
    MAX_GROUPS,
    MAX_TURN_CASES,
    cells_with_case,
    failure_filters,
    failure_name,
    failures_page,
    turns_filters,
)
from harness.reporting.pages.inputs import inputs_page, shown_inputs
from harness.reporting.pages.method import method_page
from harness.reporting.pages.normalizers import agents_page, normalizers_page
from harness.reporting.pages.overview import overview_page
from harness.reporting.pages.pair import pair_page
from harness.reporting.pages.peers import group_squares, peers_page
from harness.reporting.pages.quirks import quirks_page
from harness.reporting.pages.rankings import matrix_page, models_page, prompts_page
from harness.reporting.pages.replays import MAX_LISTED, replays_page
from harness.reporting.pages.trends import trends_page
from harness.reporting.report import (
    NO_CONTEXT,
    Report,
    ReportContext,
    anchor,
    open_report,
    replays_link,
)
from harness.reporting.visible import PICTURES, pieces, plain
from harness.results.duties import load_duties
from harness.results.run import Run
from harness.verdicts.database import Questions
from harness.verdicts.gate import Gate
from harness.verdicts.matrix import WORST
from harness.verdicts.statistics import percent

if TYPE_CHECKING:
    import jinja2


class Part(msgspec.Struct, frozen=True):
    """A part of a page; its template is the file `templates/pages/ID.html.j2`.

    Fields:
        id: the name of the template and of the link.
        title: the heading, if the page has several parts.
        view: computes the data of the template, which gets it as `view`.
        is_shown: whether the part has anything to show.
    """

    id: str
    title: str
    view: Callable[[Report], Any]
    is_shown: Callable[[Any], bool] = lambda _: True


class Page(msgspec.Struct, frozen=True):
    """A page of the report: one or more parts, of which it shows those that are not empty.

    Fields:
        id: the name of the link.
        is_shown: whether the list of pages has it, if it is not empty.
        is_reference: whether it is in the menu of references.
    """

    id: str
    title: str
    parts: tuple[Part, ...]
    is_shown: Callable[[Report], bool] = lambda _: True
    is_reference: bool = False

    def is_in(self, report: Report) -> bool:
        """Return whether `report` has this page."""
        parts = any(part.is_shown(report.of(part.view)) for part in self.parts)
        return parts and self.is_shown(report)


def _page(name: str, title: str, view: Callable[[Report], Any], **more: Any) -> Page:  # noqa: ANN401 - fields of a page
    is_shown = more.pop("has", lambda _: True)
    return Page(name, title, (Part(name, title, view, is_shown),), **more)


_total: Final = attrgetter("total")


def _is_ranked(view: Any) -> bool:  # noqa: ANN401 - the view of any page with a ranking
    return bool(view.board.rows)


def _chose_recordings(report: Report) -> bool:
    return report.run.header.selection.chose_recordings


PAGES: Final = (
    _page("overview", "Overview", overview_page),
    Page(
        "failures",
        "Failures",
        (
            Part("failures", "Causes", failures_page, lambda it: bool(it.failures or it.turns)),
            Part("cases", "Cases", cases_page, lambda view: bool(view.cases)),
        ),
    ),
    _page("replays", "Results", replays_page),
    Page(
        "clients",
        "Compare clients",
        (
            Part("pair", "Two clients on the same bytes", pair_page, lambda names: len(names) > 1),
            Part("normalizers", "Normalizers", normalizers_page, _is_ranked),
            Part("agents", "Agents", agents_page, _is_ranked),
            Part("peers", "Third-party libraries", peers_page, lambda view: view.total > 0),
            Part("inputs", "Side by side", inputs_page, lambda view: bool(view.inputs)),
        ),
    ),
    Page(
        "models",
        "Models",
        (
            Part("models", "Models", models_page, _is_ranked),
            Part("prompts", "Prompts", prompts_page, _is_ranked),
            Part("matrix", "Models by prompts", matrix_page, _is_ranked),
        ),
        is_shown=_chose_recordings,
    ),
    Page(
        "changes",
        "Changes",
        (
            Part("compare", "Since the last run", compare_page, bool),
            Part("trends", "Over several runs", trends_page, lambda view: bool(view.trends)),
        ),
    ),
    _page("quirks", "Quirks", quirks_page, has=bool, is_reference=True),
    _page("cassettes", "Cassettes", cassettes_page, has=_total, is_reference=True),
    _page("conversations", "Conversations", conversations_page, has=_total, is_reference=True),
    _page("method", "Method", method_page, is_reference=True),
)

_PACKAGE: Final = "harness.reporting"
_STYLE: Final = (
    *("colours", "text", "layout", "tables", "boards", "squares", "charts", "case", "narrow"),
    "print",
)
_SCRIPT: Final = (
    *("state", "theme", "tables", "copy", "rows", "query", "replays", "sheet", "steps"),
    *("find", "cases", "pair", "pages", "keys", "live"),
)


@cache
def style_sheet() -> str:
    """Return the style sheet."""
    return "".join(_asset_text("style", f"{name}.css") for name in _STYLE)


@cache
def script_text() -> str:
    """Return the JavaScript of the page, in one function."""
    parts = "".join(_asset_text("script", f"{name}.js") for name in _SCRIPT)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def content_policy(*, live: bool) -> str:
    """Return the Content-Security-Policy of the page, which allows only its own style and script.

    Args:
        live: whether the script also asks the server of the page for a newer version.
    """
    return (
        f"default-src 'none'; style-src '{_source_digest(style_sheet())}'; "
        f"script-src '{_source_digest(script_text())}'; img-src data:; "
        f"connect-src '{'self' if live else 'none'}'; base-uri 'none'; form-action 'none'"
    )


def _asset_text(folder: str, name: str) -> str:
    place = resources.files(_PACKAGE) / "templates" / folder / name
    return place.read_text(encoding="utf-8")


def _source_digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def render_page(
    run: Run,
    context: ReportContext = NO_CONTEXT,
    gate: Gate | None = None,
    loaded: Questions | None = None,
) -> str:
    """Return the report of `run` as HTML.

    Args:
        run: a run, finished or not; the page shows which.
        context: further data to show.
        gate: the verdict; None applies the gate without rules of a project.
        loaded: the run as a database, if the caller has loaded it already.
    """
    with open_report(run, context, gate, loaded) as report:
        pages = [page for page in PAGES if page.is_in(report)]
        views = {part.id: report.of(part.view) for page in PAGES for part in page.parts}
        values = _values_of_all_pages(report)
    template = _environment().get_template("page.html.j2")
    return template.render(
        values,
        pages=pages,
        views=views,
        style=Markup(style_sheet()),  # noqa: S704 - our own file, and its digest is in the policy
        script=Markup(script_text()),  # noqa: S704 - as the style
        policy=content_policy(live=context.live),
    )


def render_part(report: Report, part: Part) -> str:
    """Return one part of a page of `report` as HTML, without the frame and the other parts."""
    template = _environment().get_template(f"pages/{part.id}.html.j2")
    return template.render(_values_of_all_pages(report), view=report.of(part.view))


def render_site_page(name: str, **values: Any) -> str:  # noqa: ANN401 - what the template shows
    """Return a page or a badge of the static site; its template is `templates/site/NAME.html.j2`.

    The pages have no script.
    """
    style = f"style-src '{_source_digest(style_sheet())}'; img-src 'self' data:; base-uri 'none'"
    return (
        _environment()
        .get_template(f"site/{name}.html.j2")
        .render(
            **values,
            style=Markup(style_sheet()),  # noqa: S704 - as in `render_page`
            policy=f"default-src 'none'; {style}; form-action 'none'",
            rows=lambda _: 0,
        )
    )


def _values_of_all_pages(report: Report) -> dict[str, Any]:
    return {
        "report": report,
        "shown": report.of(cells_with_case),
        "inputs": report.of(shown_inputs),
        "rows": report.of(cell_index).count,
    }


@cache
def _environment() -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415 - slow to import, and few commands write a page

    from harness.reporting.template_cache import TemplateCache  # noqa: PLC0415 - imports jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("harness.reporting", "templates"),
        bytecode_cache=TemplateCache(),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    environment.globals |= _GLOBALS
    return environment


def _set_fields(value: msgspec.Struct) -> tuple[tuple[str, str], ...]:
    """Return the names and values of the fields of `value` that are not empty."""
    return tuple((key, str(each)) for key, each in msgspec.structs.asdict(value).items() if each)


_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "anchor": anchor,
    "cost_cells": cost_cells,
    "facts": _set_fields,
    "failure_filters": failure_filters,
    "failure_name": failure_name,
    "group_squares": group_squares,
    "number": "{:,}".format,
    "percent": percent,
    "pieces": pieces,
    "plain": plain,
    "points": words.points,
    "reasons": words.reasons_text,
    "turns_filters": turns_filters,
    "unjudged": words.unjudged_fields,
}
_GLOBALS: Final[dict[str, Any]] = {
    "BLAMES": words.BLAMES,
    "CONFORMING": words.CONFORMING,
    "COST_HEAD": COST_HEAD,
    "COST_LIMITS": COST_LIMITS,
    "CASES_PER_CAUSE": CASES_PER_CAUSE,
    "FAILING": words.FAILING,
    "FEW": FEW,
    "JUDGED": words.JUDGED,
    "MAX_CASES": MAX_CASES,
    "MAX_FINDINGS": MAX_FINDINGS,
    "MAX_GROUPS": MAX_GROUPS,
    "MAX_LISTED": MAX_LISTED,
    "MAX_TURN_CASES": MAX_TURN_CASES,
    "PICTURES": PICTURES,
    "RULES": load_duties(),
    "OUTCOME_WORDS": words.OUTCOME_WORDS,
    "WORST": WORST,
    "WORST_FIRST": words.WORST_FIRST,
    "replays_link": replays_link,
}
