"""What workers of a cluster must have in common with the command: what differs is refused."""

from pathlib import Path

import msgspec
import pytest

from harness.errors import UsageError
from harness.runs.engine import open_engine
from harness.workers import cluster as cluster_module
from harness.workers.cluster import ClusterPool, connect
from harness.workers.pool import open_processes
from harness.workers.requirements import Requirements, difference, requirements_here


def test_a_worker_that_has_all_is_not_refused(tmp_path: Path) -> None:
    needed = requirements_here(["click.core", "msgspec"], [str(tmp_path), "s3://bucket/log.jsonl"])
    assert [name for name, _ in needed.versions] == ["Python", "harness", "click", "msgspec"]
    assert needed.paths == (str(tmp_path),)
    assert difference(needed, "w") is None


@pytest.mark.parametrize("name", ["Python", "harness", "click"])
def test_another_version_is_refused(name: str) -> None:
    needed = requirements_here(["click"])
    versions = tuple((each, "0.0" if each == name else it) for each, it in needed.versions)
    refused = difference(msgspec.structs.replace(needed, versions=versions), "tcp://w:1")
    assert refused is not None
    assert refused.where == "worker tcp://w:1"
    assert refused.what.startswith(f"{name}: expected the version of the command, 0.0; found ")


def test_other_code_of_a_client_in_the_working_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Requirements] = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own_client.py").write_text(f"x = '{folder}'")
        monkeypatch.chdir(tmp_path / folder)
        made.append(requirements_here(["own_client"]))
    needed = msgspec.structs.replace(made[0], folder=made[1].folder)
    refused = difference(needed, "w")
    assert refused is not None
    assert "own_client: expected the version of the command, code " in refused.what


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    needed = msgspec.structs.replace(requirements_here(), paths=(str(tmp_path / "gone"),))
    refused = difference(needed, "w")
    assert refused is not None
    assert refused.what.startswith(f"expected {tmp_path / 'gone'}")


def test_a_worker_that_differs_ends_the_command(cluster: str) -> None:
    needed = Requirements((("Python", "2.7"), ("harness", "0.0")), "/")
    with connect(cluster, needed) as connected, open_processes(1, connected.pool) as pool:
        batch = pool.submit(len, ("ab",)).result()
    assert batch.fault is not None
    assert isinstance(batch.fault.rebuild(), UsageError)


def test_a_cluster_without_workers_ends_the_command(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "_WATCH_SECONDS", 0.01)
    monkeypatch.setattr(cluster_module, "_WITHOUT_WORKERS_SECONDS", 0.0)
    monkeypatch.setattr(cluster_module.Cluster, "has_workers", lambda _: False)
    with open_engine(cluster) as engine, open_processes(1, engine.open_pool) as pool:
        assert isinstance(pool, ClusterPool)
        with pytest.raises(UsageError, match="no worker is left"):
            pool.submit(_wait, (5.0,)).result(timeout=5)


def _wait(seconds: float) -> None:
    import time  # noqa: PLC0415 - runs in a worker process

    time.sleep(seconds)
