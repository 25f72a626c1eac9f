"""This repository's own gate: `pytest` runs the unit tests and judges what ships.

Hypothesis profiles: `dev` by default, `ci` (derandomised, bounded) where CI is set, `deep` by
HYPOTHESIS_PROFILE=deep.
"""

import gc
import os
import ssl
from collections.abc import Generator
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from harness import shipped
from harness.judging import scenario_file
from harness.judging.judge import LoadedSubject
from harness.runs import selection, worker
from harness.runs.plan import Subject
from harness.wire import cassette_file
from harness.wire.cassette import Cassette

# A loaded machine is slow now and then; time is never an assertion here.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("dev", max_examples=12, **_COMMON)
settings.register_profile("ci", max_examples=12, derandomize=True, database=None, **_COMMON)
settings.register_profile("deep", max_examples=2_000, **_COMMON)
_DEFAULT = "ci" if "CI" in os.environ else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or _DEFAULT)


def pytest_configure(config: pytest.Config) -> None:
    """Compile once for all processes of the tests, where nothing may be kept beside the code.

    Containers often forbid that, and then each of some hundred processes would compile anew.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        kept = TemporaryDirectory(prefix="harness-bytecode-", ignore_cleanup_errors=True)
        config.add_cleanup(kept.cleanup)
        os.environ["PYTHONPYCACHEPREFIX"] = kept.name
    # Where Hypothesis keeps what it reads of modules and Unicode; a fuzzing process that starts in
    # a folder of a test would read all of it again.
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(config.rootpath / ".hypothesis"))


# Each client of httpx reads the certificates of all authorities, which takes longer than most
# tests; no test reaches a server that has one.
ssl.SSLContext.load_verify_locations = lambda *_args, **_options: None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what collection makes from garbage collection.

    Items and bundled files live as long as the process, and each full collection would visit
    some million objects in vain. `benchmarks` starts one before each measurement.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# Most areas read the bundled cassettes, which do not change while the tests run.
_BUNDLED = shipped.bundled_folder("cassettes")
_load_cassette = cassette_file.load_cassette


@cache
def _bundled_cassette(path: Path, root: Path | None) -> Cassette:
    return _load_cassette(path, root)


def _load_once(path: Path, root: Path | None = None) -> Cassette:
    """Load a cassette, a bundled one once in a process; cassettes are immutable."""
    load = _bundled_cassette if path.is_relative_to(_BUNDLED) else _load_cassette
    return load(path, root)


cassette_file.load_cassette = _load_once


# Each scenario is loaded to collect its cells, for each of them, and by tests of all scenarios.
_FILES = 4096
_SCENARIOS = shipped.bundled_folder("scenarios")
_load_subject = worker.load_subject


@cache
def _bundled_subject(subject: Subject) -> LoadedSubject:
    return _load_subject(subject)


def _load_subject_once(subject: Subject) -> LoadedSubject:
    """Load a subject, a bundled scenario once in a process; subjects are immutable."""
    is_bundled = Path(subject.path).is_relative_to(_SCENARIOS)
    return (_bundled_subject if is_bundled else _load_subject)(subject)


_load_subject_once.cache_clear = _load_subject.cache_clear  # a test may rewrite its file
worker.load_subject = _load_subject_once

# Most commands look for their subjects in all bundled files.
_PLACES = tuple(map(str, (_BUNDLED, _SCENARIOS)))
_recognized = selection._recognized  # noqa: SLF001 - a command reads what may change, tests do not
_recognized_once = cache(_recognized)


def _recognize(path: str, base: str, *, named: bool = False) -> object:
    is_bundled = path.startswith(_PLACES)
    return (_recognized_once if is_bundled else _recognized)(path, base, named=named)


selection._recognized = _recognize  # noqa: SLF001 - see above

# Each command over the bundled scenarios loads all of them. The same bytes give the same document.
scenario_file._document = lru_cache(_FILES)(scenario_file._document)  # noqa: SLF001 - see above
