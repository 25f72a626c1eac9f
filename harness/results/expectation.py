"""Define the expected result of one interaction.

The author of a scenario specifies it. For a cassette without a scenario, the oracle derives it
from the bytes, and the rules do not judge ambiguous parts.
"""

from typing import Any, Final, Literal, get_args

import msgspec

from harness.files.typed import File, Text
from harness.results.scenario_evidence import ScenarioEvidence
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
    """A call that the client must emit.

    Fields:
        name: the exact name.
        arguments: the JSON value. Rules compare its numbers and its order of keys exactly.
        id: the exact id; None if the provider sent none. Any unique id is then correct.
        arguments_text: the arguments as in the bytes; "" if only the value is known. Rules and
            reports use the text instead of `arguments`, whose floats are doubles. For a custom
            tool it is the input, for an action the JSON of the content.
        kind: whether the call is of a function, a custom tool, or an action of the API.
        namespace: the exact namespace of the tool; "" if it has none.
    """

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    arguments_text: str = ""
    kind: CallKind = "function"
    namespace: str = ""

    @property
    def json_text(self) -> str:
        """The arguments as JSON text, as in the bytes if known; a custom tool's input unchanged."""
        if self.arguments_text or self.kind == "custom":
            return self.arguments_text
        return msgspec.json.encode(self.arguments).decode()


class ExpectedRejection(File, frozen=True):
    """A call that the client must report as a parse error instead of emitting it.

    Fields:
        name: the exact name; "" if the call has none, None if any name is correct.
        snippet: text that the reported raw text of the call must contain.
        id: the exact id; None if the provider sent none, or if any id is correct.
    """

    name: str | None = None
    snippet: str = ""
    id: Text | None = None


class Expectation(msgspec.Struct, frozen=True):
    """The expected turn. Rules compare only the fields that `judged` names.

    Fields:
        failure: code of the failure; None if the turn must not fail; "*" for any code.
        calls_at_most: if `calls` is not judged, whether the client may emit no other calls than
            `calls`. It may omit some.
        failure_says: a part of the provider's message that the client must preserve.
        may_fail: whether the turn may fail instead, as `failed` describes.
        has_text_calls: whether the text may contain calls, so that a client may hold back text.
        loose_space: whether rules compare text and reasoning as `spaced` returns them. They do if
            nothing specifies whether white space around a call belongs to the text.
        decisions: as in `OracleReading`; empty for a scenario.
        alternatives: other correct turns. Rules compare a turn with the closest one.
        alternatives: other turns that are as correct; a result is compared with the closest one.
        evidence: what shows that a server sends this turn; None for that of the scenario.
        unsaid: fields that are not judged because a gateway's front cannot say them -> the reason.
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
    evidence: ScenarioEvidence | None = None
    unsaid: dict[Field, str] = {}

    @property
    def readings(self) -> "tuple[Expectation, ...]":
        """All correct turns: this one, and then the alternatives."""
        return (self, *self.alternatives)

    def failed(self) -> "Expectation":
        """Return the expected result if the turn fails.

        The client must emit no call. It may report any of the expected calls as a parse error.
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
        """The expected ids of all calls; None stands for an id that the provider did not send."""
        return frozenset([it.id for it in self.calls] + [it.id for it in self.rejected])

    def spaced(self, text: str) -> str:
        """Return `text` for comparison; with `loose_space`, each run of white space as a space."""
        return " ".join(text.split()) if self.loose_space else text
