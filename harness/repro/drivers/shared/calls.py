"""The calls of a stream that come in fragments."""

import json

from harness.repro.drivers.shared.members import member, text_of


class Calls:
    """The calls of one answer, joined from fragments, for careful agent code.

    With `by_id` an id that differs, or a second entry in one chunk, begins another call, as in
    Mistral's API. Else only the index identifies a call.
    """

    def __init__(self, *, by_id=False):
        self.by_id = by_id
        # The package mistralai gives an id that did not arrive as this text.
        self.no_id = (None, "", "null") if by_id else (None, "")
        self.calls = []
        self.by_index = {}

    def add(self, entries):
        """Add the member `tool_calls` of one chunk."""
        in_chunk = set()
        for entry in entries:
            index, call_id = member(entry, "index"), member(entry, "id")
            has_id, call = call_id not in self.no_id, self.by_index.get(index)
            is_other = call and call["id"] not in ("", call_id) if has_id else index in in_chunk
            if self.by_id and is_other:
                self.begin(index)
            in_chunk.add(index)
            function = member(entry, "function")
            self.extend(index, call_id, member(function, "name"), member(function, "arguments"))

    def begin(self, index):
        """Begin a call, which the next fragments with that index extend."""
        self.by_index[index] = {"id": "", "name": "", "pieces": []}
        self.calls.append(self.by_index[index])

    def extend(self, index, call_id, name, arguments):
        """Add a fragment, and begin the call if there is none with that index."""
        if index not in self.by_index:
            self.begin(index)
        call = self.by_index[index]
        call["id"] = call["id"] or ("" if call_id in self.no_id else text_of(call_id))
        if name != call["name"]:  # some servers repeat it
            call["name"] += text_of(name)
        is_text = arguments is None or isinstance(arguments, str)
        call["pieces"].append((arguments or "") if is_text else json.dumps(arguments))

    def end(self, word, meanings):
        """Yield the complete calls of a finished answer, and its end."""
        if word is None:
            yield from self.failed("interrupted", "no chunk has a finish reason")
            return
        meaning = meanings.get(str(word), "other")
        is_cut = meaning in ("length", "content_filter")
        for call in self.calls:
            found = call["id"], call["name"], "".join(call["pieces"])
            if not call["name"]:
                yield "rejected", *found, "the call has no name"
            elif is_cut and not found[2].strip():
                yield "rejected", *found, "the provider stopped before the arguments began"
            else:
                yield "call", *found
        # The loop continues if there are calls, whatever word the provider has for the end.
        continues = meaning in ("stop", "other")
        yield "finish", word, meaning, "tool_calls" if continues else meaning

    def failed(self, code, message=""):
        """Yield the calls that began, which agent code does not execute, and the failure."""
        for call in self.calls:
            arguments = "".join(call["pieces"])
            yield "rejected", call["id"], call["name"], arguments, message or code
        yield "failure", code, message
