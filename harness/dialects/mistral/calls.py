"""Entries of Mistral's `tool_calls` lists -> calls.

The contract sends each call complete, in one entry; index, id and type may be missing, index may
be 0 in all of them, and the id may be the text "null". Some models send fragments: an entry
without a name continues a call. Nothing is ever appended to a call that its entry does not
identify.
Source: https://docs.mistral.ai/capabilities/function_calling/
"""

from typing import ClassVar

from harness.dialects.kit.listed_calls import ListedCall, ListedCalls


class MistralCalls(ListedCalls):
    """All calls of one choice."""

    NO_ID: ClassVar = frozenset(("", "null"))
    FUNCTION_TYPES: ClassVar = ("function", None, "", "null")

    def known(self, index: object, call_id: object, name: object) -> ListedCall | None:
        """Return the call at the index of an entry without name and id."""
        if type(index) is int and not name and (not call_id or call_id == "null"):
            return self.by_index.get(index)
        return None

    def without_index(self, place: int) -> ListedCall | None:  # noqa: ARG002 - the last one counts
        """Return the last call."""
        return self.calls[-1] if self.calls else None

    def is_other(
        self, call: ListedCall, index: int | None, call_id: str, name: str, arguments: str
    ) -> bool:
        """Whether an entry opens another call: the same name again may begin new arguments."""
        if call_id and (call.id or index is None):
            return True
        begins = call.end == "}" and arguments.lstrip()[:1] == "{"
        return bool(name and call.name and (name != call.name or begins))

    def append(self, call: ListedCall, arguments: str) -> None:
        """Append a fragment."""
        if arguments:
            call.end = arguments.rstrip()[-1:] or call.end
            self.turn.append(call.key, arguments)
