"""A test's place and name -> its recorder, as the fixture `harness_recorder` gives it."""

import re
from pathlib import Path
from typing import Final

from harness.recording.transport.recorder import Recorder

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def recorder_of(file: Path, test: str, mode: str, *, allow_in_ci: bool) -> Recorder:
    """Return the recorder of a test.

    Args:
        file: the test's file; its cassettes lie beside it.
        test: its name, with its parameters.
        mode: a record mode.
        allow_in_ci: record even where CI is set.

    Raises:
        UsageError: the mode is unknown or not allowed here.
    """
    name = _UNSAFE.sub("-", test).strip(".-") or "test"
    path = file.parent / "cassettes" / file.stem / f"{name}.yaml"
    return Recorder(path, mode=mode, allow_in_ci=allow_in_ci)
