"""History -> the request for the next turn, and its response -> the turn; one file per API."""

from harness.conversation.asking.table import BODIES, read_turn, request_of

__all__ = ["BODIES", "read_turn", "request_of"]
