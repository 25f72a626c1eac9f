"""The chunks of a chat completion in the form of OpenAI's API."""

from harness.repro.drivers.shared.calls import Calls
from harness.repro.drivers.shared.ends import CHAT_WORDS
from harness.repro.drivers.shared.members import member, reasoning_of


def usage_of(chunk):
    """Return the usage in a chunk, or None."""
    return member(chunk, "usage")


class Chunks:
    """The chunks so far of one answer, its calls joined by index.

    The arguments are functions, which return the usage in a chunk and the reasoning in a delta.
    """

    def __init__(self, usage=usage_of, reasoning=reasoning_of):
        self.calls = Calls()
        self.usage_of, self.reasoning_of = usage, reasoning
        self.finish = self.usage = None
        self.refusal = ""

    def take(self, chunk):
        """Yield the events of one chunk."""
        if chunk is None:
            return
        self.usage = self.usage_of(chunk) or self.usage
        for choice in member(chunk, "choices") or ():
            if member(choice, "index") in (0, None):  # some servers leave it out
                self.finish = member(choice, "finish_reason") or self.finish
                delta = member(choice, "delta")
                if delta is not None:
                    yield from self.take_delta(delta)

    def take_delta(self, delta):
        """Yield the events of one delta."""
        yield "reasoning", self.reasoning_of(delta)
        yield "text", member(delta, "content")
        refusal = member(delta, "refusal")
        self.refusal += refusal if isinstance(refusal, str) else ""
        self.calls.add(member(delta, "tool_calls") or ())
        older = member(delta, "function_call")
        name, arguments = member(older, "name"), member(older, "arguments")
        if name or arguments:  # some servers add an empty one
            # It has no id in this API, because agent code needs none.
            self.calls.extend("function_call", "function_call", name, arguments)

    def end(self):
        """Yield the calls and the end."""
        if self.refusal and self.finish != "content_filter":
            yield from self.calls.failed("refusal", self.refusal)
            return
        if self.usage is not None:
            counts = (member(self.usage, f"{kind}_tokens") for kind in ("prompt", "completion"))
            yield "usage", *counts
        if self.finish == "error":
            yield from self.calls.failed("error", "the finish reason is error")
        else:
            yield from self.calls.end(self.finish, CHAT_WORDS)
