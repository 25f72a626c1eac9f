"""The checks of Open Responses' public suite that use WebSocket: their requests and judgement.

A check is a list of steps, and each step is one `response.create` on a connection. A step may name
an earlier response, and it ends with the terminal event of its response or with an error. The
library `websockets` carries the protocol.
Source: https://github.com/openresponses/openresponses
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Final

import msgspec

from harness.checks.openresponses import ProfileResult, event_problems, turn_problems
from harness.playback.websocket import INSTALL_HINT
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Headers
from harness.wire.payload import json_or_none

try:
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect
except ImportError:  # the extra `websocket` is not installed
    connect = None  # type: ignore[assignment]

_SECONDS: Final = 60.0
_ENDS: Final = ("response.completed", "response.incomplete", "response.failed", "error")
_NOT_FOUND: Final = "previous_response_not_found"
_ANY: Final = "any"
_UNKNOWN_ID: Final = "resp_harness_unknown"
_LOST_CALL: Final = {"type": "function_call_output", "call_id": "call_unknown", "output": "0"}


class Step(msgspec.Struct, frozen=True):
    """One `response.create` of a check.

    Fields:
        input: the text or the items.
        previous: the response that the step names: the position of an earlier step, or an id; None
            for a new chain.
        error: the code of the error that must come; `any` for one of any code; "" for a response.
        reconnects: the step opens a new connection.
        compacted: the output of `/compact` comes before the input.
    """

    input: Any
    previous: int | str | None = None
    error: str = ""
    reconnects: bool = False
    compacted: bool = False


# The code words let a reader of a recording see whether the chain was kept.
SESSION_CHECKS: Final[dict[str, tuple[Step, ...]]] = {
    "websocket-response": (Step("Greet me in three words."),),
    "websocket-sequential-responses": (Step("Say one."), Step("Say two.")),
    "websocket-continuation": (Step("My word is basalt."), Step("Which word?", previous=0)),
    "websocket-reconnect-store-false-recovery": (
        Step("My word is granite."),
        Step("Which word?", previous=0, error=_NOT_FOUND, reconnects=True),
        Step("Start again and say yes."),
    ),
    "websocket-previous-response-not-found": (
        Step("Go on.", previous=_UNKNOWN_ID, error=_NOT_FOUND),
    ),
    "websocket-failed-continuation-evicts-cache": (
        Step("My word is marble."),
        Step([_LOST_CALL], previous=0, error=_ANY),
        Step("Which word?", previous=0, error=_NOT_FOUND),
    ),
    "websocket-compact-new-chain": (Step("Who am I?", compacted=True),),
}


class Turn(msgspec.Struct, frozen=True):
    """The events that the server sent for one step; `broken` says why the last is not its end."""

    events: tuple[dict[str, Any], ...]
    broken: str = ""

    @property
    def response(self) -> dict[str, Any]:
        """The response of the terminal event; {} if it has none."""
        value = self.events[-1].get("response") if self.events else None
        return value if isinstance(value, dict) else {}

    @property
    def error_code(self) -> str:
        """The code of the error; "" if there is none."""
        last = self.events[-1] if self.events else {}
        error = last.get("error") or self.response.get("error")
        inner = error if isinstance(error, dict) else last
        return str(inner.get("code") or "") if last.get("type") in _ENDS[2:] else ""


def run_session_checks(
    url: str, headers: Headers, model: str, compacted: Sequence[Any]
) -> Iterator[ProfileResult]:
    """Run each check against the server, and yield its result.

    Args:
        url: the address of `/responses`, with http or https.
        headers: the headers of each opening request.
        model: the model to request; "" for none.
        compacted: the output of `/compact`.
    """
    for name, steps in SESSION_CHECKS.items():
        if connect is None:
            yield ProfileResult(name, "not run", (INSTALL_HINT,))
            continue
        problems = tuple(dict.fromkeys(_problems(url, headers, model, steps, compacted)))
        yield ProfileResult(name, "failed" if problems else "passed", problems)


def _problems(
    url: str, headers: Headers, model: str, steps: Sequence[Step], compacted: Sequence[Any]
) -> Iterator[str]:
    if any(step.compacted for step in steps) and not compacted:
        yield "`/compact` returned no output"
        return
    turns: list[Turn] = []
    with ExitStack() as stack:
        send: Callable[[bytes], Turn] | None = None
        for number, step in enumerate(steps, 1):
            try:
                if send is None or step.reconnects:
                    stack.close()
                    send = _opened(stack, url, headers)
                turns.append(send(_create(step, model, turns, compacted)))
            except (OSError, WebSocketException) as error:
                yield f"response {number}: {str(error) or type(error).__name__}"
                return
            found = tuple(_turn_problems(turns[-1], step))
            yield from (f"response {number}: {each}" for each in found)
            if found:
                return  # the next steps depend on it


def _opened(stack: ExitStack, url: str, headers: Headers) -> Callable[[bytes], Turn]:
    """Open a connection, and return a function that sends one message and reads its turn."""
    address = "ws" + url.removeprefix("http")
    connection = stack.enter_context(
        connect(address, additional_headers=headers, open_timeout=_SECONDS, max_size=None)
    )

    def send(message: bytes) -> Turn:
        connection.send(message.decode())
        events: list[dict[str, Any]] = []
        while True:
            data = connection.recv(timeout=_SECONDS)
            value = json_or_none(data.encode() if isinstance(data, str) else data)
            if not isinstance(value, dict):
                return Turn(tuple(events), f"a message is not a JSON object: {data[:40]!r}")
            events.append(value)
            if value.get("type") in _ENDS:
                return Turn(tuple(events))

    return send


def _create(step: Step, model: str, turns: Sequence[Turn], compacted: Sequence[Any]) -> bytes:
    given = step.input
    if step.compacted:
        given = [*compacted, {"type": "message", "role": "user", "content": given}]
    previous = step.previous
    if isinstance(previous, int):
        previous = str(turns[previous].response.get("id") or "")
    event = {"type": "response.create", "store": False, "input": given}
    named = {"model": model} if model else {}
    chain = {} if previous is None else {"previous_response_id": previous}
    return encode_json({**event, **named, **chain})


def _turn_problems(turn: Turn, step: Step) -> Iterator[str]:
    if turn.broken:
        yield turn.broken
    elif step.error:
        code = turn.error_code
        if not code or step.error not in (code, _ANY):
            due = "an error" if step.error == _ANY else f"the error {step.error!r}"
            yield f"expected {due}, got {code or turn.events[-1].get('type')!r}"
    elif turn.events[-1].get("type") == "error":
        yield f"the error {turn.error_code or turn.events[-1]!r}"
    else:
        yield from event_problems(turn.events)
        yield from turn_problems(turn.response)
        if not turn.response.get("id"):
            yield "the response has no `id`"
