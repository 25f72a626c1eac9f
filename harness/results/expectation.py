"""The expected result of one interaction, and its source.

The author of a scenario specifies it. For a cassette without a scenario, the oracle reads it from
the bytes, and ambiguous parts are not judged.
"""

from typing import Any, Final, Literal, get_args

import msgspec

from harness.files.typed import File, Text
from harness.turns.deltas import CallKind, FinishReason, Usage

Field = Literal[
    "text", "reasoning", "calls", "rejected", "finish", "finish_raw", "failure", "usage"
]
ALL_FIELDS: frozenset[Field] = frozenset(get_args(Field))
# Fields whose judged share is counted and shown; how a turn ended is its finish.
COUNTED_FIELDS: Final[tuple[Field, ...]] = ("calls", "text", "reasoning", "finish")
# The reason of the fields that the author of a scenario does not specify.
UNSPECIFIED: Final = "not specified by the scenario"


class ExpectedCall(msgspec.Struct, frozen=True):
    """A call that must be emitted.

    Fields:
        name: the exact name.
        arguments: the JSON value; compared by value, numbers and key order exactly.
        id: the exact id; None if the provider sent none, and then any unique id is correct.
        arguments_text: the arguments as in the bytes, compared and shown instead of
            `arguments`, whose floats are doubles; "" if only the value is known. For a custom
            tool it is its input, for an action the JSON of its content.
    """

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    arguments_text: str = ""
    kind: CallKind = "function"

    @property
    def json_text(self) -> str:
        """The arguments as JSON text, as in the bytes if known; the input of a custom tool."""
        if self.arguments_text or self.kind == "custom":
            return self.arguments_text
        return msgspec.json.encode(self.arguments).decode()


class ExpectedRejection(File, frozen=True):
    """A call that must be reported as a parse error; `snippet` is a part of its raw text.

    Fields:
        name: the exact name; "" if the call has none, None for any.
        id: the exact id; None if the provider sent none, or if it is not judged.
    """

    name: str | None = None
    snippet: str = ""
    id: Text | None = None


class Expectation(msgspec.Struct, frozen=True):
    """The expected turn; only the fields named in `judged` are compared.

    Fields:
        failure: code of the failure; None if the turn must not fail; "*" for any code.
        calls_at_most: if `calls` is not judged, any of them may be missing, but no other call may
            be emitted.
        failure_says: a part of the provider's message that must be preserved.
        may_fail: the turn may fail instead, as `failed` describes it.
        has_text_calls: the text may contain calls, so a client may hold back their beginning.
        loose_space: text and reasoning are compared as `spaced` returns them, because nothing
            specifies whether the white space around a call in the text belongs to the text.
        decisions: as in `OracleReading`; empty for a scenario.
        alternatives: other turns that are as correct; a result is compared with the closest one.
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
    has_text_calls: bool = False
    loose_space: bool = False
    calls_at_most: bool = False
    may_fail: bool = False
    decisions: dict[str, str] = {}
    alternatives: tuple["Expectation", ...] = ()

    @property
    def readings(self) -> "tuple[Expectation, ...]":
        """This turn and its alternatives."""
        return (self, *self.alternatives)

    def failed(self) -> "Expectation":
        """Return the expected turn if the turn fails.

        No call is executed, and any of its calls may be reported as rejected, but no other.
        """
        judged: set[Field] = {"calls", "failure"}
        if {"calls", "rejected"} <= self.judged:
            judged.add("rejected")
        names = [*(it.name for it in self.rejected), *(it.name for it in self.calls)]
        return Expectation(
            self.source,
            rejected=tuple(map(ExpectedRejection, names)),
            failure="*",
            judged=frozenset(judged),
        )

    @property
    def ids(self) -> frozenset[str | None]:
        """The ids of all calls; None represents one that the provider did not send."""
        return frozenset([it.id for it in self.calls] + [it.id for it in self.rejected])

    def spaced(self, text: str) -> str:
        """Return `text` in the form for comparison: with `loose_space`, white space is unified."""
        return " ".join(text.split()) if self.loose_space else text
