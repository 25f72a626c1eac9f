"""The peers page of the report: each peer has one row, with the numbers of `docs/matrix.md`."""

import re
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness import shipped
from harness.peers.matrix_page import render_matrix
from harness.peers.record import PeerResults, write_merged_run
from harness.reporting.page import PAGES, render_page, render_part
from harness.reporting.report import ReportContext, anchor, open_report
from harness.results.catalogue import load_catalogue
from harness.results.cost import Cost
from harness.results.dialect_titles import DIALECT_TITLES
from harness.results.outcome import Outcome
from harness.results.run import Header, Run
from harness.results.store import read_run
from harness.verdicts.matrix import GROUPS
from tests.peers.peers_samples import Cell, a_record, an_agent, cells, peer, results_of
from tests.runs.runs_samples import a_finding, a_result

CATALOGUE = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
CONTEXT = ReportContext(quirks=CATALOGUE)
PEERS = next(part for page in PAGES for part in page.parts if part.id == "peers")
HOSTILE = '<img src=x onerror="alert(1)">|\u202e{{7*7}}&amp;'
COST = Cost("openai-chat", 40_000, 5_000, 1.0, 120.0, 7.9, 0.5, None, 9_000_000, "it died")
costs = st.none() | st.builds(
    replace, st.just(COST), time=st.none() | st.floats(0, 900), growth=st.none() | st.floats(0, 9)
)


class Tables(HTMLParser):
    """Collects the texts of the cells of each named table, and all attributes of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {}
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._table: list[list[str]] = []
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.tags.append((tag, named))
        if tag == "table":
            self._table = self.rows.setdefault(named.get("data-table", ""), [])
        elif tag == "tr":
            self._table.append([])
        elif tag in ("td", "th"):
            self._table[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self._table[-1][-1] += data

    def columns(self, table: str, *names: str) -> list[list[str]]:
        """Return these columns of all rows of `table`, without spaces."""
        head, *rows = (list(map(squeezed, row)) for row in self.rows.get(table, [[]]))
        where = {name: [n for n, it in enumerate(head) if it.startswith(name)] for name in names}
        return [[row[where[name][0]] for name in names] for row in rows]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()


def merged(*results: PeerResults) -> Run:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "all.jsonl"
        write_merged_run(results, path)
        return read_run(path)


def tables(*results: PeerResults) -> Tables:
    """Return the tables of the page of peers; the report has sixteen others."""
    with open_report(merged(*results), CONTEXT) as report:
        return Tables(render_part(report, PEERS))


def markdown(*results: PeerResults) -> str:
    return render_matrix(results, CATALOGUE)


def section(text: str, title: str) -> str:
    """Return what is under a heading of `docs/matrix.md`."""
    level = title.split(maxsplit=1)[0]
    return re.split(rf"\n#{{1,{len(level)}}} ", text.partition(f"{title}\n")[2])[0]


def rows_of(part: str, width: int) -> list[list[str]]:
    """Return the rows of the tables in `part`, without spaces: `width` columns, links as text."""
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    body = [line for line in lines if not line.startswith(("| ---", "| peer "))]
    text = re.compile(r"\[(.*?)\]\(.*?\)")
    rows = [[text.sub(r"\1", cell) for cell in line.strip("| ").split(" | ")] for line in body]
    return [list(map(squeezed, row[:width])) for row in rows]


RATES = ("scenarios", "rate", "interval", "recordings", "causes", "unjudged")


def without_group_tables(part: str) -> str:
    return part.partition("\nScenarios by group")[0]


@given(cells, cells, costs)
def test_the_page_and_the_matrix_have_equal_numbers(
    some: list[Cell], others: list[Cell], cost: Cost | None
) -> None:
    dead = PeerResults(a_record("dead", not_judged="exit code -9"), None)
    first = replace(
        peer(results_of(some, "ollama"), "ollama"), record=a_record("ollama", cost=cost)
    )
    found = (first, peer(results_of(others, "other"), "other"), dead)
    page, text = tables(*found), markdown(*found)
    wanted = rows_of(section(text, "## Peers"), 13)
    names = ("peer", "library", "version", "kind", *RATES, "unsupported", "seconds", "date")
    assert page.columns("peers", *names) == wanted
    assert len(wanted) == 2
    assert page.columns("peers-cost", "peer", "dialect", "deltas", "time", "growth", "memory") == [
        row[:6] for row in rows_of(section(text, "## Cost"), 7) if len(row) > 2
    ]
    for dialect, title in DIALECT_TITLES.items():
        part = section(text, f"### {title} ({dialect})")
        rates = page.columns(f"peers-dialect-{dialect}", "peer", *RATES)
        assert rates == rows_of(without_group_tables(part), 7)
    for group, title in GROUPS.items():
        rates = page.columns(f"peers-group-{group or 'none'}", "peer", *RATES)
        assert rates == rows_of(section(text, f"### {title}"), 7)
    commands = re.findall(r"`(harness peers exec [^`]*)`", section(text, "## Worst failures"))
    shown = page.columns("peers-failures", "peer", "caseandcommand")
    assert [cell.partition("harness")[2] for _, cell in shown] == [
        command.replace(" ", "").removeprefix("harness") for command in commands
    ]


@given(cells)
def test_the_squares_of_a_dialect_have_the_numbers_of_the_matrix(found: list[Cell]) -> None:
    results = peer(results_of(found))
    page, text = tables(results), markdown(results)
    for dialect, title in DIALECT_TITLES.items():
        part = section(text, f"### {title} ({dialect})").partition("\nScenarios by group")[2]
        wanted = [re.findall(r"(\d+)/(\d+)", " ".join(row)) for row in rows_of(part, 99)]
        squares = page.rows.get(f"peers-groups-dialect-{dialect}", [[]])[1:]
        assert [re.findall(r"(\d+)/(\d+)", " ".join(row[1:])) for row in squares] == wanted


@given(cells, cells, cells)
def test_agents_have_a_table_of_their_own_with_the_numbers_of_the_matrix(
    turns: list[Cell], some: list[Cell], others: list[Cell]
) -> None:
    agents = (
        an_agent(results_of(some, "loop"), "loop"),
        an_agent(results_of(others, "other-loop"), "other-loop"),
    )
    found = (peer(results_of(turns)), *agents)
    page, text = tables(*found), markdown(*found)
    part = section(text, "## Agents over conversations")
    rows = page.columns("peers-agents", "peer", *RATES)
    assert rows == rows_of(without_group_tables(part), 7)
    judged = (("loop", some), ("other-loop", others))
    named = {
        name for name, own in judged if any(cell.outcome is not Outcome.UNSUPPORTED for cell in own)
    }
    assert {name for name, *_ in rows} == named
    counts = [re.findall(r"(\d+)/(\d+)", " ".join(row)) for row in _groups(part)]
    squares = page.rows.get("peers-groups-agents", [[]])[1:]
    assert [re.findall(r"(\d+)/(\d+)", " ".join(row[1:])) for row in squares] == counts
    for dialect in DIALECT_TITLES:
        assert {name for name, *_ in page.columns(f"peers-dialect-{dialect}", "peer")} <= {"lib"}


def _groups(part: str) -> list[list[str]]:
    return rows_of(part.partition("\nScenarios by group")[2], 99)


@given(st.lists(st.text(max_size=9).map(lambda it: f"{it}{HOSTILE}"), unique=True, min_size=1))
def test_hostile_names_are_text_and_each_has_one_row(names: list[str]) -> None:
    names = [name.encode("utf-8", "replace").decode() for name in names]
    cost = replace(COST, dialect=HOSTILE, not_measured=HOSTILE)
    facts = {"package": HOSTILE, "version": HOSTILE, "at": HOSTILE, "selection": HOSTILE}
    found = []
    for name in dict.fromkeys(names):
        finding = replace(a_finding("CALLS-KEPT"), expected=HOSTILE, actual=HOSTILE)
        result = a_result("a/b", name, outcome=Outcome.LOST_CALL, findings=(finding,))
        found.append(PeerResults(a_record(name, cost=cost, **facts), peer((result,), name).run))
    dead = PeerResults(a_record(HOSTILE * 2, not_judged=HOSTILE), None)
    html = render_page(merged(*found, dead), CONTEXT)
    page = Tables(html)
    assert len(page.rows["peers"]) - 1 == len(found)
    assert len(page.rows["peers-not-judged"]) - 1 == 1
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert not [name for _, each in page.tags for name in each if name.startswith("on")]
    assert "\u202e" not in html
    assert "alert(1)" not in html.partition("</script>")[0]
    ids = [each["id"] for _, each in page.tags if "id" in each]
    assert len(ids) == len(set(ids))


def test_each_peer_that_fails_links_to_its_failures_and_their_cases() -> None:
    def failing(name: str) -> PeerResults:
        results = (
            a_result(f"a/{n}", name, outcome=Outcome.LOST_CALL, findings=(a_finding(f"RULE-{n}"),))
            for n in range(5)
        )
        return peer(tuple(results), name)

    run = merged(failing("one"), peer((a_result("a/0", "good"),), "good"))
    page = Tables(render_page(run, CONTEXT))
    links = [each["href"] for _, each in page.tags if "href" in each]
    ids = {each["id"] for _, each in page.tags if "id" in each}
    assert f"#{anchor('one', 'peer')}" in links
    assert f"#{anchor('good', 'peer')}" not in links
    assert anchor("one", "peer") in ids
    rows = page.rows["peers-failures"][1:]
    assert len(rows) == 3  # the worst causes of the one that fails
    assert {f"#{anchor(f'a/{n}/one')}" for n in range(3)} <= set(links)


def test_the_report_of_another_run_has_no_peers() -> None:
    run = peer((a_result(),)).run
    assert run is not None
    html = render_page(run, CONTEXT)
    assert 'id="peers"' not in html
    assert "peers-failures" not in Tables(html).rows


def test_the_header_of_a_merged_run_keeps_the_facts_of_all_peers() -> None:
    dead = PeerResults(a_record("dead", not_judged="it died"), None)
    found = (replace(peer((a_result("a/b", "lib"),)), record=a_record("lib", cost=COST)), dead)
    kept = merged(*found).header.peers
    assert [msgspec.structs.asdict(it) for it in kept] == [
        msgspec.structs.asdict(it.record) for it in found
    ]


def test_the_header_of_an_older_run_has_no_peers() -> None:
    header = merged(peer((a_result("a/b", "lib"),))).header
    older = {key: value for key, value in msgspec.to_builtins(header).items() if key != "peers"}
    assert msgspec.convert(older, Header).peers == ()


def test_a_newer_harness_may_add_facts_of_a_peer() -> None:
    header = msgspec.to_builtins(merged(peer((a_result("a/b", "lib"),))).header)
    header["peers"][0]["new"] = 1
    assert msgspec.convert(header, Header).peers[0].name == "lib"
