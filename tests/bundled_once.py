"""Load each bundled file once in a process of the tests, where it does not change.

Importing this module is enough; `conftest.py` does so before any test is imported.
"""

from functools import cache, lru_cache
from pathlib import Path

from harness import shipped
from harness.judging import scenario_file
from harness.judging.judge import LoadedSubject
from harness.runs import load, selection
from harness.runs.plan import Subject
from harness.wire import cassette_file
from harness.wire.cassette import Cassette

# Most areas read the bundled cassettes.
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
_load_subject = load.load_subject


@cache
def _bundled_subject(subject: Subject) -> LoadedSubject:
    return _load_subject(subject)


def _load_subject_once(subject: Subject) -> LoadedSubject:
    """Load a subject, a bundled scenario once in a process; subjects are immutable."""
    is_bundled = Path(subject.path).is_relative_to(_SCENARIOS)
    return (_bundled_subject if is_bundled else _load_subject)(subject)


# A test may rewrite its file.
_load_subject_once.cache_clear = _load_subject.cache_clear  # type: ignore[attr-defined]  # as of a cache
load.load_subject = _load_subject_once  # type: ignore[assignment]  # asked as the cache is

# Most commands look for their subjects in all bundled files.
_PLACES = tuple(map(str, (_BUNDLED, _SCENARIOS)))
_recognized = selection._recognized  # a command reads what may change, tests do not
_recognized_once = cache(_recognized)


def _recognize(path: str, base: str, *, named: bool = False) -> selection._Recognized | None:
    is_bundled = path.startswith(_PLACES)
    return (_recognized_once if is_bundled else _recognized)(path, base, named=named)


selection._recognized = _recognize

# Each command over the bundled scenarios loads all of them. The same bytes give the same document.
scenario_file._document = lru_cache(_FILES)(scenario_file._document)
