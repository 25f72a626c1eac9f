"""Choose the cassette of a test, for the pytest fixture `harness_recorder`."""

import re
from pathlib import Path
from typing import Final

from harness.recording.recorder.recorder import Recorder

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def recorder_for_test(file: Path, test: str, mode: str, *, allow_in_ci: bool) -> Recorder:
    """Return the recorder for the cassette of a test.

    Args:
        file: the test's file; the folder of its cassettes is next to it.
        test: the name of the test, with its parameters.
        mode: a record mode.
        allow_in_ci: record even if CI is set.

    Raises:
        UsageError: the mode is unknown or not allowed in CI.
    """
    name = _UNSAFE.sub("-", test).strip(".-") or "test"
    path = file.parent / "cassettes" / file.stem / f"{name}.yaml"
    return Recorder(path, mode=mode, allow_in_ci=allow_in_ci)
