"""Write the session that a recipe describes: the client's messages, and those of each response.

A recipe is of a session if its request form has a WebSocket address. The responses in it are found
as in a recorded session, so an event of the session changes no turn here either.
"""

from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Final

import msgspec

from harness.dialects.table import request_body, session_turns
from harness.errors import UnreadableError
from harness.turns.json_values import dicts
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Request
from harness.wire.session import Session, SessionFrame, close_data

_ADDRESSES: Final = ("ws://", "wss://")
_DELAYS_MS: Final = (31, 12, 48, 7)


def is_session(request: Request) -> bool:
    """Return whether the request opens a WebSocket connection."""
    return request.uri.startswith(_ADDRESSES)


def with_session(
    made: Cassette, later: Iterable[tuple[dict[str, object], ...]], close: int, where: str
) -> Cassette:
    """Return the cassette of the session in which the interactions of `made` follow each other.

    Args:
        made: a cassette with an interaction for each response of the recipe.
        later: the client's messages after each response.
        close: the code with which the server closes the connection; 0 if it stays open.
        where: the scenario file.

    Raises:
        UnreadableError: no response is found in the session.
    """
    delays = cycle(_DELAYS_MS)
    frames: list[SessionFrame] = []
    at = 0
    for frame in _frames(made.interactions, later):
        at += next(delays)
        frames.append(msgspec.structs.replace(frame, at_ms=at))
    if close:
        frames.append(SessionFrame("server", close_data(close), at + next(delays), "close"))
    first = made.interactions[0].request
    request = msgspec.structs.replace(first, method="GET", body=b"", headers=())
    turns = session_turns(frames, made.dialect)
    if not turns:
        raise UnreadableError("emulate.responses: no response is found in the session", where=where)
    session = Session(request, tuple(frames), turns, ended=made.interactions[-1].ended)
    pattern = msgspec.structs.replace(made, interactions=session.interactions(), session=session)
    return pattern.with_each(dialect=made.dialect, tools=made.tools)


def _frames(
    interactions: Iterable[Interaction], later: Iterable[tuple[dict[str, object], ...]]
) -> Iterator[SessionFrame]:
    sent: Iterable[object] = ()
    for number, (interaction, following) in enumerate(zip(interactions, later, strict=True)):
        if not number:
            body = request_body(interaction.request.body) or {}
            sent = list(dicts(body.get("events"))) or [body]
        for event in sent:
            yield SessionFrame("client", msgspec.json.encode(event))
        for frame in iter_frames([interaction.body]):
            yield SessionFrame("server", frame.data)
        sent = following
