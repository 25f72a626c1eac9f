"""Emit the calls of a text as they are read, and not at the end of the turn.

A call starts when its name is certain, and its arguments follow as they come. Its end comes at the
end of the turn, because only then is it known whether it counts. A call that later text takes back
ends with a rejection.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from harness.text_calls.dialect import Offered, TextDialect, WrittenCall
from harness.text_calls.found import Found
from harness.text_calls.streamed import CONTRADICTED, BlockStream, StreamedCall

# When calls are emitted. The first is the default.
Emit: TypeAlias = Literal["at_end", "as_read"]


class EarlyCalls:
    """The calls of one text that are emitted before the end of the turn.

    Fields:
        calls: all calls that were started, in order.
        held: no further call is started, because the API's field has calls too.
    """

    def __init__(self) -> None:
        self.calls: list[StreamedCall] = []
        self.held = False
        # Those with something that was not emitted yet.
        self._fresh: list[StreamedCall] = []

    def stream(self, dialect: TextDialect, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the block after `opener`; None if no call may start."""
        return None if self.held else dialect.stream(opener, offered)

    def read(self, stream: BlockStream, text: str) -> None:
        """Read the next text of a block."""
        known = len(stream.calls)
        stream.feed(text)
        if known:
            self._fresh.append(stream.calls[known - 1])
        self._add(stream.calls[known:])

    def finish(self, stream: BlockStream | None, found: Sequence[Found]) -> None:
        """Compare the calls of a complete block with those that were started, and emit the rest."""
        waiting = list(stream.calls) if stream else []
        for each in found:
            call = each.call
            # A block that is broken as a whole has no name, but the call that was started has one.
            if waiting and call.name in ("", waiting[0].name):
                each.streamed = streamed = waiting.pop(0)
                fits = streamed.fits(call.arguments)
                error = call.error or ("" if fits else CONTRADICTED)
                each.call = WrittenCall(streamed.name, call.arguments, call.id, error)
                if fits:
                    streamed.complete(call.arguments)
                    self._fresh.append(streamed)
            elif not (self.held or call.error):
                each.streamed = StreamedCall(call.name, call.id, [call.arguments])
                self._add([each.streamed])

    def _add(self, calls: Iterable[StreamedCall]) -> None:
        for call in calls:
            self.calls.append(call)
            self._fresh.append(call)

    def take(self) -> list[StreamedCall]:
        """Return the calls with something that was not emitted yet, in order, each once."""
        fresh, self._fresh = self._fresh, []
        return list({id(call): call for call in fresh}.values())
