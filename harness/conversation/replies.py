"""A request -> the turn that came back, whatever provider, network and normalizer do.

A provider that cannot be reached, a stream that stops in the middle and a normalizer that
raises are failures of the turn: what was read before stands, and no call of it runs. Only what
the user must mend, such as a dialect that nobody reads, is raised.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from harness.conversation.asking import read_turn
from harness.conversation.conversation import Ending
from harness.conversation.task import Reply, Task
from harness.errors import UsageError
from harness.normalizers.protocol import Normalize
from harness.turns.deltas import Delta, DeltaError, FinishReason, StreamFailure
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction, Request

_SHOWN: Final = 200
# What is a failure, but none of the provider's: the stream stopped before its end.
_BROKEN_STREAMS: Final = frozenset(("interrupted", "empty_stream"))


def request_turn(task: Task, request: Request, normalize: Normalize) -> Turn:
    """Send a request and read its reply.

    Raises:
        UsageError: nobody reads the task's dialect.
    """
    try:
        reply = task.send(request)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - each HTTP client has errors of its own
        return Turn(failure=StreamFailure("unreachable", _error_text(error)))
    try:
        return read_turn(task, request, _reliable(reply), _guarded(normalize))
    except DeltaError as error:
        return Turn(failure=StreamFailure("bad_delta", _error_text(error)))


def turn_ending(turn: Turn) -> Ending:
    """Return how a conversation ends with a turn that broke off."""
    if turn.failure is not None:
        return "interrupted" if turn.failure.code in _BROKEN_STREAMS else "error"
    if turn.finish is None:
        return "interrupted"
    return "limit" if turn.finish.reason is FinishReason.LENGTH else "error"


def _reliable(reply: Reply) -> Reply:
    """Return `reply` with reads that raise nothing but OSError, so that it is known whose it is."""

    def reads() -> Iterator[bytes]:
        try:
            yield from reply.reads
        except OSError:
            raise
        except Exception as error:  # each HTTP client has errors of its own
            raise ConnectionError(_error_text(error)) from error

    return replace(reply, reads=reads())


def _guarded(normalize: Normalize) -> Normalize:
    """Return `normalize` with an end in place of whatever it raises."""

    def guarded(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        try:
            yield from normalize(interaction, reads)
        except OSError as error:
            yield StreamFailure("interrupted", _error_text(error))
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything
            yield StreamFailure("unreadable", _error_text(error))

    return guarded


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_SHOWN]
