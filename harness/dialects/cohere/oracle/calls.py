"""Collect Cohere's calls from their fragments, by the contract of both versions.

The integer `index` of an event is the key. The start of a call has its id and name and no
arguments, and fragments are appended. If a fragment does not identify its call, the calls are
ambiguous.
"""

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.reading import OpenCall, OpenCalls
from harness.dialects.kit.oracle.values import is_index, read_arguments, same_object, text_or_empty


class _Call(OpenCall):
    """Collects the fragments of the call at one index."""

    ended = False


class CallTable(OpenCalls[int, _Call]):
    """Collects the calls of one response."""

    def piece(self, index: object, call: object, offset: int, *, opens: bool) -> None:
        """Process the call object of one event of version 2, or of a complete response."""
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            self._unclear(offset)
            return
        if opens and call.get("type", "function") != "function":
            self._unclear(offset)
        piece = (call.get("id"), function.get("name"), function.get("arguments"))
        self.add(index, *piece, offset, opens=opens)

    def add(  # noqa: PLR0913 - the members of one piece, in both versions
        self,
        index: object,
        call_id: object,
        name: object,
        fragment: object,
        offset: int,
        *,
        opens: bool,
    ) -> None:
        """Process one fragment of the call at `index`; `opens` says that it begins the call."""
        texts = (call_id, name, fragment)
        if not all(isinstance(text, str | None) for text in texts):
            self._notes.ambiguous("ARGS-OBJECT", offset, calls=True)
            return
        if not is_index(index):
            self._notes.ambiguous("DELTA-INDEX-MISSING", offset, calls=True)
            return
        found = self._calls.get(index)
        if found is not None and opens and found.is_unopened:
            self._notes.harmless("DELTA-NAME-LATE", offset)
            found.id, found.name = text_or_empty(call_id), text_or_empty(name)
        elif found is not None and (opens or call_id or name or found.ended):
            self._notes.ambiguous("DELTA-INDEX-ALL-ZERO", offset, calls=True)
        if found is None:
            found = _Call(offset, text_or_empty(call_id), text_or_empty(name))
            self._calls[index] = found
        found.fragments.append(text_or_empty(fragment))

    def end(self, index: object) -> None:
        """Process the end of a call. The end of the turn follows it in any case."""
        if isinstance(index, int) and index in self._calls:
            self._calls[index].ended = True

    def known(self, index: object) -> bool:
        """Return whether a fragment of the call at `index` came."""
        return index in self._calls if isinstance(index, int) else False

    def compare_or_take(self, listed: list[tuple[Json, str]], offset: int) -> None:
        """Process the list of all calls of version 1, each with the text of its parameters.

        If fragments came before, the list must be equal to them.
        """
        came = bool(self._calls)
        for place, (call, text) in enumerate(listed):
            name = call.get("name")
            if not isinstance(name, str) or not isinstance(call.get("parameters"), dict):
                self._unclear(offset)
            elif not came:
                self.add(place, call.get("id"), name, text, offset, opens=True)
            else:
                self._compare(place, name, text, offset)
        if came and len(listed) != len(self._calls):
            self._differs(offset)

    def _compare(self, place: int, name: str, text: str, offset: int) -> None:
        call = self._calls.get(place)
        if call is None or call.name != name:
            self._differs(offset)
        elif not call.arguments:
            call.fragments.append(text)
        elif not read_arguments(text).certain:
            self._differs(offset)
        elif not same_object(call.arguments, text):
            answer = self._notes.policy_choice(
                "COH-TOOL-EVENTS", offset, "reject", "list", "pieces"
            )
            if answer == "reject":
                call.rejected = "its pieces and the list at the end have different parameters"
            if answer == "list":
                call.fragments = [text]

    def _differs(self, offset: int) -> None:
        self._notes.ambiguous("COH-TOOL-EVENTS", offset, calls=True)
