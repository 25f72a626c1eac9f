"""Turn the messages that a tool recorded with times into a session; shared by several readers."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from harness.wire.interaction import Headers, Request
from harness.wire.session import Opcode, Session, SessionFrame, check_session

# RFC 6455, section 5.2. A recorder joins the fragments of a message.
OPCODES: Final[dict[object, Opcode]] = {
    1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong",
}  # fmt: skip
_MS: Final = 1000
_LAST_TIME: Final = 1e12


def timed_session(
    frames: Sequence[tuple[float, SessionFrame]],
    request: Request | None = None,
    headers: Headers = (),
    where: str = "the session",
) -> Session:
    """Return the session of frames with their times in seconds.

    If all times are equal, or one is not a number that a clock gives, no time is kept.

    Raises:
        UnreadableError: the session has too many frames, or a frame is too large.
    """
    times = [at for at, _ in frames]
    kept = len(set(times)) > 1 and all(0 <= at < _LAST_TIME for at in times)
    start = min(times, default=0.0) if kept else 0.0
    timed = tuple(
        replace(frame, at_ms=round((at - start) * _MS) if kept else 0) for at, frame in frames
    )
    session = Session(request or Request("GET"), timed, headers=headers, times_kept=kept)
    check_session(session, where)
    return session
