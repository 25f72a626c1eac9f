"""The errors that the harness raises.

    HarnessError            base class; has what happened, where, and what to do
    ├── UsageError          a name or option that selects nothing that exists
    ├── UnreadableError     a cassette, scenario, run or import file that cannot be used
    ├── RecordingError      a recording that cannot be stored
    ├── UnscrubbedError     a secret that cannot be replaced, so it is not written
    ├── BlockedRequestError a request that may not be sent to a real server
    ├── StreamError         bytes of a stream that exceed a limit of the framing, with offset
    ├── NormalizerLoadError a selected normalizer that cannot be loaded
    └── AgentLoadError      a selected agent that cannot be loaded

An error of a normalizer never raises one of these exceptions. It becomes an outcome of a replay.
"""

from typing import Any


class HarnessError(Exception):
    """An error that the user can fix; `str()` gives a line of facts and a line of advice.

    Args:
        what: what is wrong, with the expected value and the value that was found.
        where: the file, key path or option in which it is wrong; "" if there is none.
        hint: the next step, as an imperative; "" if there is none.
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what, where, hint)
        self.what = what
        self.where = where
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error with its keyword arguments, so that it can cross processes."""
        return type(self).__new__, (type(self), *self.args), vars(self)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.what}{advice}"


class UsageError(HarnessError):
    """The user gave a name or option that selects nothing that exists (exit code 2)."""


class UnreadableError(HarnessError):
    """A file is not usable as what it claims to be, such as a cassette (exit code 2)."""


class RecordingError(HarnessError):
    """A recording cannot be stored (exit code 2)."""


class UnscrubbedError(RecordingError):
    """A recording contains a secret that cannot be replaced, so it is not written (exit code 2)."""


class BlockedRequestError(HarnessError):
    """A request has no recorded answer, and must not be sent to a real server."""


class NormalizerLoadError(HarnessError):
    """A normalizer that the user named cannot be loaded (exit code 2)."""


class AgentLoadError(HarnessError):
    """An agent that the user named cannot be loaded (exit code 2)."""


class StreamError(HarnessError):
    """The bytes of a stream exceed a limit of the framing, at `offset` bytes into the body."""

    def __init__(self, what: str, *, offset: int) -> None:
        super().__init__(what, where=f"byte {offset}")
        self.offset = offset
