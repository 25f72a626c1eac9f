"""Compile the tests and the package once for all workers of pytest-xdist, each a share of them.

pytest rewrites the assertions of each test file, which takes ten times as long as to compile it.
All workers collect all tests, so without this each of them would rewrite all files. What is missing
here costs time only: the import of a module compiles what it does not find.
"""

import compileall
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def compile_share(config: pytest.Config) -> None:
    """Compile the share of this process, if it is a worker in a session of all tests."""
    worker: dict[str, str | int] | None = getattr(config, "workerinput", None)
    if worker is None or "tests" not in config.args:
        return
    number, count = int(str(worker["workerid"]).removeprefix("gw")), int(worker["workercount"])
    # In the order of the collection, which comes next.
    for path in sorted((config.rootpath / "tests").rglob("test_*.py"))[number::count]:
        _compile_test(path, config)
    for path in sorted((config.rootpath / "harness").rglob("*.py"))[number::count]:
        compileall.compile_file(path, quiet=2)


def _compile_test(path: Path, config: pytest.Config) -> None:
    """Write the bytecode of a test file with rewritten assertions, where pytest looks for it."""
    folder = rewrite.get_cache_dir(path)
    kept = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept) is None and rewrite.try_makedirs(folder):
        state = config.stash[rewrite.assertstate_key]
        stamp, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(state, code, stamp, kept)
