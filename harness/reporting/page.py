"""A run -> one self-contained HTML page, as a string.

Pure: same run, same bytes; no clock, no file but the templates of this package. Text of
streams is hostile: templates escape everything, and the page's own content policy allows
the one script and the one style sheet by their digests and nothing else.
"""

from functools import cache

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.reporting import assets
from harness.reporting.anchors import anchor, search
from harness.reporting.beside import NOTHING, Beside
from harness.reporting.boards import FEW
from harness.reporting.cassette_view import MOST_CASSETTES
from harness.reporting.failures import CASES_PER_SIGNATURE, MAX_CASES, MAX_GROUPS
from harness.reporting.view import MAX_LISTED, view
from harness.reporting.visible import PICTURES, pieces, plain
from harness.reporting.words import BLAMES, WORD, WORST_FIRST, percent
from harness.runs.gate import Gate
from harness.runs.run import Run


def page(run: Run, beside: Beside = NOTHING, gate: Gate | None = None) -> str:
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
            view=view(run, beside, gate),
            style=Markup(assets.style()),  # noqa: S704 - our own file, and its digest is in the policy
            script=Markup(assets.script()),  # noqa: S704 - as the style
            policy=assets.policy(live=beside.live),
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
        "facts": _facts,
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
        "WORD": WORD,
        "WORST_FIRST": WORST_FIRST,
        "search": search,
    }
    return environment


def _facts(said: msgspec.Struct) -> tuple[tuple[str, str], ...]:
    """Return the fields of `said` that say something, with their values."""
    return tuple((key, str(value)) for key, value in msgspec.structs.asdict(said).items() if value)
