"""The static site of several runs: rankings, pages, badges, and what changed between runs."""

import json
import re

from msgspec.structs import replace

from harness.reporting.report import NamedRun
from harness.reporting.site import site_files
from harness.results.outcome import Outcome
from harness.results.run import Run

EVIL = "../<script>alert(1)</script>\x1b[31m"


def _site(*runs: Run) -> dict[str, str]:
    return site_files([NamedRun(f"run {number}", run) for number, run in enumerate(runs)])


def _without_failures(run: Run) -> Run:
    results = tuple(replace(it, outcome=Outcome.PASS, findings=(), cause="") for it in run.results)
    return replace(run, results=results)


def test_each_client_has_a_page_and_badges_and_the_best_bound_comes_first(sample: Run) -> None:
    files = _site(sample)
    names = ("dashscope-restore", "naive", "reference")
    assert set(files) == {
        *("index.html", "feed.json"),
        *(f"clients/{name}.html" for name in names),
        *(f"badges/{name}.{kind}" for name in names for kind in ("svg", "json")),
    }
    rows = re.findall(r'<a href="clients/([^"]+).html">', files["index.html"])
    assert rows == ["dashscope-restore", "reference", "naive"]
    assert "0 / 5" in files["index.html"]  # without the recordings


def test_page_of_a_client_has_its_causes_with_commands_and_its_history(sample: Run) -> None:
    page = _site(_without_failures(sample), sample)["clients/naive.html"]
    assert "Fails 5 of 5 scenarios; in 2 it hands over a wrong call in silence." in page
    assert page.count("harness replay openai-chat/") == 5
    assert page.index("run 1</th>") < page.index("run 0</th>")
    assert "naive: +5 broken, 0 fixed" in page


def test_feed_has_the_changed_verdicts_only(sample: Run) -> None:
    assert json.loads(_site(sample, sample)["feed.json"])["items"] == []
    (item,) = json.loads(_site(sample, _without_failures(sample))["feed.json"])["items"]
    assert item["title"] == "naive: +0 broken, 5 fixed"
    assert item["content_text"].count("fixed: openai-chat/") == 5


def test_badge_is_an_image_with_the_numbers_of_its_json(sample: Run) -> None:
    files = _site(sample)
    badge = json.loads(files["badges/naive.json"])
    assert (badge["schemaVersion"], badge["message"]) == (1, "0/5 conform")
    assert ">0/5 conform</text>" in files["badges/naive.svg"]


def test_hostile_name_is_text_and_leaves_no_folder(sample: Run) -> None:
    facts = tuple(
        replace(each, name=EVIL if each.name == "naive" else each.name)
        for each in sample.header.normalizers
    )
    results = tuple(
        replace(each, normalizer=EVIL, cell=f"{each.scenario}/{EVIL}")
        if each.normalizer == "naive"
        else each
        for each in sample.results
    )
    header = replace(sample.header, normalizers=facts)
    files = _site(replace(sample, header=header, results=results, cases={}))
    assert len(files) == len(_site(sample))
    assert all(re.fullmatch(r"(clients/|badges/)?[a-z0-9.-]+", path) for path in files)
    assert not any("<script" in text or "\x1b" in text for text in files.values())
    assert all(".." not in path for path in files)
