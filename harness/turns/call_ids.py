"""Ids of the calls of one turn: kept as given, unique, and made up where none came.

A made-up id depends only on what the stream says, so that every chunking gives the same.
"""

import hashlib

# As much of the response's id as tells it from others; each call hashes it anew.
_SEED_CHARACTERS = 200


class CallIds:
    """The ids that were given out in one turn."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, given: str, seed: str, position: int, name: str) -> str:
        """Return the id for a call.

        Args:
            given: by the provider; "" where it gave none.
            seed: what tells this response from others, such as its id.
            position: of the call in its turn.
            name: of the function.
        """
        call_id = given or _made_up(f"{seed[:_SEED_CHARACTERS]}/{position}/{name}")
        while call_id in self._taken:
            call_id = f"{call_id}-{position}"
        self._taken.add(call_id)
        return call_id


def _made_up(text: str) -> str:
    return "call_" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
