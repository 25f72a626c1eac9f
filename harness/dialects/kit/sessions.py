"""Find the responses in a session: which messages of a WebSocket connection belong to which one.

A session has messages that belong to no response, such as its prelude, rate limits and buffers of
audio. They change no turn. The form of a dialect says what each message is.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import msgspec

from harness.wire.payload import json_or_none
from harness.wire.session import SessionFrame

Json: TypeAlias = dict[str, Any]

# `cause` asks for a response, `context` is a part of what the next one answers, and `config` holds
# for all later ones. `answer` is a cause that also ends the response before it, as the results of
# its calls do. Any other message of the client belongs to no response.
ClientRole = Literal["config", "context", "cause", "answer", ""]
# `only` is a response of one message, such as an error.
Action = Literal["start", "part", "end", "only", "outside"]

_MOST_OPEN: Final = 1000


class ServerRole(msgspec.Struct, frozen=True):
    """What a message of the server is in its session.

    Fields:
        action: what it does to a response.
        response: the id of the response; "" if the message does not name it.
        item: the id of the item that it is about, if the message does not name the response.
        announces: the ids of items that later messages may name instead of the response.
    """

    action: Action = "outside"
    response: str = ""
    item: str = ""
    announces: tuple[str, ...] = ()


class SessionView(msgspec.Struct, frozen=True):
    """What a form may know of the session before a message.

    Fields:
        is_open: a response has begun and has not ended.
        is_awaited: the client asked for a response that has not begun.
        awaited_events: the ids of the client's messages that ask for these responses.
    """

    is_open: bool
    is_awaited: bool
    awaited_events: frozenset[str] = frozenset()


class SessionForm(msgspec.Struct, frozen=True):
    """Describes the messages of an API over WebSocket.

    Fields:
        client: returns the role of a message of the client.
        server: returns the role of a message of the server.
        is_session: returns whether only a session has this message of the server.
        one_cause_each: whether each cause asks for a separate response; otherwise the next
            response answers all of them.
        replies: a member of a client's message -> the message that the server sends at once, and
            for which clients wait.
    """

    client: Callable[[Json], ClientRole]
    server: Callable[[Json, SessionView], ServerRole]
    is_session: Callable[[Json], bool]
    one_cause_each: bool = True
    replies: Mapping[str, bytes] = MappingProxyType({})


class _Turn:
    """The numbers of the frames of one response."""

    def __init__(self, response: str, causes: Iterable[int]) -> None:
        self.response = response
        self.numbers = list(causes)
        self.is_open = True


class _Finder:
    """Assigns the messages of one session to responses, in order."""

    def __init__(self, form: SessionForm) -> None:
        self.turns: list[_Turn] = []
        self._form = form
        self._config: list[int] = []
        self._context: list[int] = []
        self._causes: deque[tuple[str, list[int]]] = deque()
        self._of_item: dict[str, _Turn] = {}
        self._open: list[_Turn] = []

    def sent(self, number: int, event: Json) -> None:
        """Process a message of the client."""
        role = self._form.client(event)
        if role == "config":
            self._config.append(number)
        elif role == "context":
            self._context.append(number)
        elif role:
            if role == "answer":
                self._end_all()
            event_id = event.get("event_id")
            named = event_id if isinstance(event_id, str) else ""
            self._causes.append((named, [*self._context, number]))
            self._context = []

    def received(self, number: int, event: Json) -> None:
        """Process a message of the server."""
        awaited = frozenset(name for name, _ in self._causes if name)
        view = SessionView(bool(self._open), bool(self._causes), awaited)
        role = self._form.server(event, view)
        if role.action == "outside":
            return
        turn = None if role.action == "only" else self._turn_of(role)
        if turn is None or (role.action == "start" and turn.response != role.response):
            turn = self._begin(role.response)
        turn.numbers.append(number)
        self._of_item.update(dict.fromkeys(role.announces, turn))
        if role.action in ("end", "only"):
            self._end(turn)

    def _turn_of(self, role: ServerRole) -> _Turn | None:
        """Return the response of a message; a message that does not name it is of the latest."""
        if role.response:
            known = (turn for turn in reversed(self.turns) if turn.response == role.response)
            named = next(known, None)
            unnamed = (turn for turn in self._open if not turn.response)
            return named or (None if role.action == "start" else next(unnamed, None))
        if role.item in self._of_item:
            return self._of_item[role.item]
        if self._open:
            return self._open[-1]
        return self.turns[-1] if role.item and self.turns else None

    def _begin(self, response: str) -> _Turn:
        causes: list[int] = []
        if self._form.one_cause_each and self._causes:
            causes = self._causes.popleft()[1]
        elif not self._form.one_cause_each or not self._causes:
            causes = [number for _, numbers in self._causes for number in numbers] + self._context
            self._causes.clear()
            self._context = []
        turn = _Turn(response, (*self._config, *causes))
        self.turns.append(turn)
        self._open = [*self._open[-_MOST_OPEN:], turn]
        return turn

    def _end(self, turn: _Turn) -> None:
        turn.is_open = False
        self._open = [each for each in self._open if each is not turn]

    def _end_all(self) -> None:
        for turn in self._open:
            turn.is_open = False
        self._open = []


def find_turns(frames: Iterable[SessionFrame], form: SessionForm) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the frames of each response, in the order in which they began.

    If no response is found, and the server sent messages that a session of the API may consist of,
    all of them are one response.
    """
    finder = _Finder(form)
    strays: list[int] = []
    for number, frame in enumerate(frames):
        event = json_or_none(frame.data) if frame.is_message else None
        if not isinstance(event, dict):
            continue
        if frame.side == "client":
            finder.sent(number, event)
        else:
            strays.append(number)
            finder.received(number, event)
    found = tuple(tuple(sorted(turn.numbers)) for turn in finder.turns)
    return found or ((tuple(strays),) if strays else ())
