"""Values that events repeat or continue -> what each of them adds.

With `incremental_output` an event holds what is new; without it each event holds all that came
so far (quirk DASH-CUMULATIVE). The response does not say which, so the bytes must:

- A value that does not begin with what its field held before proves increments.
- A value that does, and is longer, may be either. It is taken for a snapshot if eight
  characters or more are repeated, or if it happens in a field for the second time, and
  never while the value is one character over and over. Until then it is held back: for two
  or three events of a stream that grows.
- If the stream ends before that, it is of snapshots, unless only the appended values of
  its arguments are JSON.
- One answer holds for the complete stream, all its fields together. Empty values contain nothing.

Its limits: increments whose second piece is the first one again and nothing else follows ("ha",
"ha") read as a snapshot that did not grow. A snapshot that takes back what came before cannot
be read at all, and is refused instead of guessed.
"""

from collections.abc import Callable, Hashable
from enum import Enum

from harness.turns.arguments import parse

_CONVINCING_CHARACTERS = 8
_CONVINCING_TIMES = 2


class Mode(Enum):
    """What the events of one stream hold."""

    OPEN = "not known yet"
    INCREMENTS = "what is new"
    SNAPSHOTS = "all so far"


# To look up a member costs more than to compare it.
_INCREMENTS, _SNAPSHOTS = Mode.INCREMENTS, Mode.SNAPSHOTS


class _Field:
    """One value of the message that grows: its text, its reasoning, or one call's arguments."""

    __slots__ = ("contradict", "emit", "first", "grown", "is_json", "last", "pending")

    def __init__(
        self, emit: Callable[[str], None], contradict: Callable[[], None], *, is_json: bool
    ) -> None:
        self.emit = emit
        self.contradict = contradict
        self.is_json = is_json
        self.first = ""
        self.last = ""  # the value of the last event that had one
        self.grown = 0  # how often a longer value began with the one before
        self.pending: list[str] = []  # values after the first, while the mode is open

    def appended(self) -> str:
        return "".join((self.first, *self.pending))

    def extend(self, value: str) -> None:
        """Say what a snapshot adds; a shorter one, and an equal one, adds nothing."""
        if value.startswith(self.last):
            self.emit(value[len(self.last) :])
            self.last = value
        elif not self.last.startswith(value):
            self.contradict()


class GrowingFields:
    """The values of one stream, by field."""

    __slots__ = ("_fields", "mode")

    def __init__(self) -> None:
        self.mode = Mode.OPEN
        self._fields: dict[Hashable, _Field] = {}

    def field(
        self,
        key: Hashable,
        emit: Callable[[str], None],
        contradict: Callable[[], None],
        *,
        is_json: bool = False,
    ) -> None:
        """Open the field `key`.

        Args:
            key: of the field.
            emit: takes what it contains, piece by piece.
            contradict: is called if its values contradict each other.
            is_json: its complete value must be JSON.
        """
        self._fields[key] = _Field(emit, contradict, is_json=is_json)

    def take(self, key: Hashable, value: str) -> None:
        """Take the value that an event has for the field `key`, which was opened."""
        field = self._fields[key]
        if not value:
            return
        if self.mode is _INCREMENTS:
            field.emit(value)
        elif self.mode is _SNAPSHOTS:
            field.extend(value)
        else:
            self._take_open(field, value)

    def flush(self) -> None:
        """Decide what is still open, and say what was held back."""
        if self.mode is Mode.OPEN:
            self._decide(Mode.INCREMENTS if self._only_appended_is_json() else Mode.SNAPSHOTS)

    def _take_open(self, field: _Field, value: str) -> None:
        so_far = field.last
        if not so_far:
            field.first = field.last = value
            field.emit(value)
        elif not value.startswith(so_far):
            self._decide(Mode.INCREMENTS)
            field.emit(value)
        else:
            field.pending.append(value)
            field.last = value
            if len(value) > len(so_far) and value.strip(value[0]):
                field.grown += 1
                if len(so_far) >= _CONVINCING_CHARACTERS or field.grown >= _CONVINCING_TIMES:
                    self._decide(Mode.SNAPSHOTS)

    def _decide(self, mode: Mode) -> None:
        self.mode = mode
        for field in self._fields.values():
            if mode is Mode.INCREMENTS:
                for value in field.pending:
                    field.emit(value)
            elif field.pending:
                field.emit(field.last[len(field.first) :])
            field.pending = []

    def _only_appended_is_json(self) -> bool:
        doubtful = [field for field in self._fields.values() if field.is_json and field.pending]
        return any(not _is_object(field.last) for field in doubtful) and all(
            _is_object(field.appended()) for field in doubtful
        )


def _is_object(text: str) -> bool:
    return parse(text).value is not None
