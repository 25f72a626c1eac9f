"""History -> the request for the next turn, and its response -> the turn; one file per API."""

from harness.conversation.asking.table import BODIES, next_request, read_turn

__all__ = ["BODIES", "next_request", "read_turn"]
