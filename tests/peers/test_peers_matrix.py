"""The matrix: counts add up, what was not judged is never a pass, and text creates no markup."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.peers.inputs import current_digests, inputs_digest, mark_older
from harness.peers.matrix_page import render_matrix
from harness.peers.record import (
    PeerRecord,
    PeerResults,
    read_results,
    write_merged_run,
    write_record,
)
from harness.peers.table import peers
from harness.results.catalogue import load_catalogue
from harness.results.cost import Cost
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.store import RunWriter, read_run
from harness.verdicts.matrix import GROUPS, Tally, by_dialect, by_group, tally, worst_failures
from tests.peers.peers_samples import Cell, a_record, an_agent, cells, peer, results_of
from tests.runs.runs_samples import a_finding, a_header, a_result

CATALOGUE = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
COUNTS = ("conforming", "judged", "unjudged", "unsupported")


def page(*results: PeerResults) -> str:
    return render_matrix(results, CATALOGUE)


def sums(parts: dict[str, tuple[Result, ...]]) -> dict[str, int]:
    return {
        field: sum(getattr(tally(results), field) for results in parts.values()) for field in COUNTS
    }


def of(found: Tally) -> dict[str, int]:
    return {field: getattr(found, field) for field in COUNTS}


@given(cells)
def test_the_parts_add_up_to_all_cells(found: list[Cell]) -> None:
    results = results_of(found)
    total = tally(results)
    assert total.judged + total.unjudged + total.unsupported == len(results)
    assert sums(by_dialect(results)) == of(total)
    assert sums(by_group(results, CATALOGUE)) == of(total)
    assert set(by_group(results, CATALOGUE)) <= set(GROUPS)


@given(cells)
def test_failures_by_cause_are_all_cells_that_do_not_conform(found: list[Cell]) -> None:
    results = results_of(found)
    total, worst = tally(results), tuple(worst_failures(results, len(results)))
    assert sum(failure.cause.cells for failure in worst) == total.judged - total.conforming
    assert len(worst) == total.causes
    outcomes = [each.cause.outcome for each in worst]
    assert [it.badness for it in outcomes] == sorted(it.badness for it in outcomes)
    assert all(it.example.outcome is it.cause.outcome for it in worst)


@given(cells)
def test_a_cell_that_is_not_judged_never_conforms(found: list[Cell]) -> None:
    results = results_of(found)
    total = tally(results)
    for outcome in (Outcome.UNJUDGED, Outcome.UNSUPPORTED):
        for at, result in enumerate(results):
            changed = (*results[:at], replace(result, outcome=outcome), *results[at + 1 :])
            now = tally(changed)
            assert now.conforming == total.conforming - result.outcome.conforms
            assert now.judged == total.judged - result.outcome.judged


@given(cells)
def test_the_page_has_the_numbers_of_the_peer(found: list[Cell]) -> None:
    results = results_of(found)
    scenarios = tally(result for result in results if not result.scenario.startswith("cassette:"))
    (row,) = (line for line in page(peer(results)).splitlines() if "library (python)" in line)
    counts = f"{scenarios.conforming} / {scenarios.judged}" if scenarios.judged else "none judged"
    assert row.split(" | ")[4] == counts
    assert bool(row.split(" | ")[5]) is (scenarios.judged > 0)


def test_rows_of_the_matrix_are_marked_if_their_inputs_changed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "matrix.md").read_text(encoding="utf-8")
    current = current_digests()
    assert current.keys() == peers().keys()
    marked = mark_older(page, current)
    assert marked == page, "run `python -m scripts.matrix_marks`, or `make matrix`"


def test_a_row_is_older_if_a_scenario_or_the_adapter_is_another() -> None:
    digest = inputs_digest(peers()["ollama"], ["ollama"])
    assert digest != inputs_digest(peers()["ollama"], ["ollama", "tgi"])
    assert digest != inputs_digest(peers()["boto3"], ["ollama"])
    row = "| [ollama](#ollama) | 1 / 2 | 2026-11-23 | {} |\n| boto3 | 2026-11-23 | unknown |"
    fresh = mark_older(row.format(digest), {"ollama": digest})
    judged = row.format(digest).splitlines()[0]
    assert fresh.splitlines() == [judged, "| boto3 | 2026-11-23 | unknown older |"]
    older = mark_older(fresh, {"ollama": "0" * 12})
    assert older.splitlines()[0] == row.format(f"{digest} older").splitlines()[0]
    assert mark_older(older, {"ollama": digest}) == fresh


def test_a_peer_without_a_judged_cell_is_not_shown_as_a_pass() -> None:
    text = page(peer((a_result("a/b", "lib", outcome=Outcome.UNJUDGED),)))
    assert "100.0 %" not in text
    assert "| none judged |  |" in text


def test_an_agent_is_compared_with_agents_only() -> None:
    agent = an_agent((a_result("loops/b", "loop"),), "loop")
    text = page(peer((a_result("a/b", "lib"),)), agent)
    turns, _, agents = text.partition("## Agents over conversations")
    assert "| loop |" not in turns.partition("## By dialect")[2]
    assert "| loop | 1 / 1 |" in agents
    assert "| lib |" not in agents.partition("## By group")[0]


def test_a_peer_that_was_not_judged_is_listed_with_the_reason() -> None:
    dead = PeerResults(a_record("dead", not_judged="exit code -9"), None)
    text = page(peer((a_result("a/b", "lib"),)), dead)
    assert "1 of 2 peers judged" in text
    assert "| dead | library | 1.0 | exit code -9 |" in text


def test_a_peer_without_results_is_listed_as_not_run() -> None:
    text = render_matrix([peer((a_result("a/b", "lib"),))], CATALOGUE, peers().values())
    rows = text.partition("## Not judged")[2].partition("##")[0]
    assert rows.count("| not run |") == len(peers())
    assert f"1 of {len(peers()) + 1} peers judged" in text


def test_a_failure_has_an_example_and_a_command() -> None:
    finding = a_finding("CALLS-KEPT")
    results = [
        a_result(name, "lib", outcome=Outcome.LOST_CALL, findings=(finding,))
        for name in ("cassette:area/a", "area/z")
    ]
    text = page(peer(tuple(results)))
    assert "`lost_call` in 2 cells: **CALLS-KEPT · other calls came out**" in text
    assert "`harness peers exec lib repro area/z/lib`" in text
    assert "expected `a`, found `b`" in text


def test_text_of_a_stream_creates_no_markup() -> None:
    finding = replace(a_finding("CALLS-KEPT"), actual="<img src=x>\n# [a](b) | @all")
    result = a_result("area/a", "lib", outcome=Outcome.LOST_CALL, findings=(finding,))
    text = page(peer((result,)))
    assert "found `<img src=x>\\x0A# [a](b) | @all`" in text  # on one line, as code


def test_a_reason_creates_no_markup() -> None:
    dead = PeerResults(a_record("dead", not_judged="<b> | [a](b)"), None)
    assert "| &lt;b&gt; \\| \\[a\\](b) |" in page(dead)


def test_the_best_lower_bound_comes_first() -> None:
    one = peer((a_result("a/0", "one"),), "one")
    many = peer(tuple(a_result(f"a/{n}", "many") for n in range(50)), "many")
    part = page(one, many).partition("## By dialect")[2]
    assert part.index("| many |") < part.index("| one |")


MEASURED = Cost("openai-chat", 40_000, 5_000, 1.0, 120.0, 7.9, 0.5, None, 9_000_000)


def cost_rows(text: str) -> list[str]:
    part = text.partition("## Cost")[2].partition("\n## ")[0]
    return [line for line in part.splitlines() if line.startswith("| ")][2:]


def measured(name: str, cost: Cost | None) -> PeerResults:
    found = peer((a_result("a/b", name),), name)
    return replace(found, record=a_record(name, cost=cost))


def test_the_cost_of_a_peer_is_shown_with_what_is_beyond_a_limit() -> None:
    cells = cost_rows(page(measured("lib", MEASURED)))[0].strip("| ").split(" | ")
    assert cells == [
        *("lib", "openai-chat", "40,000", "120.0"),
        *("7.90 !", "0.50", "not measured", "not measured"),
    ]


def test_peers_are_compared_within_a_dialect_and_the_fastest_comes_first() -> None:
    slow, other = replace(MEASURED, time=300.0), replace(MEASURED, dialect="ollama", time=1.0)
    unknown = Cost("", not_measured="it | died")
    named = {"d": unknown, "c": other, "b": slow, "a": MEASURED, "e": None}
    rows = cost_rows(page(*(measured(name, cost) for name, cost in named.items())))
    assert [row.split(" | ")[0] for row in rows[:4]] == ["| c", "| a", "| b", "| d"]
    assert rows[3].count("not measured") == 6
    assert rows[-1] == "| d | it \\| died |"
    assert len(rows) == 4 + 3  # the second table has a head


def test_a_matrix_without_measured_peers_says_so() -> None:
    assert "The cost of no peer was measured." in page(measured("lib", None))


def test_a_record_keeps_its_cost(tmp_path: Path) -> None:
    stored(tmp_path / "lib", a_record("lib", cost=MEASURED))
    (found,) = read_results(tmp_path)
    assert found.record.cost == MEASURED


def stored(folder: Path, record: PeerRecord, run_of: str = "") -> None:
    folder.mkdir(parents=True)
    write_record(record, folder)
    with RunWriter(folder / "run.jsonl") as writer:
        writer.header(a_header(run_of or record.name))
        writer.add(a_result("area/one", run_of or record.name))
        writer.finish()


def test_results_are_read_by_language_and_name(tmp_path: Path) -> None:
    for name, language in (("b", "python"), ("a", "javascript"), ("c", "python")):
        stored(tmp_path / name, a_record(name, language=language))
    write_record(a_record("d", not_judged="it died"), (tmp_path / "c"))
    found = read_results(tmp_path)
    assert [each.record.name for each in found] == ["b", "d", "a"]
    assert [each.run is None for each in found] == [False, True, False]


def test_all_runs_become_one_for_the_report(tmp_path: Path) -> None:
    for name in ("b", "c"):
        stored(tmp_path / name, a_record(name))
    write_merged_run(read_results(tmp_path), tmp_path / "all.jsonl")
    run = read_run(tmp_path / "all.jsonl")
    assert run.complete
    assert run.header.names == ("b", "c")
    assert [result.cell for result in run.results] == ["area/one/b", "area/one/c"]


def test_without_a_judged_peer_there_is_no_run_for_the_report(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    write_record(a_record("d", not_judged="it died"), tmp_path / "d")
    with pytest.raises(UsageError, match="no peer was judged"):
        write_merged_run(read_results(tmp_path), tmp_path / "all.jsonl")


def test_the_run_of_another_client_is_refused(tmp_path: Path) -> None:
    stored(tmp_path / "lib", a_record("lib"), run_of="reference")
    with pytest.raises(UnreadableError, match="expected the run of lib, found that of reference"):
        read_results(tmp_path)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="found none"):
        read_results(tmp_path)


def test_a_record_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    data = msgspec.to_builtins(a_record()) | {"passed": True}
    (tmp_path / "lib" / "peer.json").write_bytes(msgspec.json.encode(data))
    with pytest.raises(UnreadableError, match="unknown key 'passed'"):
        read_results(tmp_path)
