"""Find out what each event adds, if events either continue a value or repeat all of it.

With `incremental_output` an event contains what is new. Without it, each event contains all text so
far, a snapshot (quirk DASH-CUMULATIVE). The response does not say which, so the bytes must show it:

- A value that does not begin with the earlier value of its field proves increments.
- A value that does, and is longer, may be either. It counts as a snapshot if it repeats eight
  characters or more, or if this happens in a field for the second time, and
  never while the value is the same character repeated. Until then the module holds it back, which
  takes two or three events of a stream that grows.
- If the stream ends before that, it consists of snapshots, unless its arguments are JSON only if
  the values are appended.
- One answer holds for the complete stream, all its fields together. Empty values contain nothing.

Limits: if the second increment repeats the first one and the stream ends there ("ha", "ha"), the
second counts as a snapshot that did not grow. A snapshot that takes back earlier text has no
certain meaning, so the turn fails.
"""

from collections.abc import Callable, Hashable

import msgspec

from harness.turns.arguments import parse

_CONVINCING_CHARACTERS = 8
_CONVINCING_TIMES = 2


class _Field(msgspec.Struct, eq=False):
    """One growing value of the message: its text, its reasoning, or a call's arguments."""

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
    """Collects the growing values of one stream, by field.

    Fields:
        cumulative: whether an event contains all text so far, and not only new text; None while
            this is unknown.
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
        """Add a field called `key`.

        Args:
            key: the name of the field.
            emit: a function that receives each new part of the field.
            contradict: a function that is called if the values contradict each other.
            is_json: whether the complete value must be JSON.
        """
        self._fields[key] = _Field(emit, contradict, is_json)

    def take(self, key: Hashable, value: str) -> None:
        """Process the value of the field `key` in one event."""
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
        """Decide whether held values are snapshots or increments, and emit them."""
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
