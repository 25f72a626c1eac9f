"""A failure as a terminal, pytest and the page show it: what is known, and nothing hostile."""

from msgspec.structs import replace

from harness.project import GateRule
from harness.reporting.charts.lanes import deciding_offset
from harness.reporting.failures import list_failures
from harness.reporting.page import render_page
from harness.reporting.report import ReportContext
from harness.reporting.text.failure import failure_lines
from harness.reporting.text.junit import junit
from harness.reporting.text.verdict import verdict_text
from harness.results.case import Case, Crash
from harness.results.catalogue import Quirk
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.results.scenario_evidence import ScenarioEvidence
from harness.verdicts.gate import judge_gate, summarize
from harness.verdicts.policy import GatePolicy
from harness.wire.framing import iter_frames
from tests.runs.runs_samples import a_case, a_result, a_run

EVIL = "\x1b[31mred\u202e"
BODY = b'data: {"a": 1}\n\ndata: {"b": 2}\n\ndata: [DONE]\n\n'
FRAMES = tuple(iter_frames([BODY]))
TRACE = f'File "mine.py", line 3, in normalize{EVIL}\n  return chunk["a"]'
QUIRK = Quirk("ID-EMPTY", "B", "The id is empty", "s", "r", "lost call", ("https://example.com/1",))
FINDING = Finding("CALL-NAMED", "MUST", Outcome.LOST_CALL, "turns[0].calls[0]", "a name", "", 20)
RAISED = Finding(
    "NO-CRASH",
    "MUST",
    Outcome.CRASH,
    "turns[0].replay",
    "no exception",
    "KeyError: 'a'",
    raised="KeyError in mine:normalize",
)


def _case(cell: str, crash: Crash | None = None) -> Case:
    case = replace(a_case(cell), body=BODY, chunking=(15, 31), frames=FRAMES)
    return replace(case, error="KeyError: 'a'", crash=crash) if crash else case


def _run(count: int = 1, finding: Finding = FINDING, crash: Crash | None = None) -> Run:
    results = [
        a_result(
            f"area/{number}",
            "ours",
            outcome=finding.outcome,
            findings=(replace(finding, rule=finding.rule if number == 0 else f"RULE-{number}"),),
            quirks=(f"Q-{number}",),
        )
        for number in range(count)
    ]
    run = a_run((*results, a_result("area/well", "ours")), "ours")
    cases = {each.cell: _case(each.cell, crash) for each in results}
    return replace(run, cases=cases, outputs={results[0].cell: f"{EVIL}\n" + "line\n" * 30})


def _text(run: Run) -> str:
    summary = summarize(run)
    return verdict_text(run, summary, list_failures(run, summary.gate), {}, colour=False)


def test_a_failure_has_quirk_rule_values_bytes_and_command() -> None:
    result = replace(a_result("area/0", "ours"), quirks=("ID-EMPTY",))
    lines = list(
        failure_lines(
            result,
            findings=[FINDING],
            case=_case(result.cell),
            output="",
            command="harness replay",
            quirks={"ID-EMPTY": QUIRK},
        )
    )
    assert lines[:3] == [
        "  scenario  A title",
        "  quirk     ID-EMPTY: The id is empty",
        "            https://example.com/1",
    ]
    stated = replace(result, evidence=ScenarioEvidence("reported", f"https://b.org/{EVIL}"))
    shown = failure_lines(
        stated, findings=[], case=None, output="", command="c", quirks={"ID-EMPTY": QUIRK}
    )
    assert list(shown) == [
        "  scenario  A title",
        "  evidence  reported: https://b.org/\\x1B[31mredU+202E",
        "  quirk     ID-EMPTY: The id is empty",
        "  see       c",
    ]
    assert lines[3].startswith("  rule      A client must keep the name")
    assert lines[4:] == [
        "            MUST CALL-NAMED at turns[0].calls[0]",
        "  expected  a name",
        '  actual    ""',
        '  bytes     16 to 32: data: {"b": 2}\\x0A\\x0A',
        "  see       harness replay",
    ]


def test_a_crash_has_its_traceback_and_output_and_nothing_hostile() -> None:
    run = _run(finding=RAISED, crash=Crash(TRACE, 20))
    text = _text(run)
    assert "  raised    KeyError: 'a'\n" in text
    assert '            File "mine.py", line 3, in normalize\\x1B[31mredU+202E\n' in text
    assert '              return chunk["a"]\n' in text
    assert "and 11 lines before" in text
    assert "\x1b" not in text
    page = render_page(run, ReportContext(), summarize(run).gate)
    assert "File &#34;mine.py&#34;, line 3, in normalize" in page
    assert "\u202e" not in page


def test_a_turn_that_an_exception_lost_has_the_advice_to_keep_the_rest() -> None:
    advice = "no exception: report the unusable call alone"
    text = _text(_run(finding=replace(RAISED, expected=advice), crash=Crash(TRACE, 20)))
    assert f"  expected  {advice}\n" in text
    assert "  actual" not in text
    assert "  expected" not in _text(_run(finding=RAISED, crash=Crash(TRACE, 20)))


def test_ten_causes_are_shown_and_the_others_counted() -> None:
    text = _text(_run(12))
    assert text.startswith(
        "FAIL  ours: 12 of 13 cells do not conform (12 lost_call)\n\n1. area/0/ours"
    )
    assert "\n10. area/" in text
    assert "\n11. " not in text
    assert text.endswith("and 2 more causes of failure in the report\n")


def test_a_client_whose_failures_a_rule_allows_does_not_fail() -> None:
    run = _run()
    policy = GatePolicy(rules=(GateRule("conformance", min=0.5),))
    summary = summarize(run, policy)
    text = verdict_text(run, summary, list_failures(run, summary.gate), {}, colour=False)
    assert text.startswith("ok    ours: 1 of 2 cells does not conform (1 lost_call)\n")


def test_client_with_scripts_has_the_command_that_writes_one() -> None:
    run = _run()
    facts = tuple(replace(each, has_script=True) for each in run.header.normalizers)
    scripted = replace(run, header=replace(run.header, normalizers=facts))
    command = "harness repro area/0/ours"
    assert command not in _text(run)
    assert f"  script    {command}" in _text(scripted)
    gate = judge_gate(scripted)
    assert command in junit(scripted, gate)
    assert list_failures(scripted, gate)[0].to_copy == f"{command} --in scenarios"


def test_version_of_the_library_is_next_to_the_client() -> None:
    run = _run()
    facts = tuple(replace(each, versions={"lib": "1.7.3"}) for each in run.header.normalizers)
    assert "FAIL  ours 1.7.3: 1 of 2 cells" in _text(
        replace(run, header=replace(run.header, normalizers=facts))
    )


def test_bytes_that_decide_are_shown_and_not_the_done_where_it_was_noticed() -> None:
    done = BODY.index(b"data: [DONE]")
    finding = replace(FINDING, expected='{"a": 1}', offset=done)
    run = _run(finding=finding)
    case = replace(next(iter(run.cases.values())), frames=FRAMES)
    assert deciding_offset(case, finding) == BODY.index(b'{"a": 1}')
    assert deciding_offset(case, replace(finding, offset=20)) == 20
    assert deciding_offset(case, replace(finding, offset=None)) is None
    assert 'bytes     0 to 16: data: {"a": 1}' in _text(run)
