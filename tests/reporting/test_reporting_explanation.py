"""Explanations of findings: duty, level, sources, and the clients that fulfil the duty."""

import msgspec

from harness import shipped
from harness.judging.rules import RULES
from harness.reporting.explanation import explain_findings, explanation_lines
from harness.reporting.failures import list_failures
from harness.reporting.page import render_page
from harness.results.catalogue import load_catalogue
from harness.results.duties import load_duties, rulings_of
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.verdicts.gate import judge_gate
from tests.runs.runs_samples import a_finding, a_result, a_run

_RULE = "CALL-IDS-UNIQUE"


def _finding(path: str, came: str = "", level: str = "MUST") -> Finding:
    return msgspec.structs.replace(a_finding(_RULE, level=level), path=path, came=came)


def test_each_rule_and_kind_is_explained_with_its_own_sources() -> None:
    quirks = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    for rule in RULES.values():
        for ruling in rulings_of(rule.id):
            finding = Finding(rule.id, ruling.level, rule.outcome, "x", "a", "b", came=ruling.came)
            result = a_result("s", findings=(finding,))
            assert ruling.kind
            (found,) = explain_findings(result, ruling.kind, (), quirks)
            assert found.explanation is not None
            assert tuple(each.name for each in found.explanation.source) == ruling.source
            assert all(it.address.startswith("https://") for it in found.explanation.source)
            text = "\n".join(explanation_lines(found.explanation))
            assert load_duties()[rule.id].duty in text
            assert f"{ruling.level} for the kind {ruling.kind}. {ruling.because}".strip() in text


def test_a_rule_is_explained_once_and_an_unknown_one_not_at_all() -> None:
    unknown = a_finding("OLD-RULE")
    result = a_result(
        "s", findings=(_finding("a"), _finding("b"), _finding("c", "as-sent"), unknown)
    )
    explained = [each.explanation is not None for each in explain_findings(result, "gateway")]
    assert explained == [True, False, True, False]


def test_only_clients_that_conform_without_the_finding_do_it_right() -> None:
    result = a_result("s", findings=(_finding("a"),))
    others = [
        result,
        a_result("s", normalizer="good"),
        a_result("s", normalizer="allowed", findings=(_finding("a", "as-sent", "MAY"),)),
        a_result("s", outcome=Outcome.CRASH, normalizer="broken"),
        a_result("s", outcome=Outcome.UNSUPPORTED, normalizer="other"),
        a_result("s", outcome=Outcome.UNJUDGED, normalizer="open"),
    ]
    (found,) = explain_findings(result, "gateway", others)
    assert found.explanation is not None
    assert found.explanation.right == ("good",)


def test_the_page_names_duty_level_and_who_is_right_and_no_mutant() -> None:
    failing = a_result("s", outcome=Outcome.MISMATCH, normalizer="bad", findings=(_finding("a"),))
    others = [a_result("s", normalizer=name) for name in ("good", "broken-on-purpose")]
    run = a_run([failing, *others], "bad", "good", "broken-on-purpose")
    bad, good, mutant = run.header.normalizers
    facts = (
        msgspec.structs.replace(bad, kind="sdk"),
        good,
        msgspec.structs.replace(mutant, role="mutant"),
    )
    header = msgspec.structs.replace(run.header, normalizers=facts)
    page = render_page(msgspec.structs.replace(run, header=header))
    assert load_duties()[_RULE].duty in page
    assert "MUST for the kind sdk." in page
    assert "<dt>done right by</dt><dd>good</dd>" in page


def test_what_a_rule_allows_is_in_no_list_of_failures() -> None:
    allowed = a_result("s", findings=(_finding("a", "as-sent", "MAY"),))
    run = a_run([allowed])
    assert allowed.reported == ()
    assert list_failures(run, judge_gate(run)) == ()
    should = a_run([a_result("s", findings=(_finding("a", level="SHOULD"),))])
    assert len(list_failures(should, judge_gate(should))) == 1
