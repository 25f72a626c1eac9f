"""Send a request and return the turn, also if the provider, network or normalizer fails.

A provider that is not reachable, an interrupted stream and a normalizer that raises give a turn
with a failure. The turn keeps what was parsed before, and no call of it is executed. Only errors
that the user must fix, such as an unknown dialect, are raised.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from harness.conversation.task import Reply, Task
from harness.dialects.kit.build_request import RequestSpec, function_of
from harness.dialects.table import AGENT_DIALECTS, DIALECTS
from harness.errors import UsageError
from harness.normalizers.protocol import Normalize
from harness.results.conversation import Ending
from harness.turns.deltas import Delta, DeltaError, FinishReason, StreamFailure
from harness.turns.exact_json import encode_json
from harness.turns.fold import fold
from harness.turns.messages import Message
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Headers, Interaction, Request

_MOST_ERROR_CHARACTERS: Final = 200
# Failures of the network and not of the provider: the stream stopped before its end.
_BROKEN_STREAMS: Final = frozenset(("interrupted", "empty_stream"))
_HEADERS: Final[Headers] = (("content-type", "application/json"),)


def next_request(
    task: Task, messages: Sequence[Message], tools: Sequence[Tool], options: Mapping[str, Any]
) -> Request:
    """Return the request for the next turn.

    Args:
        task: contains the provider that gets the request.
        messages: the history.
        tools: the tools in the API's field; empty if the prompt describes the tools.
        options: further fields of the body, such as `parallel_tool_calls`.

    Raises:
        UsageError: agents do not support the dialect of the task.
    """
    row = DIALECTS.get(task.dialect)
    if row is None or row.build_request is None:
        raise UsageError(
            f"dialect {task.dialect!r} does not support conversations",
            hint=f"Choose one of: {', '.join(sorted(AGENT_DIALECTS))}.",
        )
    field = task.capabilities.reasoning_field
    spec = RequestSpec(task.model, task.uri, tuple(messages), tuple(tools), options, field)
    headers = (*_HEADERS, *row.request_headers)
    return Request("POST", task.uri, headers, encode_json(row.build_request(spec)))


def read_turn(task: Task, request: Request, reply: Reply, normalize: Normalize) -> Turn:
    """Return the turn of a response; the normalizer also gets tools that a prompt describes."""
    tools = tuple(map(function_of, task.tools))
    interaction = Interaction(
        request, reply.status, reply.headers, b"", (), dialect=task.dialect, tools=tools
    )
    return fold(normalize(interaction, iter(reply.reads)))


def request_turn(task: Task, request: Request, normalize: Normalize) -> Turn:
    """Send a request and return the turn of its response.

    Raises:
        UsageError: the task's dialect is unknown.
    """
    try:
        reply = task.send(request)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - each HTTP client has its own errors
        return Turn(failure=StreamFailure("unreachable", _error_text(error)))
    try:
        return read_turn(task, request, _reliable(reply), _guarded(normalize))
    except DeltaError as error:
        return Turn(failure=StreamFailure("bad_delta", _error_text(error)))


def turn_ending(turn: Turn) -> Ending:
    """Return how a conversation ends after an incomplete turn."""
    if turn.failure is not None:
        return "interrupted" if turn.failure.code in _BROKEN_STREAMS else "error"
    if turn.finish is None:
        return "interrupted"
    return "limit" if turn.finish.reason is FinishReason.LENGTH else "error"


def _reliable(reply: Reply) -> Reply:
    """Return `reply` whose reads raise only OSError, so that the failure names the network."""

    def reads() -> Iterator[bytes]:
        try:
            yield from reply.reads
        except OSError:
            raise
        except Exception as error:  # each HTTP client has its own errors
            raise ConnectionError(_error_text(error)) from error

    return replace(reply, reads=reads())


def _guarded(normalize: Normalize) -> Normalize:
    """Return a function that yields a failure instead of each exception of `normalize`."""

    def guarded(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
        try:
            yield from normalize(interaction, reads)
        except OSError as error:
            yield StreamFailure("interrupted", _error_text(error))
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - third-party code may raise anything
            yield StreamFailure("unreadable", _error_text(error))

    return guarded


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_MOST_ERROR_CHARACTERS]
