"""The documentation site: its pages, their links, and the numbers that they show."""

from pathlib import Path

import msgspec
import pytest

from harness import shipped
from harness.dialects.table import DIALECTS
from harness.judging.rules import RULES
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.results.catalogue import load_catalogue
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from scripts.site.catalogue_pages import Catalogue, catalogue_pages
from scripts.site.check_links import broken_links
from scripts.site.client_results import (
    ClientResults,
    client_results,
    load_client_results,
    results_text,
)
from scripts.site.markdown import code_block, prose, table
from scripts.site.reference_pages import reference_pages
from scripts.site.staging import UnstagedLinkError, navigation, stage, staged_pages, with_links
from scripts.site.struct_fields import field_texts
from scripts.site.wire import visible, wire_example
from tests.runs.runs_samples import a_result, a_run
from tests.tables import each_row

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The catalogue with the scenarios of a few folders, since loading all takes seconds."""
    found, root = Catalogue(), shipped.bundled_folder("scenarios")
    paths = find_scenarios([root / "dashscope", root / "framing", root / "mistral"])
    loaded = (load_scenario(path, root) for path in paths)
    found.scenarios = {scenario.id: scenario for scenario in loaded}
    shown = {quirk for each in found.scenarios.values() for quirk in each.quirks}
    found.quirks = {name: it for name, it in found.quirks.items() if name in shown}
    return found


@pytest.fixture(scope="module")
def pages(catalogue: Catalogue) -> dict[str, str]:
    """The pages of the quirks that these scenarios show, of all rules, and of one dialect."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scripts.site.catalogue_pages.DIALECTS", {"mistral": DIALECTS["mistral"]})
        return dict(catalogue_pages(catalogue))


def test_each_quirk_and_rule_has_a_page_that_its_list_links(
    catalogue: Catalogue, pages: dict[str, str]
) -> None:
    for folder, names in (("quirks", catalogue.quirks), ("rules", RULES)):
        assert [name for name in names if f"{folder}/{name}.md" not in pages] == []
        assert [name for name in names if f"({name}.md)" not in pages[f"{folder}/index.md"]] == []


def test_page_of_a_quirk_shows_the_wire_and_who_handles_it(pages: dict[str, str]) -> None:
    text = pages["quirks/DELTA-ID-EMPTY-LATER.md"]
    assert '"id": ""' in text
    assert "harness show dashscope/" in text
    assert "\nEvidence: re" in text  # recorded or reported, and not invented
    assert "| scenario | title | evidence |" in text
    assert "| `naive` | bundled, known-bad | gateway | 0 / " in text
    assert "[`CALL-NAMED`](../rules/CALL-NAMED.md)" in text


def test_page_of_a_rule_shows_levels_and_mutants(pages: dict[str, str]) -> None:
    text = pages["rules/CALL-NAMED.md"]
    assert "| gateway | anything | MUST |" in text
    assert "| `name-lost` |" in text


def test_page_of_a_dialect_shows_writer_options(pages: dict[str, str]) -> None:
    assert "| `padding` | `false` | the key `p` of random length" in pages["dialects/mistral.md"]


def test_committed_results_name_what_the_catalogue_has() -> None:
    found = load_client_results()
    quirks = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    assert set(found.quirks) - set(quirks) == set()
    assert set(found.rules) - set(RULES) == set()
    for counts in found.quirks.values():
        assert set(counts) <= set(found.clients)
    for violations in found.rules.values():
        assert set(violations) <= set(found.clients)


def test_results_count_judged_scenarios_only() -> None:
    finding = Finding("CALL-NAMED", "MUST", Outcome.LOST_CALL, "turns[0]", "", "")
    lost, passed, recorded, unsupported = (
        msgspec.structs.replace(a_result(name, "naive", outcome=outcome), quirks=("Q",))
        for name, outcome in (
            ("a/one", Outcome.LOST_CALL),
            ("a/two", Outcome.PASS),
            ("cassette:c", Outcome.PASS),
            ("a/three", Outcome.UNSUPPORTED),
        )
    )
    lost = msgspec.structs.replace(lost, findings=(finding,))
    results = (lost, passed, recorded, unsupported)
    found = client_results([a_run(results, "naive")])
    assert found.quirks == {"Q": {"naive": (1, 2)}}
    assert found.rules == {"CALL-NAMED": {"naive": 1}}
    assert msgspec.json.decode(results_text(found), type=ClientResults) == found


@each_row(
    ("source", "link", "expected"),
    [
        ("README.md", "docs/tutorial.md", "tutorial.md"),
        ("README.md", "docs/decisions/", "decisions/index.md"),
        ("docs/how-to/record.md", "../../README.md", "../overview.md"),
        ("docs/how-to/record.md", "../reference/cli.md#harness-run-paths", None),
        ("docs/reference/rules.md", "../../LICENSE", "../files/LICENSE"),
        ("examples/own-client/README.md", "../../docs/how-to/record.md", "../how-to/record.md"),
    ],
)
def test_links_fit_the_site(source: str, link: str, expected: str | None) -> None:
    text = with_links(f"See [it]({link}), not `[code]({link})`.", source, staged_pages())
    assert text == f"See [it]({expected or link}), not `[code]({link})`."


def test_link_that_leads_nowhere_is_an_error() -> None:
    with pytest.raises(UnstagedLinkError, match=r"README\.md: the link docs/none\.md"):
        with_links("[it](docs/none.md)", "README.md", staged_pages())


def test_staged_site_has_all_pages_in_its_navigation(tmp_path: Path) -> None:
    stage(tmp_path)
    for name, text in reference_pages():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    indexes = (path.read_text() for path in tmp_path.glob("*/index.md"))
    listed = "\n".join((*navigation(tmp_path), *indexes))
    names = {path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.md")}
    below = {"schemas", "index"}
    assert [it for it in names if it.name not in listed and not below & {*it.parts}] == []


def test_front_page_links_each_page_of_docs() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    folders = ("how-to", "reference", "explanation")
    paths = (path for folder in folders for path in (ROOT / "docs" / folder).glob("*.md"))
    assert [path.name for path in paths if f"{path.parent.name}/{path.name})" not in text] == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">1</a><a href="b.html#gone">2</a><img src="none.png">'
        '<a href="https://example.com/x">3</a><a href="#top">4</a><p id="top">'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    assert list(broken_links(tmp_path)) == [
        "a.html: b.html#gone: no such heading",
        "a.html: none.png: no such file",
    ]


def test_prose_keeps_code_and_escapes_the_rest() -> None:
    assert prose("a `<b>` and <b>\n  [x]") == "a `<b>` and \\<b\\> \\[x\\]"


def test_bar_in_a_cell_ends_no_cell() -> None:
    assert list(table(("a",), [("x|y",)]))[2] == r"| x\|y |"


def test_code_block_survives_fences() -> None:
    assert next(iter(code_block("~~~\n"))) == "~~~~text"


def test_invisible_characters_have_names() -> None:
    assert visible(b"a\r\xff\xe2\x80\xa8") == "a<CR><\\xFF><U+2028>"


def test_wire_example_is_short(catalogue: Catalogue) -> None:
    text = wire_example(catalogue.cassette("dashscope/qwen-plus/split-chunks"))
    assert text.startswith("# response 1: status 200, text/event-stream")
    assert len(text.splitlines()) <= 41


def test_texts_of_fields_come_from_the_docstring() -> None:
    texts = field_texts(DIALECTS["mistral"].writer_options.__doc__ or "")
    assert texts["padding"] == "the key `p` of random length in each chunk."
    assert texts["model"] == texts["response_id"] == "their values in the chunks."
