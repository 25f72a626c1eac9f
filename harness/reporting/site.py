"""Write a static site of several runs: rankings by dialect, a page and badges for each client.

Bundled recordings and unjudged cells count in no rate. Each file depends on the runs only.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from harness.reporting.cell_index import RECORDINGS
from harness.reporting.failures import Failure, failure_of
from harness.reporting.page import render_site_page
from harness.reporting.report import NamedRun
from harness.reporting.text.files import Badge, json_text
from harness.results.dialect_titles import DIALECT_TITLES
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import Run
from harness.verdicts.causes import failing_causes
from harness.verdicts.compare import Change, compare
from harness.verdicts.statistics import Interval, percent, percent_range, wilson

MOST_CHANGES: Final = 100
_ODD: Final = re.compile(r"[^a-z0-9.-]+")
_CONVERSATIONS: Final = "Conversations"
# Rough width of a character of the badge, and the room around a text.
_CHARACTER: Final = 7
_ROOM: Final = 10


class Rate(msgspec.Struct, frozen=True):
    """How many of the judged scenarios of a client conform, and in how many it fails in silence."""

    k: int
    n: int
    silent: int

    @property
    def interval(self) -> Interval:
        """The Wilson 95 % interval."""
        return wilson(self.k, self.n)

    @property
    def share(self) -> str:
        """The rate in percent."""
        return percent(self.k / self.n)

    @property
    def range(self) -> str:
        """The interval in percent."""
        return percent_range(*self.interval)

    @property
    def message(self) -> str:
        """The text of a badge."""
        return f"{self.k}/{self.n} conform"

    @property
    def colour(self) -> str:
        """The colour of a badge: green if all conform, red below nine of ten."""
        if self.k == self.n:
            return "#17663a"
        return "#7a4b00" if self.k >= 0.9 * self.n else "#a8201a"


class ClientRun(msgspec.Struct, frozen=True):
    """One client in one run: its version, its rate in all dialects and in each, and its results."""

    label: str
    version: str
    rate: Rate
    dialects: dict[str, Rate]
    run: Run


class SiteChange(msgspec.Struct, frozen=True):
    """The cells of a client whose verdict differs from that of its run before."""

    client: str
    page: str
    before: str
    label: str
    version: str
    changes: tuple[Change, ...]

    @property
    def title(self) -> str:
        """What changed, in one line."""
        counts = Counter(each.way for each in self.changes)
        versions = f" {self.version}" if self.version else ""
        return f"{self.client}{versions}: +{counts['broken']} broken, {counts['fixed']} fixed"


class SiteClient(msgspec.Struct, frozen=True):
    """A client with its runs, the oldest first, and the causes of the newest one.

    Fields:
        slug: the name of its files.
    """

    name: str
    slug: str
    runs: tuple[ClientRun, ...]
    failures: tuple[Failure, ...]
    changes: tuple[SiteChange, ...]

    @property
    def newest(self) -> ClientRun:
        """Its newest run."""
        return self.runs[-1]


def site_files(runs: Sequence[NamedRun]) -> dict[str, str]:
    """Return path -> text of all files of the site.

    Args:
        runs: the runs, the oldest first; a client may be in several of them.
    """
    clients = _clients(runs)
    changes = [change for each in clients for change in each.changes]
    tables = tuple(_tables(clients))
    files = {
        "index.html": render_site_page("index", clients=clients, tables=tables, changes=changes),
        "feed.json": json_text(_feed(changes)),
    }
    for each in clients:
        rate = each.newest.rate
        files[f"clients/{each.slug}.html"] = render_site_page("client", client=each)
        badge = Badge("tool calls", rate.message, rate.colour)
        files[f"badges/{each.slug}.svg"] = badge_svg(badge)
        files[f"badges/{each.slug}.json"] = json_text(badge)
    return files


def _clients(runs: Sequence[NamedRun]) -> tuple[SiteClient, ...]:
    found: dict[str, list[ClientRun]] = defaultdict(list)
    for named in runs:
        by_client: dict[str, list[Result]] = defaultdict(list)
        for result in named.run.results:
            if not result.scenario.startswith(RECORDINGS):
                by_client[result.normalizer].append(result)
        for name in named.run.header.names:
            part = replace(named.run, results=tuple(by_client[name]))
            if any(each.outcome.judged for each in part.results):
                found[name].append(_client_run(named.label, name, part))
    return tuple(_client(name, tuple(each)) for name, each in sorted(found.items()))


def _client_run(label: str, name: str, run: Run) -> ClientRun:
    groups: dict[str, list[Result]] = defaultdict(list)
    for each in run.results:
        talks = each.kind == "conversation"
        groups[_CONVERSATIONS if talks else each.dialect].append(each)
    dialects = {dialect: _rate(each) for dialect, each in sorted(groups.items())}
    judged = {dialect: rate for dialect, rate in dialects.items() if rate.n}
    return ClientRun(label, run.header.version_of(name), _rate(run.results), judged, run)


def _rate(results: Iterable[Result]) -> Rate:
    judged = [each for each in results if each.outcome.judged]
    silent = sum(each.outcome is Outcome.SILENT_WRONG for each in judged)
    return Rate(sum(each.outcome.conforms for each in judged), len(judged), silent)


def _client(name: str, runs: tuple[ClientRun, ...]) -> SiteClient:
    newest = runs[-1].run
    results = {each.cell: each for each in newest.results}
    failures = (failure_of(each, results, newest.header) for each in failing_causes(newest.results))
    slug = _slug(name)
    changes = tuple(
        each
        for before, after in pairwise(runs)
        if (each := _change(name, slug, before, after)).changes
    )
    return SiteClient(name, slug, runs, tuple(failures), changes)


def _change(name: str, slug: str, before: ClientRun, after: ClientRun) -> SiteChange:
    found = compare(before.run, after.run).changes
    changed = tuple(each for each in found if each.way in ("broken", "fixed"))
    page = f"clients/{slug}.html"
    return SiteChange(name, page, before.label, after.label, after.version, changed)


def _tables(clients: Sequence[SiteClient]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the title of each dialect and its clients with their rates, the best bound first."""
    found = {dialect for each in clients for dialect in each.newest.dialects}
    dialects = sorted(found, key=lambda it: (it == _CONVERSATIONS, it))
    for dialect in dialects:
        rows = [
            (it, it.newest.dialects[dialect]) for it in clients if dialect in it.newest.dialects
        ]
        rows.sort(key=lambda row: (-row[1].interval.low, -row[1].k, row[0].name))
        yield DIALECT_TITLES.get(dialect, dialect), tuple(rows)


def _slug(name: str) -> str:
    """Return a file name for a client; names that differ only in odd characters stay apart."""
    plain = _ODD.sub("-", name.lower()).strip("-.")
    digest = sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return plain if plain == name else f"{plain or 'client'}-{digest}"


def badge_svg(badge: Badge) -> str:
    """Return a badge as SVG, with the label at the left and the message at the right."""
    left, right = (len(text) * _CHARACTER + _ROOM for text in (badge.label, badge.message))
    return render_site_page("badge", badge=badge, left=left, right=right)


def _feed(changes: Sequence[SiteChange]) -> dict[str, Any]:
    """Return the changed verdicts as a feed, the newest of each client first."""
    items = [
        {
            "id": sha256(f"{each.client}\0{each.before}\0{each.label}".encode()).hexdigest()[:16],
            "url": each.page,
            "title": each.title,
            "content_text": "\n".join(
                f"{change.way}: {change.cell}" for change in each.changes[:MOST_CHANGES]
            ),
        }
        for each in reversed(changes)
    ]
    return {"version": "https://jsonfeed.org/version/1.1", "title": "Verdicts", "items": items}
