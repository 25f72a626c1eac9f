"""A peer that hangs, floods, prints garbage or dies costs only itself."""

import signal
import sys
import time
from pathlib import Path
from threading import Event, Timer
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from harness.peers import running
from harness.peers.locks import read_lock
from harness.peers.process import judging_variables, run_bounded
from harness.peers.record import PeerRecord, read_results
from harness.peers.running import PeerRuns, judge_peers
from harness.peers.table import Peer, peers
from harness.results.cost import Cost
from harness.shipped import bundled_folder

# Judges as the real one: the environment's pyproject.toml says which code has the peer's name.
REAL = f"#!/bin/sh\nexec {sys.executable} -c 'from harness.cli import main; main()' \"$@\"\n"
GOOD, BROKEN, SLOW = "openai-node", "broken-node", "slow-node"
MODULES = {
    GOOD: "harness.normalizers.reference:normalizer",
    BROKEN: "broken:normalize",
    SLOW: "broken:slow_at_first",
}
BROKEN_MODULE = """
import pathlib, signal, time
from harness.normalizers.reference import normalizer
def normalize(interaction, reads):
    return ()
def slow_at_first(interaction, reads):
    if not pathlib.Path("used").exists():
        pathlib.Path("used").touch()
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)  # the limit of the replay is over
        time.sleep(60)
    return normalizer.normalize(interaction, reads)
"""


@pytest.fixture(autouse=True)
def _keep_the_fake_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "link_harness", lambda _environment: None)


def a_peer(name: str) -> Peer:
    """Return a peer with an environment of this name and with the lock of another."""
    (sample,) = (peer for peer in peers().values() if peer.name == GOOD)
    return Peer(name, "javascript", sample.packages, sample.library, GOOD, ("openai-chat",))


def judged(  # noqa: PLR0913 - what a test may change
    folder: Path,
    script: str,
    name: str = GOOD,
    seconds: float = 60.0,
    cost_seconds: float = 0.0,
    *,
    peer: Peer | None = None,
    scenario: str = "dashscope/split-chunks",
) -> PeerRecord:
    """Return the record of a peer in an environment whose harness is `script`."""
    environment = folder / "environments" / GOOD
    (environment / "bin").mkdir(parents=True)
    command = environment / "bin" / "harness"
    command.write_text(script, encoding="utf-8")
    command.chmod(0o755)
    (environment / "installed.lock").write_bytes(read_lock(GOOD))
    declared = f'[tool.harness.normalizers.{name}]\ntarget = "{MODULES[name]}"\n'
    (environment / "pyproject.toml").write_text(declared, encoding="utf-8")
    (environment / "broken.py").write_text(BROKEN_MODULE, encoding="utf-8")
    runs = PeerRuns(
        environment.parent,
        folder / "results",
        "2026-11-01",
        seconds,
        "whole",
        paths=(bundled_folder("scenarios") / f"{scenario}.yaml",),
        cost_seconds=cost_seconds,
    )
    records: list[PeerRecord] = []
    judge_peers([(peer or a_peer(name), ("openai-chat",))], runs, 1, records.append)
    (record,) = records
    (found,) = read_results(runs.output)
    assert found.record == record
    assert (found.run is None) is bool(record.not_judged)
    return record


# Keeps what the real one wrote for the smoke cases and then for all, in RUNS.
KEEPS = (
    REAL.replace("exec ", "", 1)
    + """left=$?
for output; do :; done
test -e RUNS/smoke && kept=RUNS/all || kept=RUNS/smoke
cp "$output/run.jsonl" $kept
exit $left
"""
)
# Answers `harness cost -n NAME -o FILE` itself, and writes the runs that were kept.
MEASURES = """#!/bin/sh
test $1 != cost || { ANSWER; }
for output; do :; done
test -e smoked && kept=RUNS/all || kept=RUNS/smoke
touch smoked
mkdir -p "$output" && cp $kept "$output/run.jsonl"
"""


class Real(NamedTuple):
    """A peer that a real harness judged; `measures` is the script above with its runs."""

    record: PeerRecord
    folder: Path
    measures: str


@pytest.fixture(scope="module", name="real")
def _real(tmp_path_factory: pytest.TempPathFactory) -> Real:
    folder, runs = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "link_harness", lambda _environment: None)
        record = judged(folder, KEEPS.replace("RUNS", str(runs)))
    return Real(record, folder, MEASURES.replace("RUNS", str(runs)))


def test_a_peer_that_passes_its_smoke_cases_is_judged(real: Real) -> None:
    assert real.record.not_judged == ""
    assert real.record.selection == "split-chunks.yaml"
    (found,) = read_results(real.folder / "results")
    assert found.run is not None
    assert [result.cell for result in found.run.results] == [f"dashscope/split-chunks/{GOOD}"]


WRITES = """echo '[{"normalizer": "x", "cost": {"dialect": "tgi", "time": 2.5}}]' > "$5" """


def test_the_cost_of_a_judged_peer_is_in_its_record(tmp_path: Path, real: Real) -> None:
    script = real.measures.replace("ANSWER", f"{WRITES}; exit 0")
    record = judged(tmp_path, script, cost_seconds=60.0)
    assert record.not_judged == ""
    assert record.cost == Cost("tgi", time=2.5)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("echo no memory; exit 9", "exit code 9: no memory"),
        ("exit 0", "No such file"),
        ("echo garbage > $5; exit 0", "malformed"),
        ("sleep 60; exit 0", "it did not end within 1 s"),
    ],
)
def test_a_peer_whose_cost_cannot_be_measured_is_judged(
    tmp_path: Path, real: Real, answer: str, reason: str
) -> None:
    script = real.measures.replace("ANSWER", answer)
    record = judged(tmp_path, script, cost_seconds=1.0)
    assert record.not_judged == ""
    assert record.cost is not None
    assert reason in record.cost.not_measured


def test_a_peer_that_is_not_judged_is_not_measured(tmp_path: Path) -> None:
    assert judged(tmp_path, "#!/bin/sh\nexit 3\n", cost_seconds=60.0).cost is None


def test_an_agent_is_judged_on_conversations(tmp_path: Path) -> None:
    peer = replace(a_peer("plain-loop"), kind="agent")
    record = judged(tmp_path, REAL, cost_seconds=60.0, peer=peer, scenario="loops/only-text")
    assert record.not_judged == ""
    assert record.cost is None
    (found,) = read_results(tmp_path / "results")
    assert found.run is not None
    assert found.run.header.names == ("plain-loop",)
    assert [result.scenario for result in found.run.results] == ["loops/only-text"]


def test_an_agent_without_its_adapter_is_not_judged(tmp_path: Path) -> None:
    peer = replace(a_peer("no-such-loop"), kind="agent")
    assert "exit code" in judged(tmp_path, REAL, peer=peer).not_judged


def test_a_peer_that_fails_its_smoke_cases_is_not_judged(tmp_path: Path) -> None:
    why = judged(tmp_path, REAL, BROKEN).not_judged
    assert "fails the smoke case cassette:openai-chat-call (lost_call)" in why


def test_a_library_may_be_slow_when_it_is_used_first(tmp_path: Path) -> None:
    assert judged(tmp_path, REAL, SLOW).not_judged == ""


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo no such module; exit 3", "exit code 3: no such module"),
        ("kill -9 $$", "exit code -9"),
        ("exit 0", "no such run"),
        ("sh", "no such run"),
        ('for a; do :; done; echo garbage > "$a/run.jsonl"', "not a run"),
    ],
)
def test_a_peer_that_dies_or_writes_garbage_is_not_judged(
    tmp_path: Path, script: str, reason: str
) -> None:
    assert reason in judged(tmp_path, f"#!/bin/sh\n{script}\n").not_judged


def test_a_harness_that_cannot_be_started_is_not_judged(tmp_path: Path) -> None:
    assert "cannot be started" in judged(tmp_path, "#!/no/such/program\n").not_judged


@pytest.mark.parametrize("script", ["sleep 60 & sleep 60", "yes"])
def test_a_peer_that_hangs_or_floods_ends_at_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(running, "_SMOKE_SECONDS", 0.5)
    start = time.monotonic()
    record = judged(tmp_path, f"#!/bin/sh\n{script}\n")
    assert record.not_judged.startswith("it did not end within 0.5 s")
    assert time.monotonic() - start < 10
    assert len(record.not_judged) < 500


def test_a_missing_environment_is_not_judged(tmp_path: Path) -> None:
    runs = PeerRuns(tmp_path / "none", tmp_path / "results", "2026-11-01", 1.0, "whole")
    records: list[PeerRecord] = []
    judge_peers([(peers()[GOOD], ("openai-chat",)), (peers()["groq"], ())], runs, 2, records.append)
    assert [record.not_judged for record in records] == ["its environment is missing"] * 2


def test_a_command_ends_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 60 & echo $! > {tmp_path}/child; wait"
    ended = run_bounded(("sh", "-c", script), folder=tmp_path, seconds=0.5)
    assert ended.code is None
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        if not is_running(child):
            break
        time.sleep(0.1)
    assert not is_running(child)


def is_running(process: int) -> bool:
    """Return whether it runs; one that ended may wait for its parent (state Z)."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except FileNotFoundError:
        return False
    return not state.strip().startswith("Z")


def test_another_thread_can_stop_a_command(tmp_path: Path) -> None:
    stop = Event()
    timer = Timer(0.2, stop.set)
    timer.start()
    ended = run_bounded(("sleep", "60"), folder=tmp_path, seconds=60, stop=stop)
    timer.join()
    assert ended.code is None
    assert ended.seconds < 10


def test_only_the_end_of_the_output_is_kept(tmp_path: Path) -> None:
    ended = run_bounded(("sh", "-c", "seq 200000; kill -TERM $$"), folder=tmp_path, seconds=60)
    assert ended.code == -signal.SIGTERM
    assert ended.last_line == "200000"
    assert len(ended.output) <= 1 << 17


def test_no_setting_of_the_user_reaches_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    found = judging_variables(Path("/env/bin"), Path("/env"))
    assert "OPENAI_API_KEY" not in found
    assert found["HTTPS_PROXY"].startswith("http://127.0.0.1:")
    assert found["PATH"].startswith("/env/bin")
    assert found["HOME"] == "/env"
