"""Parse a response: with the reader of its dialect, by its HTTP status, and with its text calls.

A response with an error status never gives a successful turn. A normalizer declares a `TextPolicy`
if it looks for calls in text.
"""

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import msgspec

from harness.dialects.openai_chat.calls import CallAssembler, ReaderPolicy
from harness.dialects.openai_chat.read import read as read_openai_chat
from harness.dialects.table import DIALECTS, offered_tools, read_request
from harness.errors import UsageError
from harness.text_calls import TEXT_DIALECTS, ResponseTemplate, TextPolicy, read_text_calls
from harness.turns.deltas import (
    Delta,
    Finish,
    ParseError,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
)
from harness.turns.turn import Tool
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction

# What `respond` decides, as a normalizer declares it.
DEFAULT_READER: Final[dict[str, str]] = msgspec.structs.asdict(ReaderPolicy())
_FIRST_ERROR_STATUS = 400
_PROMPTS_KEPT = 16
# Failures that only state that a body is not a stream; the status is more precise.
_VAGUE = frozenset(("bad_event", "empty_stream", "interrupted"))


def respond(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of a response, parsed by the reader of its dialect.

    Raises:
        UsageError: the dialect is unknown.
    """
    return _respond(interaction, reads, offered_tools(interaction))


def _respond(
    interaction: Interaction, reads: Iterable[bytes], tools: tuple[Tool, ...]
) -> Iterator[Delta]:
    dialect = DIALECTS.get(interaction.dialect)
    if dialect is None:
        raise UsageError(
            f"unknown dialect {interaction.dialect!r}",
            hint=f"Choose one of: {', '.join(sorted(DIALECTS))}.",
        )
    names = tuple(tool.name for tool in tools)
    return _with_status_of(interaction.status, dialect.read(iter_frames(reads), names))


def respond_chat(
    interaction: Interaction,
    reads: Iterable[bytes],
    *,
    calls: CallAssembler | None = None,
    policy: ReaderPolicy | None = None,
) -> Iterator[Delta]:
    """Yield the deltas of an `openai-chat` response, with another assembler of calls or policy."""
    names = tuple(tool.name for tool in offered_tools(interaction))
    deltas = read_openai_chat(iter_frames(reads), tools=names, policy=policy, calls=calls)
    return _with_status_of(interaction.status, deltas)


def _with_status_of(status: int, deltas: Iterator[Delta]) -> Iterator[Delta]:
    if status < _FIRST_ERROR_STATUS:
        return deltas
    return (_with_status(delta, status) for delta in deltas)


def _with_status(delta: Delta, status: int) -> Delta:
    """Return `delta` for this HTTP status.

    With an error status, a failure replaces the normal end of the turn, and a rejection the end of
    a call.
    """
    if isinstance(delta, ToolCallEnd):
        error = ParseError("tool_use", f"the turn failed (HTTP status {status})")
        return ToolCallRejected(delta.index, error)
    if isinstance(delta, Finish):
        return StreamFailure(f"http_{status}", f"HTTP status {status}")
    if isinstance(delta, StreamFailure) and delta.code in _VAGUE:
        return StreamFailure(f"http_{status}", delta.message)
    return delta


def respond_with_text_calls(
    interaction: Interaction,
    reads: Iterable[bytes],
    policy: TextPolicy,
    template: ResponseTemplate | None = None,
) -> Iterator[Delta]:
    """Yield the deltas of a response, with the text calls that `policy` or `template` recognizes.

    Raises:
        UsageError: the dialect is unknown.
    """
    tools = offered_tools(interaction)
    deltas = _respond(interaction, reads, tools)
    request = read_request(interaction.dialect, interaction.request)
    if request.calls_barred or not tools:
        return deltas
    return read_text_calls(
        deltas,
        tools,
        _described_dialects(policy, request.system),
        seed=_seed(interaction.request.body),
        template=template,
    )


def _described_dialects(policy: TextPolicy, system: str) -> TextPolicy:
    """Return the policy without text dialects that a prompt must describe, unless `system` does."""
    described = _described(policy.dialects, system)
    if described == policy.dialects:
        return policy
    return msgspec.structs.replace(policy, dialects=described)


# The same request is read for each replay of its response.
@lru_cache(_PROMPTS_KEPT)
def _described(dialects: frozenset[str], system: str) -> frozenset[str]:
    return frozenset(
        name for name in dialects if all(word in system for word in TEXT_DIALECTS[name].taught_by)
    )


@lru_cache(_PROMPTS_KEPT)
def _seed(request_body: bytes) -> str:
    """Return a value that depends on the request body, so that it differs between turns."""
    return hashlib.sha256(request_body).hexdigest()[:16]
