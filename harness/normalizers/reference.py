"""`reference`: the dialect's own reader with its default policies, and nothing else.

What the suite itself believes a stream to mean; judged like every other normalizer.
"""

from collections.abc import Iterable, Iterator

from harness.dialects.openai_chat.calls import CallAssembler
from harness.dialects.openai_chat.policy import Policy
from harness.dialects.openai_chat.read import read
from harness.dialects.openai_chat.request import read_request
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.turns.calls import ParseError
from harness.turns.deltas import Delta, Finish, StreamFailure, ToolCallEnd, ToolCallRejected
from harness.wire.framing import sse_frames
from harness.wire.interaction import Interaction

_FIRST_ERROR_STATUS = 400
# Failures that only say that a body is no stream; the status says more.
_VAGUE = frozenset(("bad_event", "empty_stream", "interrupted"))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of one interaction's response."""
    return respond(interaction, reads)


def respond(
    interaction: Interaction,
    reads: Iterable[bytes],
    *,
    calls: CallAssembler | None = None,
    policy: Policy | None = None,
) -> Iterator[Delta]:
    """Read a response with its HTTP status: an error status is never a success."""
    tools = [tool.name for tool in read_request(interaction.request.body).tools]
    deltas = read(sse_frames(reads), tools=tools, policy=policy, calls=calls)
    if interaction.status < _FIRST_ERROR_STATUS:
        return deltas
    return (_with_status(delta, interaction.status) for delta in deltas)


def _with_status(delta: Delta, status: int) -> Delta:
    """Turn a good end into a failure, and every call that might run into one that may not."""
    if isinstance(delta, ToolCallEnd):
        error = ParseError("tool_use", f"the turn failed (HTTP status {status})")
        return ToolCallRejected(delta.index, error)
    if isinstance(delta, Finish):
        return StreamFailure(f"http_{status}", f"HTTP status {status}")
    if isinstance(delta, StreamFailure) and delta.code in _VAGUE:
        return StreamFailure(f"http_{status}", delta.message)
    return delta


normalizer = Normalizer(
    name="reference",
    normalize=normalize,
    capabilities=frozenset(CAPABILITIES),
    summary="the suite's own reader: every catalogued quirk of the dialect, default policies",
    policies={
        "names": "by-tools",
        "arguments": "auto",
        "nameless": "reject",
        "unfinished_event": "use",
        "done_without_finish": "finished",
    },
)
