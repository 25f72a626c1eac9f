"""Puts the client under test: what it returns, as the deltas that `harness` judges."""

from client import ServerError, TruncatedError, read_completion

from harness.normalizers import sdk


def normalize(_interaction, reads):
    """Yield the deltas of one response."""
    try:
        yield from sdk.chat_deltas(read_completion(reads))
    except (ServerError, TruncatedError) as problem:
        yield sdk.failure_delta(problem)
