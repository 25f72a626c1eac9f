"""The calls of a stream that come in fragments."""


class Calls(dict):
    """The calls by their index in the stream; a value is a list of id, name and arguments."""

    def add(self, index, call_id, name, arguments):
        """Add a fragment; it begins the call if there is none with that index."""
        call = self.setdefault(index, ["", "", ""])
        call[0] = call[0] or call_id or ""
        if name != call[1]:  # some servers repeat it
            call[1] += name or ""
        call[2] += arguments or ""

    def turn(self, text, finish, cut=("length", "content_filter")):
        """Return the turn: nothing of an unfinished answer, and no call that was cut off."""
        calls = list(self.values())
        begun = [name for _, name, arguments in calls if finish in cut and not arguments]
        return {
            "text": text,
            "calls": [call for call in calls if not (finish in cut and not call[2])],
            "rejected": begun,
            "finish": finish,
            "failed": finish is None,
        }
