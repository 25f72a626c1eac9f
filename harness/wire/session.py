"""Define a session: the messages of both directions of one WebSocket connection.

A response of a session is an interaction like any other. Its request body has the client's messages
that caused it, and its response body the server's messages of it, each message as one line. A line
end in the JSON of a message is white space, so a space replaces it: offsets in the body are offsets
in the messages, and a cut inside a line is the border of a fragment.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from harness.errors import UnreadableError
from harness.wire.frames import MAX_EVENT_BYTES
from harness.wire.interaction import (
    SWITCHING_PROTOCOLS,
    Ended,
    Headers,
    Interaction,
    Read,
    Request,
)

Side = Literal["client", "server"]
Opcode = Literal["text", "binary", "ping", "pong", "close"]

MAX_FRAMES: Final = 1_000_000
_MESSAGES: Final = frozenset(("text", "binary"))
_SPACES: Final = bytes.maketrans(b"\r\n", b"  ")
# Codes of RFC 6455, section 7.4.1: 1000 is a normal end, 1005 a close without a code.
_NORMAL_CODES: Final = frozenset((1000, 1005))
_CODE_BYTES: Final = 2
_NO_CODE: Final = 1005


class SessionFrame(msgspec.Struct, frozen=True):
    """One message, ping, pong or close frame of a session; a fragmented message is joined.

    Fields:
        side: who sent it.
        data: its payload; of a close frame, the code in two bytes and the reason.
        at_ms: milliseconds since the session began.
        opcode: the kind of frame.
    """

    side: Side
    data: bytes
    at_ms: int = 0
    opcode: Opcode = "text"

    @property
    def is_message(self) -> bool:
        """Whether the frame is a message of the application."""
        return self.opcode in _MESSAGES

    @property
    def line(self) -> bytes:
        """The message as one line without its end."""
        return self.data.translate(_SPACES)


class Session(msgspec.Struct, frozen=True):
    """One WebSocket connection, from the opening request to its end.

    Fields:
        request: the opening request, with the address and its headers.
        headers: the headers of the response to it.
        frames: the frames of both directions in the order in which they arrived.
        turns: for each response found in the session, the numbers of the frames that belong to it,
            in their order: client messages that caused it, and server messages that it consists of.
        times_kept: whether `at_ms` was recorded; otherwise all times are 0.
        ended: how the connection ended without a close frame.
    """

    request: Request
    frames: tuple[SessionFrame, ...]
    turns: tuple[tuple[int, ...], ...] = ()
    headers: Headers = ()
    times_kept: bool = True
    ended: Ended = "complete"

    @property
    def close_code(self) -> int | None:
        """The code of the server's close frame, else of the client's; None without one."""
        closes = [frame for frame in self.frames if frame.opcode == "close"]
        closes.sort(key=lambda frame: frame.side, reverse=True)
        return next(map(_code_of, closes), None)

    def interactions(self) -> tuple[Interaction, ...]:
        """Return the interaction of each response, in the order of `turns`."""
        return tuple(map(self.interaction, self.turns))

    def interaction(self, turn: Sequence[int]) -> Interaction:
        """Return the interaction of the messages with these numbers."""
        frames = [self.frames[number] for number in turn]
        sent = [frame.line for frame in frames if frame.side == "client"]
        received = [frame for frame in frames if frame.side == "server"]
        request = msgspec.structs.replace(self.request, method="GET", body=b"\n".join(sent))
        return Interaction(
            request,
            SWITCHING_PROTOCOLS,
            self.headers,
            b"".join(frame.line + b"\n" for frame in received),
            tuple(self._reads(turn, received)),
            reads_kept=self.times_kept,
            ended=self._end_of(turn),
        )

    def _reads(self, turn: Sequence[int], received: Sequence[SessionFrame]) -> Iterable[Read]:
        """Yield one read for each message; the first delay is since the last message of the client.

        A session that starts with the server has no such message.
        """
        sent = [self.frames[number] for number in turn if self.frames[number].side == "client"]
        before = sent[-1].at_ms if sent else received[0].at_ms if received else 0
        for frame in received:
            yield Read(len(frame.data) + 1, max(frame.at_ms - before, 0))
            before = frame.at_ms

    def _end_of(self, turn: Sequence[int]) -> Ended:
        """Return how the connection ended, if it ended in the response that arrived last."""
        last = max((n for n, it in enumerate(self.frames) if _is_received(it)), default=-1)
        if last not in turn:
            return "complete"
        code = self.close_code
        if code is None:
            return self.ended
        return "complete" if code in _NORMAL_CODES else "truncated"

    def whole(self) -> Interaction:
        """Return all frames as one interaction, for the search for secrets."""
        parts = {
            side: b"\n".join(frame.data for frame in self.frames if frame.side == side)
            for side in ("client", "server")
        }
        request = msgspec.structs.replace(self.request, body=parts["client"])
        return Interaction(request, SWITCHING_PROTOCOLS, self.headers, parts["server"], ())

    def with_whole(self, whole: Interaction) -> "Session":
        """Return the session with the bytes of `whole`, which have the lengths of those before."""
        rest = {"client": whole.request.body, "server": whole.body}
        frames = []
        for frame in self.frames:
            size = len(frame.data)
            data, rest[frame.side] = rest[frame.side][:size], rest[frame.side][size + 1 :]
            frames.append(msgspec.structs.replace(frame, data=data))
        return msgspec.structs.replace(
            self,
            request=msgspec.structs.replace(whole.request, body=b""),
            headers=whole.headers,
            frames=tuple(frames),
        )


def check_session(session: Session, where: str) -> None:
    """Refuse a session that is too large, or whose turns name frames that it does not have.

    Raises:
        UnreadableError: the session cannot be used.
    """
    if len(session.frames) > MAX_FRAMES:
        raise UnreadableError(
            f"expected at most {MAX_FRAMES} frames, found {len(session.frames)}", where=where
        )
    for number, frame in enumerate(session.frames):
        if len(frame.data) > MAX_EVENT_BYTES:
            raise UnreadableError(
                f"a frame is larger than {MAX_EVENT_BYTES} bytes", where=f"{where}.frames[{number}]"
            )
    messages = {number for number, frame in enumerate(session.frames) if frame.is_message}
    for number, turn in enumerate(session.turns):
        strange = next((each for each in turn if each not in messages), None)
        if strange is not None or list(turn) != sorted(set(turn)):
            found = turn if strange is None else strange
            raise UnreadableError(
                f"expected the numbers of messages in ascending order, found {found}",
                where=f"{where}.turns[{number}]",
            )


def _is_received(frame: SessionFrame) -> bool:
    return frame.side == "server" and frame.is_message


def _code_of(frame: SessionFrame) -> int:
    if len(frame.data) < _CODE_BYTES:
        return _NO_CODE
    return int.from_bytes(frame.data[:_CODE_BYTES])


def close_data(code: int, reason: str = "") -> bytes:
    """Return the payload of a close frame."""
    return code.to_bytes(_CODE_BYTES) + reason.encode()
