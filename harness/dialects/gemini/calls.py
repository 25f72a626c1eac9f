"""Turn the `functionCall` parts of a stream into calls, whether complete or in several parts.

A call is one part, unless it has `willContinue`. Then the next parts without a name belong to it,
up to the first one without `willContinue`. The API's id is optional, so calls are distinguished by
their position in the stream. Source: Gemini API and Vertex AI API references, `FunctionCall`.
"""

from typing import Any

from harness.dialects.gemini.partial_args import PartialArguments, member
from harness.dialects.kit.assembly import Assembly
from harness.turns.exact_json import write_exactly


class _Growing:
    """Stores a call whose parts are still arriving."""

    __slots__ = ("complete", "id", "key", "parts")

    def __init__(self, key: int, call_id: object) -> None:
        self.key = key
        self.id = call_id
        self.complete = ""  # arguments that came as one object
        self.parts: PartialArguments | None = None


class GeminiCalls:
    """Collects the calls of one response, and adds their deltas to `turn`."""

    def __init__(self, turn: Assembly) -> None:
        self._turn = turn
        self._growing: _Growing | None = None
        self._complete_calls: dict[str, tuple[object, str]] = {}  # id -> name and arguments

    def take(self, call: object, signature: object = None) -> None:
        """Process one `functionCall`, with the signature of its part."""
        if not isinstance(call, dict):
            self._turn.reject(len(self._turn), "its functionCall is not an object")
            return
        args = call.get("args")
        complete = "" if args is None else args if isinstance(args, str) else write_exactly(args)
        growing = self._growing
        if growing is None or not _continues(call, growing):
            growing = self._begin(call, complete)
        if growing is not None:
            self._turn.seal_call(growing.key, "thoughtSignature", signature)
            self._grow(growing, call, complete)

    def close(self) -> None:
        """End the calls that are still arriving, because the stream or the turn ended."""
        growing = self._growing
        if growing is not None:
            self._end(growing)
            self._turn.reject(growing.key, "its arguments were still to be continued")

    def _begin(self, call: dict[str, Any], complete: str) -> _Growing | None:
        """Begin a call; return None if the part has no name, or repeats a call."""
        turn = self._turn
        call_id, name = call.get("id"), call.get("name")
        # An empty part ends a call; if that has ended already, it is ignored.
        if not any(call.values()) and len(turn):
            return None
        if call_id and isinstance(call_id, str):
            content = (name, complete)
            # A call may come again, without its signature (quirk GEM-SIGNATURE-OVERWRITTEN).
            if self._complete_calls.get(call_id) == content:
                return None
            self._complete_calls.setdefault(call_id, content)
        self.close()
        key = len(turn)
        turn.open(key, call_id, name)
        self._growing = _Growing(key, call_id)
        return self._growing

    def _grow(self, growing: _Growing, call: dict[str, Any], complete: str) -> None:
        """Process the content of one part; the last part ends the call."""
        pieces = member(call, "partialArgs")
        more = bool(member(call, "willContinue"))
        # An empty `args` next to parts is not a value (quirk GEM-PARTIAL-ARGS).
        if complete and (complete != "{}" or not (pieces or more)):
            if growing.complete:
                self._turn.reject(growing.key, "its arguments came twice")
            growing.complete = growing.complete or complete
        if pieces and growing.parts is None:
            growing.parts = PartialArguments()
        if growing.parts is not None:
            for piece in pieces if isinstance(pieces, list) else ():
                growing.parts.add(piece)
        if not more:
            self._end(growing)

    def _end(self, growing: _Growing) -> None:
        """Emit the arguments of the call, or reject it with the reason why it is unusable."""
        turn, parts = self._turn, growing.parts
        self._growing = None
        if parts is None:
            turn.append(growing.key, growing.complete)
            return
        parts.close()
        turn.append(growing.key, parts.text())
        if growing.complete:
            turn.reject(growing.key, "its arguments came whole and in parts")
        if parts.fault:
            turn.reject(growing.key, parts.fault)


def _continues(call: dict[str, Any], growing: _Growing) -> bool:
    """Return whether a part belongs to the call that is still arriving."""
    call_id = call.get("id")
    if call.get("name"):
        return bool(call_id) and call_id == growing.id
    return not call_id or not growing.id or call_id == growing.id
