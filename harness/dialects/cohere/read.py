"""Read the frames of a Cohere stream as deltas: version 2 by `type`, version 1 by `event_type`.

Both versions come as server-sent events or as lines of JSON. A complete response without a stream
and an error body are one document. Events of unknown types are ignored, but a stream of nothing
else is not a stream of this API. The reader never raises, whatever a stream contains.
Source: https://docs.cohere.com/reference/chat-stream and /reference/chat-stream-v1
"""

from typing import Any

from harness.dialects.cohere.ending import error_of
from harness.dialects.cohere.read_v1 import V1
from harness.dialects.cohere.read_v2 import BORDERS, V2, piece_of
from harness.dialects.kit.reader import EventReader, quote, reads_with
from harness.wire.frames import Frame


class _Reader(EventReader):
    """Reads one response of the dialect `cohere`."""

    def __init__(self) -> None:
        super().__init__()
        self._v2, self._v1 = V2(self.turn), V1(self.turn)
        self.is_known = False

    def _take(self, frame: Frame) -> None:
        # Typed pieces only follow an event of this API that was read in full.
        if self.is_known:
            piece = piece_of(frame.data)
            if piece is not None and self._v2.piece(piece):
                return
        super()._take(frame)

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one event, or a complete document."""
        kind = value.get("type") or value.get("event_type")
        if kind is None and error_of(value) is None and frame.event in (*V2.TAKES, *BORDERS):
            kind = frame.event  # quirk SSE-TYPE-IN-NAME-ONLY
        if type(kind) is not str:
            self._document(value, frame)
            return
        take = V2.TAKES.get(kind)
        if take is not None:
            self.is_known = True
            take(self._v2, value, frame)
        elif (take_v1 := V1.TAKES.get(kind)) is not None:
            self.is_known = True
            take_v1(self._v1, value, frame)
        elif kind == "error" or frame.event == "error":
            self.turn.fail(*(error_of(value) or ("error", quote(value))))

    def _document(self, value: dict[str, Any], frame: Frame) -> None:
        """Process an object that is not an event: a complete response or an error."""
        if isinstance(value.get("message"), dict) and "finish_reason" in value:
            self._v2.document(value, frame)
        elif isinstance(value.get("text"), str) and "generation_id" in value:
            self._v1.document(value, frame)
        elif (error := error_of(value)) is not None:
            self.turn.fail(*error)
        else:
            self.unknown(frame.data)


read = reads_with(_Reader)
