"""What must come out of one interaction, and who says so.

A scenario says it in words of its author; for an unlabelled cassette the strict reading of
the same bytes says it, and stays silent about what the bytes leave open.
"""

from typing import Any, Literal

import msgspec

from harness.turns.deltas import CallKind, FinishReason, Usage

Field = Literal[
    "text", "reasoning", "calls", "rejected", "finish", "finish_raw", "failure", "usage"
]
ALL_FIELDS: frozenset[Field] = frozenset(
    ("text", "reasoning", "calls", "rejected", "finish", "finish_raw", "failure", "usage")
)


class ExpectedCall(msgspec.Struct, frozen=True):
    """A call that must come out.

    Fields:
        name: exact.
        arguments: the JSON value; compared by value, numbers and key order exactly.
        id: exact; None where the provider sent none, so any unique id will do.
        arguments_text: the arguments as the bytes spell them, compared and shown in place of
            `arguments`, whose floats are doubles; "" where only the value is known. Of a
            custom tool, its input.
    """

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    arguments_text: str = ""
    kind: CallKind = "function"

    @property
    def json_text(self) -> str:
        """The arguments as JSON text, as in the bytes if they are known; the input, if custom."""
        if self.arguments_text or self.kind == "custom":
            return self.arguments_text
        return msgspec.json.encode(self.arguments).decode()


class ExpectedRejection(msgspec.Struct, frozen=True):
    """A call that must be reported as a parse_error and not be executed.

    Fields:
        name: exact; "" for any.
        snippet: a part of its raw text.
        id: exact; None where the provider sent none, or it is left open.
    """

    name: str = ""
    snippet: str = ""
    id: str | None = None


class Expectation(msgspec.Struct, frozen=True):
    """The turn that must come out; only the fields named in `judged` are compared.

    Fields:
        failure: code of the failure; None where the turn must not fail; "*" for any code.
        calls_at_most: where `calls` is not judged, any of them may be missing, but none may come
            out beside them.
        failure_says: a part of the provider's message that must be kept.
        loose_space: text and reasoning are compared as `spaced` has them: where calls are cut
            out of a text, nothing says whose the white space around them is.
    """

    source: Literal["scenario", "oracle"]
    text: str = ""
    reasoning: str = ""
    calls: tuple[ExpectedCall, ...] = ()
    rejected: tuple[ExpectedRejection, ...] = ()
    finish: FinishReason | None = None
    finish_raw: str = ""
    failure: str | None = None
    failure_says: str = ""
    usage: Usage | None = None
    judged: frozenset[Field] = ALL_FIELDS
    loose_space: bool = False
    calls_at_most: bool = False

    def spaced(self, text: str) -> str:
        """Return `text` as it is compared: with `loose_space`, runs of white space are one."""
        return " ".join(text.split()) if self.loose_space else text
