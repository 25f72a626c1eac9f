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

What a normalizer does wrong is never an exception here. It is an outcome of a replay.
"""

from typing import Any


class HarnessError(Exception):
    """An error that the user can fix; `str()` is one line of facts and one of advice.

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
    """A name or option that selects nothing that exists (exit code 2)."""


class UnreadableError(HarnessError):
    """A file that cannot be used as what it claims to be (exit code 2)."""


class RecordingError(HarnessError):
    """A recording that cannot be stored (exit code 2)."""


class UnscrubbedError(RecordingError):
    """A secret that cannot be replaced, so that it is not written (exit code 2)."""


class BlockedRequestError(HarnessError):
    """A request that no recorded interaction answers, and that may not be sent to a server."""


class NormalizerLoadError(HarnessError):
    """A normalizer that was named and cannot be loaded (exit code 2)."""


class AgentLoadError(HarnessError):
    """An agent that was named and cannot be loaded (exit code 2)."""


class StreamError(HarnessError):
    """Bytes that break a limit of the framing, at `offset` bytes into the body."""

    def __init__(self, what: str, *, offset: int) -> None:
        super().__init__(what, where=f"byte {offset}")
        self.offset = offset
