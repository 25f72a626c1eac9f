"""`conformance_suite` as another repository uses it, and the plugin that must cost it nothing."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# pytester forgets what was imported first beside it, and a pool imported twice cannot pickle.
import harness.fuzzing.targets  # noqa: F401 - see above
from harness.errors import UsageError
from harness.fuzzing.found import FuzzFinding
from harness.fuzzing.search import PROFILES, Profile
from harness.runs.plan import subject_id
from harness.runs.request import SelectedClients, requested_cells
from harness.testing import conformance_suite
from harness.testing.items import _replay_paths
from harness.testing.suite import _seed_paths

pytest_plugins = ["pytester"]

_BROKEN = """
from harness.normalizers.known_bad import naive

def normalize(interaction, reads):
    return naive.normalize(interaction, reads)
"""
_FIXED = "from harness.normalizers.seed_systems import dashscope_restore as normalize\n"
_SCENARIOS = Path(__file__).parents[2] / "scenarios"
_DASHSCOPE = (_SCENARIOS / "dashscope").as_posix()
_TABLE = f"""
[tool.harness]
paths = ["{_DASHSCOPE}"]
select = "id:dashscope/s*"
[tool.harness.normalizers.ours]
target = "story_client:normalize"
"""
_TEST = """
from harness.testing import conformance_suite
test_conformance = conformance_suite("ours", cuts="quick")
"""
_ENDS_ITS_PROCESS = """
import os

def normalize(interaction, reads):
    print("last words", flush=True)
    os._exit(0)
"""
_OF_THIS_PROCESS = """
import os
from harness.normalizers.seed_systems import dashscope_restore

def normalize(interaction, reads):
    if os.getpid() != int(os.environ["HARNESS_TEST_PROCESS"]):
        raise RuntimeError("another process")
    return dashscope_restore.normalize(interaction, reads)
"""
_ACCEPTED = """
[[expectation]]
id = "dashscope/s*"
normalizer = "ours"
expect = "fail"
reason = "an old client"
"""

_REFERENCE = SelectedClients(("reference",), ())
_RECORDING = "cassette:llama-cpp/gemma-3-270m/action-protocol-en-dentist-t02"

Story = Callable[..., pytest.RunResult]


@pytest.fixture(name="story")
def _story(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    """Make the files of a repository, and return a function that tests it in this process."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (pytester.path / "pyproject.toml").write_text(_TABLE)
    (pytester.path / "test_conformance.py").write_text(_TEST)

    def run(*arguments: str, client: str = "", accepted: str = "") -> pytest.RunResult:
        from harness.runs.judge_job import _normalizer  # noqa: PLC0415 - what it kept

        _normalizer.cache_clear()
        sys.modules.pop("story_client", None)
        sys.modules.pop("test_conformance", None)
        (pytester.path / "story_client.py").write_text(client)
        (pytester.path / "expectations.toml").write_text(accepted)
        plain = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")
        return pytester.runpytest_inprocess(*plain, *arguments)

    yield run
    sys.modules.pop("story_client", None)


def _outcomes(result: pytest.RunResult) -> dict[str, int]:
    return {name: n for name, n in result.parseoutcomes().items() if name != "warnings"}


def test_accepted_failures_xfail_and_become_stale_when_the_client_is_fixed(story: Story) -> None:
    red = story("--junitxml=junit.xml", client=_BROKEN)
    assert _outcomes(red) == {"failed": 3}
    red.stdout.fnmatch_lines(
        ["dashscope/set-memory/ours: lost_call*", "*harness replay dashscope/set-memory/ours"]
    )
    accepted = story("-rx", client=_BROKEN, accepted=_ACCEPTED)
    assert _outcomes(accepted) == {"xfailed": 3, "passed": 1}
    accepted.stdout.fnmatch_lines(["*an old client (expectation dashscope/s* x ours)*"])
    stale = story(client=_FIXED, accepted=_ACCEPTED)
    assert _outcomes(stale) == {"failed": 3, "passed": 1}
    stale.stdout.fnmatch_lines(["*XPASS(strict)*an old client*"])
    assert _outcomes(story(client=_FIXED)) == {"passed": 3}


def test_expectations_item_fails_when_an_entry_matches_nothing_or_has_expired(story: Story) -> None:
    typo = _ACCEPTED.replace("dashscope", "dashcope")
    told = story("-k", "expectations", client=_FIXED, accepted=typo)
    assert _outcomes(told) == {"failed": 1, "deselected": 3}
    told.stdout.fnmatch_lines(["*stale expectation dashcope/s* x ours: matches no cell*"])
    late = story("-k", "expectations", client=_FIXED, accepted=f"{_ACCEPTED}expires = 2020-01-01\n")
    late.stdout.fnmatch_lines(["*expired on 2020-01-01*"])


_BASELINE = """{"schema": 1, "cells": {
 "dashscope/set-memory/ours": "lost_call",
 "dashscope/split-chunks/ours": "mismatch"
}}"""


def test_the_baseline_accepts_what_fails_no_worse(story: Story, pytester: pytest.Pytester) -> None:
    (pytester.path / "harness-baseline.json").write_text(_BASELINE)
    found = story("-rx", client=_BROKEN)
    assert _outcomes(found) == {"failed": 2, "xfailed": 1}
    found.stdout.fnmatch_lines(["*lost_call: the baseline allows lost_call*"])


def test_the_rules_of_the_gate_decide_about_all_cells(
    story: Story, pytester: pytest.Pytester
) -> None:
    table = pytester.path / "pyproject.toml"

    def with_rule(least: float) -> None:
        rule = f'[[tool.harness.gate]]\nmetric = "conformance"\nmin = {least}\n'
        table.write_text(_TABLE + rule)

    with_rule(0.5)
    red = story(client=_BROKEN)
    assert (_outcomes(red), red.ret) == ({"xfailed": 3}, pytest.ExitCode.TESTS_FAILED)
    red.stdout.fnmatch_lines(["*harness gate*", "gate fail: gate?0? conformance: 0/3 = 0.0 % *"])
    some = story("-k", "set-memory", client=_BROKEN)
    assert (_outcomes(some), some.ret) == (
        {"failed": 1, "deselected": 2},
        pytest.ExitCode.TESTS_FAILED,
    )
    some.stdout.fnmatch_lines(["the rules of the gate are not judged*1 of 3 cells selected"])
    with_rule(0.0)
    green = story(client=_BROKEN)
    assert (_outcomes(green), green.ret) == ({"xfailed": 3}, pytest.ExitCode.OK)
    assert story(client=_FIXED).ret == pytest.ExitCode.OK


def test_a_failure_says_what_a_user_needs_to_fix_it(story: Story) -> None:
    red = story("-k", "set-memory", client=_BROKEN)
    red.stdout.fnmatch_lines(
        [
            "  scenario  *",
            "  evidence  recorded: https://*",
            "  quirk     DELTA-ID-EMPTY-LATER: *",
            "  rule      A client must *",
            "            MUST CALL-NAMED at turns?0?.calls?0?.name",
            "  expected  *",
            '  actual    ""',
            "  bytes     * data: {*",
            "  see       harness replay dashscope/set-memory/ours",
        ]
    )
    raising = "def normalize(_i, _r):\n    return {}['missing']\n"
    crash = story("-k", "set-memory", client=raising)
    crash.stdout.fnmatch_lines(
        ["  raised    KeyError: 'missing'", '*File "story_client.py", line 2, in normalize']
    )


def test_a_client_that_ends_its_process_fails_its_items(story: Story) -> None:
    ended = story("-k", "set-memory", client=_ENDS_ITS_PROCESS)
    assert _outcomes(ended) == {"failed": 1, "deselected": 2}
    ended.stdout.fnmatch_lines(["*set-memory/ours: crash*", "*the client wrote:*", "*last words*"])


def test_a_client_runs_in_this_process_only_if_it_is_told_to(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_TEST_PROCESS", str(os.getpid()))
    apart = story("-k", "set-memory", client=_OF_THIS_PROCESS)
    assert _outcomes(apart) == {"failed": 1, "deselected": 2}
    apart.stdout.fnmatch_lines(["*another process*"])
    here = story("-k", "set-memory", "--harness-in-process", client=_OF_THIS_PROCESS)
    assert _outcomes(here) == {"passed": 1, "deselected": 2}


def test_skipped_cell_does_not_run(story: Story) -> None:
    skipping = _ACCEPTED.replace('"fail"', '"skip"')
    exiting = "def normalize(_i, _r):\n    raise SystemExit(3)\n"
    assert _outcomes(story(client=exiting, accepted=skipping)) == {"skipped": 3, "passed": 1}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "expected a normalizer or an agent"),
        ({"normalizer": "naive", "select": "dialekt:x"}, "did you mean 'dialect'?"),
        ({"normalizer": "naive", "select": "id:none/*"}, "the client supports nothing"),
        ({"normalizer": "naive", "select": "id:dashscope/*", "fuzz": "x"}, "no profile 'x'"),
    ],
)
def test_conformance_suite_rejects_unusable_arguments_with_the_reason(
    arguments: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError) as error:
        conformance_suite(**arguments, paths=[_SCENARIOS / "dashscope"])  # type: ignore[arg-type]  # texts all of them
    assert told in str(error.value)


@pytest.mark.parametrize("words", ["id:dashscope/s*", f"id:{_RECORDING}"])
def test_conformance_suite_has_the_cells_of_harness_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    suite: Any = conformance_suite("reference", select=words)
    (_, items), jobs = suite.pytestmark[0].args, requested_cells(_REFERENCE, words=words).jobs
    assert [item.id for item in items] == [subject_id(job.subject) for job in jobs]


def test_seed_paths_are_scenarios_or_else_recordings() -> None:
    (recording,) = requested_cells(_REFERENCE, words=f"id:{_RECORDING}").jobs
    scenarios = requested_cells(_REFERENCE, [_SCENARIOS / "dashscope"]).jobs
    assert _seed_paths([recording, *scenarios]) == [Path(job.subject.path) for job in scenarios]
    assert _seed_paths([recording]) == [Path(recording.subject.path)]


def test_replay_paths_are_empty_for_a_bundled_recording() -> None:
    (job,) = requested_cells(SelectedClients(("naive",), ()), words=f"id:{_RECORDING}").jobs
    assert _replay_paths(job, Path.cwd()) == ()


def test_plugin_import_loads_no_other_module_of_the_package() -> None:
    program = """
import sys, harness.pytest_plugin
print(sorted(name for name in sys.modules if name.split(".")[0] == "harness"))
"""
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "['harness', 'harness.pytest_plugin']"


def test_fuzz_item_fails_when_a_must_rule_is_violated(
    story: Story, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = Profile("dev", examples=40, seconds=3600, shrinking=0)
    monkeypatch.setitem(PROFILES, "dev", few)
    (pytester.path / "test_conformance.py").write_text(
        _TEST.replace("cuts=", 'agent="last-result-lost", fuzz="dev", cuts=')
    )
    red = story("-k", "fuzz", client=_BROKEN)
    assert _outcomes(red) == {"failed": 2, "deselected": 3}
    normalizer, agent = "*fuzz-dev-normalizer*", "*fuzz-dev-agent*"
    red.stdout.fnmatch_lines_random([normalizer, agent, "*MUST CALL-NAMED*", "*MUST HIST-*"])
    red.stdout.fnmatch_lines(
        ["  harness fuzz *scenarios/dashscope -n ours --profile dev --seed 0 -j 1 --save ."]
    )
    fixed = story("-k", "fuzz-dev-normalizer", client=_FIXED)
    assert _outcomes(fixed) == {"passed": 1, "deselected": 4}


def test_fuzz_item_passes_when_only_a_should_rule_is_violated(
    story: Story, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROFILES, "dev", Profile("dev", examples=40, seconds=3600, shrinking=0))
    monkeypatch.setattr(FuzzFinding, "fails_gate", property(lambda _finding: False))
    (pytester.path / "test_conformance.py").write_text(_TEST.replace("cuts=", 'fuzz="dev", cuts='))
    found = story("-k", "fuzz", client=_BROKEN)
    assert _outcomes(found) == {"passed": 1, "deselected": 3}


def test_unsupported_cells_are_items_only_with_the_option(pytester: pytest.Pytester) -> None:
    (pytester.path / "pytest.ini").write_text("[pytest]\nharness_scenarios = scenarios\n")
    scenario = (_SCENARIOS / "dashscope" / "set-memory.yaml").read_bytes()
    shutil.copytree(_SCENARIOS / "tools", pytester.path / "scenarios" / "tools")
    (pytester.path / "scenarios" / "set-memory.yaml").write_bytes(scenario)
    named = ("-p", "no:cacheprovider", "--harness-normalizer=naive", "--harness-cuts=whole")
    dialect = "--harness-dialect=anthropic"  # which it does not read
    none = pytester.runpytest_inprocess(*named, dialect, "scenarios")
    assert _outcomes(none) == {}
    asked = pytester.runpytest_inprocess(*named, dialect, "--harness-unsupported", "scenarios")
    assert _outcomes(asked) == {"skipped": 1}
    supported = pytester.runpytest_inprocess(*named, "scenarios")
    assert _outcomes(supported) == {"failed": 1}


def _own_scenario(folder: Path) -> None:
    """Copy a scenario that naive fails, and say that no server is known to send its stream."""
    text = (_SCENARIOS / "dashscope" / "set-memory.yaml").read_text(encoding="utf-8")
    shutil.copytree(_SCENARIOS / "tools", folder / "scenarios" / "tools")
    own = re.sub(r"(?m)^evidence: .*$", "evidence: {own: the memory}", text)
    (folder / "scenarios" / "own.yaml").write_text(own)
    (folder / "story_client.py").write_text(_BROKEN)


def test_a_stream_that_no_server_sends_is_a_skipped_item(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    _own_scenario(pytester.path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (pytester.path / "pytest.ini").write_text("[pytest]\nharness_scenarios = scenarios\n")
    plain = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-rs")
    ours = (*plain, "--harness-normalizer=story_client:normalize")
    left_out = pytester.runpytest_inprocess(*ours, "scenarios")
    assert _outcomes(left_out) == {"skipped": 1}
    left_out.stdout.fnmatch_lines(["*no server is known to send*--harness-evidence own*"])
    asked = pytester.runpytest_inprocess(*ours, "--harness-evidence=own", "scenarios")
    assert _outcomes(asked) == {"passed": 1}  # it violates SHOULD rules only
    shipped = pytester.runpytest_inprocess(*plain, "--harness-normalizer=naive", "scenarios")
    assert _outcomes(shipped) == {"failed": 1}


def test_a_suite_says_how_many_cells_no_server_sends(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    _own_scenario(pytester.path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    given = "'story_client:normalize', paths=['scenarios'], cuts='quick'"
    pytester.makepyfile(
        "from harness.testing import conformance_suite\n"
        f"test_default = conformance_suite({given})\n"
        f"test_own = conformance_suite({given}, evidence='own')\n"
    )
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-rs"
    )
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*1 cell: no server is known to send these streams*"])


def test_a_broken_file_is_an_item_that_fails_and_costs_no_other(pytester: pytest.Pytester) -> None:
    bundled = _SCENARIOS.parent / "cassettes/dashscope/qwen-plus/split-chunks.yaml"
    (pytester.path / "own").mkdir()
    shutil.copy(bundled, pytester.path / "own/good.yaml")
    (pytester.path / "own/bad.yaml").write_text("interactions: 5\n")
    pytester.makepyfile(
        "from harness.testing import conformance_suite\n"
        "test_conformance = conformance_suite('reference', paths=['own'], cuts='quick')\n"
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rf")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*unreadable own/bad.yaml*", "*expected a list*"])


def test_a_broken_scenario_file_keeps_no_other_from_running(pytester: pytest.Pytester) -> None:
    (pytester.path / "scenarios").mkdir()
    for name in ("split-chunks", "split-chunks-2"):
        text = (_SCENARIOS / "dashscope/split-chunks.yaml").read_text(encoding="utf-8")
        (pytester.path / f"scenarios/{name}.yaml").write_text(text)
    shutil.copytree(_SCENARIOS / "tools", pytester.path / "scenarios/tools")
    (pytester.path / "scenarios/bad.yaml").write_text("title: t\ncassette: a\nexpect: 3\n")
    pytester.makeini("[pytest]\nharness_scenarios = scenarios\n")
    result = pytester.runpytest_inprocess("--harness-normalizer", "reference", "-rf")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*bad.yaml: expect: expected a list*", "FAILED *bad.yaml::unreadable*"]
    )
