"""`harness replay`, and every line that names a file: no name drives the terminal."""

import os
import shlex
import shutil
from pathlib import Path

import pytest

from harness import shipped
from harness.conversation.discovery import default_agent_names
from harness.results.outcome import Outcome
from harness.runs.judge_job import judge_job
from harness.runs.plan import Job
from harness.runs.selection import select_subjects
from harness.testing.items import _failure_text
from tests.cli.conftest import Harness

EVIL = "x\x1b]0;pwned\x07"
SHOWN = "x␛]0;pwned␇"
CASSETTE = "dashscope/qwen-plus/split-chunks"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no such file names there")


@pytest.fixture(autouse=True)
def _evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c").mkdir()
    shutil.copyfile(shipped.bundled_folder("cassettes") / f"{CASSETTE}.yaml", f"c/{EVIL}.yaml")


def test_replay_escapes_the_names_of_cell_and_cassette(harness: Harness) -> None:
    left = harness("replay", f"cassette:{EVIL}/naive", "--in", "c")
    assert f"cassette:{SHOWN}/naive" in left.out
    assert f"cassette {SHOWN}, interaction 0" in left.out
    assert "\x1b" not in left.out + left.err


def test_gate_escapes_the_name_of_a_cell(harness: Harness) -> None:
    left = harness("run", "c", "-n", "naive", "--cuts", "quick", "--no-report")
    assert left.code == 1
    assert f"harness replay 'cassette:{SHOWN}/naive'" in left.err
    assert "\x1b" not in left.out + left.err


def test_error_escapes_the_name_of_a_cell(harness: Harness) -> None:
    Path("c").rename("broken")  # another path, since what was loaded is kept
    Path(f"broken/{EVIL}.yaml").write_text("interactions: [")
    left = harness("run", "broken")
    assert left.code == 2
    assert left.err.startswith(f"error: broken/{SHOWN}.yaml:")
    assert "\n  " in left.err  # the advice has a line of its own
    assert "\x1b" not in left.out + left.err


def test_pytest_failure_escapes_the_name_of_a_cell() -> None:
    result, case = judge_job(Job(select_subjects([Path("c")])[0], "naive"), "quick")
    assert result.outcome is not Outcome.PASS
    told = _failure_text(result, case, "", ("c",))
    assert f"harness replay 'cassette:{SHOWN}/naive' --in c" in told
    assert "\x1b" not in told


def test_replay_command_is_quoted_for_a_shell(harness: Harness) -> None:
    Path("c").rename("plain")
    Path(f"plain/{EVIL}.yaml").rename("plain/größe 1.yaml")
    left = harness("run", "plain", "-n", "naive", "--cuts", "quick", "--no-report")
    assert "harness replay 'cassette:größe 1/naive'" in left.err


def test_the_command_of_the_gate_finds_its_cell_again(harness: Harness) -> None:
    Path(f"c/{EVIL}.yaml").rename("c/plain.yaml")
    left = harness("run", "c", "-n", "naive", "--cuts", "quick", "-o", "elsewhere")
    words = shlex.split(left.err.split("harness replay ", 1)[1].splitlines()[0])
    assert words == ["cassette:plain/naive", "--in", "c"]
    assert "outcome lost_call" in harness("replay", *words).out


def test_replay_rejects_an_offset_after_the_body(harness: Harness) -> None:
    left = harness("replay", "dashscope/split-chunks/reference", "--at", "999999")
    assert left.code == 2
    assert "--at: the body has " in left.err


def test_replay_finds_bundled_cells_after_any_run(harness: Harness) -> None:
    harness("run", "c", "-n", "reference", "--cuts", "quick")
    assert harness("replay", "dashscope/split-chunks/reference").code == 0
    left = harness("replay", "dashscope/split-chunk/reference")
    assert left.code == 2
    assert "Did you mean dashscope/split-chunks/" in left.err


def test_replay_explains_each_accusation_with_its_source(harness: Harness) -> None:
    left = harness("replay", "dashscope/split-chunks/naive")
    assert left.code == 1
    assert "    duty     A client must keep the name that the stream gives a call" in left.out
    assert "    level    MUST for the kind gateway." in left.out
    assert "    source   https://platform.openai.com/" in left.out
    assert "    source   DELTA-ID-EMPTY-LATER (https://github.com/" in left.out
    assert "    done by  action-protocol, dashscope-restore, reference, tag-extract" in left.out


def test_replay_as_json_has_the_result_and_the_explanations(harness: Harness) -> None:
    shown = harness("replay", "calls/ids-shared/naive", "--format", "json").json
    assert shown["result"]["cell"] == "calls/ids-shared/naive"
    (found,) = shown["findings"]
    assert found["finding"]["rule"] == found["explanation"]["rule"] == "CALL-IDS-UNIQUE"
    assert "reference" in found["explanation"]["right"]


def test_replay_of_a_conversation_names_the_agents_that_are_right(harness: Harness) -> None:
    cell = "conversations/parallel-one-bad/one-bad-call-kills-all"
    shown = harness("replay", cell, "--format", "json").json
    explained = {each["finding"]["rule"]: each["explanation"] for each in shown["findings"]}
    assert explained["CONV-CALL-LOST"]["kind"] == "agent"
    assert "gateway" in explained["CONV-CALL-LOST"]["right"]
    assert set(explained["CONV-CALL-LOST"]["right"]) <= set(default_agent_names())


def test_a_client_that_ends_its_process_is_replayed_as_a_crash(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ends_in_replay.py").write_text(
        "import os\ndef normalize(interaction, reads):\n    os._exit(0)\n"
    )
    left = harness("replay", "dashscope/split-chunks/ends_in_replay:normalize")
    assert left.code == 1
    assert "outcome crash, blame normalizer" in left.out
    assert "its process ended" in left.out
