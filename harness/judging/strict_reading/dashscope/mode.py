"""The values of one field, event by event -> whether they repeat or continue each other.

Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (`incremental_output`)
"""

from typing import Any

from harness.judging.strict_reading.values import event_value

# A value that repeats so much of the one before, and goes on, is no coincidence.
_SURE_CHARACTERS = 16


class Values:
    """What the events hold of one field, in order; empty values say nothing.

    Fields:
        seen: each value, with the end of its event.
        repeats: some value begins with the one before.
        differs_at: the end of the first event whose value does not, so that it continues it.
        grows: some value begins with the one before, and goes on.
        repeats_much: so much of it that it must be a repetition.
        has_half_characters: some value holds half a surrogate pair.
    """

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.repeats = self.grows = self.repeats_much = False
        self.differs_at: int | None = None
        self.has_half_characters = False

    def add(self, value: str, end: int) -> None:
        """Take the value of one event."""
        if not value:
            return
        self.has_half_characters |= any("\ud800" <= mark <= "\udfff" for mark in value)
        if self.seen:
            before = self.seen[-1][0]
            begins = value.startswith(before)
            self.repeats |= begins
            if not begins and self.differs_at is None:
                self.differs_at = end
            self.grows |= begins and len(value) > len(before)
            self.repeats_much |= begins and len(value) > len(before) >= _SURE_CHARACTERS
        self.seen.append((value, end))

    @property
    def differs(self) -> bool:
        """Whether some value does not begin with the one before."""
        return self.differs_at is not None

    def total(self, *, cumulative: bool) -> str:
        """Return the whole value."""
        if cumulative:
            return self.seen[-1][0] if self.seen else ""
        return "".join(value for value, _ in self.seen)


def asked_for(request: bytes) -> bool | None:
    """Return whether the request asked for all so far in each event; None where unknown."""
    value: Any = event_value(request.decode("utf-8", "replace"))
    parameters = value.get("parameters") if isinstance(value, dict) else None
    increments = parameters.get("incremental_output") if isinstance(parameters, dict) else None
    return not increments if isinstance(increments, bool) else None
