"""Values that events repeat or continue -> what each of them adds.

With `incremental_output` an event contains what is new; without it each event contains all text so
far, a snapshot (quirk DASH-CUMULATIVE). The response does not say which, so the bytes must show it:

- A value that does not begin with the earlier value of its field proves increments.
- A value that does, and is longer, may be either. It counts as a snapshot if it repeats eight
  characters or more, or if this happens in a field for the second time, and
  never while the value is the same character repeated. Until then it is held back, which takes two
  or three events of a stream that grows.
- If the stream ends before that, it consists of snapshots, unless its arguments are JSON only if
  the values are appended.
- One answer holds for the complete stream, all its fields together. Empty values contain nothing.

Its limits: increments whose second piece repeats the first one and that end there ("ha",
"ha") are read as a snapshot that did not grow. A snapshot that takes back earlier text has no
certain meaning, so the turn fails and nothing is guessed.
"""

from collections.abc import Callable, Hashable

import msgspec

from harness.turns.arguments import parse

_CONVINCING_CHARACTERS = 8
_CONVINCING_TIMES = 2


class _Field(msgspec.Struct, eq=False):
    """One value of the message that grows: its text, its reasoning, or a call's arguments."""

    emit: Callable[[str], None]
    contradict: Callable[[], None]
    is_json: bool
    first: str = ""
    last: str = ""  # the value of the last event that had one
    grown: int = 0  # how often a longer value began with the one before
    pending: list[str] = []  # values after the first, until it is known what events hold

    def appended(self) -> str:
        return "".join((self.first, *self.pending))

    def extend(self, value: str) -> None:
        """Emit what a snapshot adds. A shorter or equal snapshot adds nothing."""
        if value.startswith(self.last):
            self.emit(value[len(self.last) :])
            self.last = value
        elif not self.last.startswith(value):
            self.contradict()


class GrowingFields:
    """The values of one stream, by field.

    Fields:
        cumulative: an event contains all so far, and not only what is new; None while unknown.
    """

    def __init__(self) -> None:
        self.cumulative: bool | None = None
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
            key: the name of the field.
            emit: receives the content of the field, piece by piece.
            contradict: called if its values contradict each other.
            is_json: its complete value must be JSON.
        """
        self._fields[key] = _Field(emit, contradict, is_json)

    def take(self, key: Hashable, value: str) -> None:
        """Take the value in an event of the field `key`, which was opened before."""
        field = self._fields[key]
        if not value:
            return
        if self.cumulative is None:
            self._take_open(field, value)
        elif self.cumulative:
            field.extend(value)
        else:
            field.emit(value)

    def flush(self) -> None:
        """Decide what is still undecided, and emit what was held back."""
        if self.cumulative is None:
            self._decide(cumulative=not self._only_appended_is_json())

    def _take_open(self, field: _Field, value: str) -> None:
        so_far = field.last
        if not so_far:
            field.first = field.last = value
            field.emit(value)
        elif not value.startswith(so_far):
            self._decide(cumulative=False)
            field.emit(value)
        else:
            field.pending.append(value)
            field.last = value
            if len(value) > len(so_far) and value.strip(value[0]):
                field.grown += 1
                if len(so_far) >= _CONVINCING_CHARACTERS or field.grown >= _CONVINCING_TIMES:
                    self._decide(cumulative=True)

    def _decide(self, *, cumulative: bool) -> None:
        self.cumulative = cumulative
        for field in self._fields.values():
            if not cumulative:
                for value in field.pending:
                    field.emit(value)
            elif field.pending:
                field.emit(field.last[len(field.first) :])

    def _only_appended_is_json(self) -> bool:
        doubtful = [field for field in self._fields.values() if field.is_json and field.pending]
        return any(not _is_object(field.last) for field in doubtful) and all(
            _is_object(field.appended()) for field in doubtful
        )


def _is_object(text: str) -> bool:
    return parse(text).value is not None
