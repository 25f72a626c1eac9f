"""Define rules, and check turns and conversations by them.

`harness.results.duties` has the title of each rule, and its level for each kind of client.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec

from harness.project import ClientKind
from harness.results.duties import Duty, level_of, load_duties
from harness.results.finding import Came, Finding, lower
from harness.results.outcome import Outcome

Of = Literal["turn", "deltas", "time", "many", "cost"]

_SHOWN_CHARACTERS: Final = 400
_LIKE_NO_VALUE: Final = ("none", "null", "undefined")
# None for all rules.
_CHECKED: Final[ContextVar[frozenset[str] | None]] = ContextVar("_CHECKED", default=None)


class Evidence(Protocol):
    """The interface of the data that rules check: a replay, a conversation, or measured cost."""

    @property
    def stopped(self) -> bool:
        """Whether the client under test raised an exception or exceeded a limit."""

    @property
    def judged(self) -> Container[str]:
        """The fields of the expected result that the rules compare."""

    @property
    def prefix(self) -> str:
        """The text with which the path of each finding starts."""

    @property
    def kind(self) -> ClientKind:
        """The kind that the client under test declares, such as `sdk`."""

    @property
    def form(self) -> Came:
        """Why the format of the stream lowers the level of each rule; "" if it does not."""

    @property
    def unsent(self) -> bool:
        """Whether no server is known to send the stream, so that it convicts no other's client."""


E = TypeVar("E", bound=Evidence)


class Violation(msgspec.Struct, frozen=True):
    """A violation of a rule at one location of a turn or conversation.

    Fields:
        path: the location in the turn or the conversation, such as `calls[1].arguments`.
        expected, actual: the two values.
        offset: offset in the body of the byte that caused the violation; None if not known.
        outcome: the outcome; None for the outcome of the rule.
        came: what the stream contained, if the rule's level depends on it.
        raised: if an exception is the violation, the field `raised` of its replay.
    """

    path: str
    expected: Any
    actual: Any
    offset: int | None = None
    outcome: Outcome | None = None
    came: Came = ""
    raised: str = ""


Check = Callable[[E], Iterator[Violation]]


class Rule(msgspec.Struct, Generic[E], frozen=True):
    """A rule: one requirement for turns, conversations or cost, with the function that checks it.

    Fields:
        id: a stable name.
        outcome: the outcome of a violation.
        check: a function that yields each violation.
        field: the field of the expected result that the rule compares; "" if it needs none. The
            rule is not checked if that field is not judged.
        of: what shows a violation. `turn`: the complete turn; `deltas`: each replay's deltas;
            `time`: the times of the deltas; `many`: the comparison of several replays;
            `cost`: the cost of replays of long streams.
        always: whether the rule also checks clients that raised an exception or exceeded a limit.
        yields_to: ids of rules whose violation causes a violation of this rule. If one of them is
            violated, this rule reports nothing, so that one fault is reported once.
    """

    id: str
    outcome: Outcome
    check: Check[E]
    field: str
    of: Of
    always: bool
    yields_to: frozenset[str]

    @property
    def duty(self) -> Duty:
        """The duty of the rule: its title, its sources and its levels."""
        return load_duties()[self.id]

    @property
    def needs_cuts(self) -> bool:
        """Whether only replays under several chunkings can show a violation."""
        return self.of in ("time", "many")


class RuleMaker(Generic[E]):
    """Makes decorators that turn a checking function into a rule, and stores the rules."""

    def __init__(self) -> None:
        self._rules: list[Rule[E]] = []

    def __call__(  # noqa: PLR0913 - the fields of `Rule`
        self,
        rule_id: str,
        outcome: Outcome,
        *,
        field: str = "",
        of: Of = "turn",
        always: bool = False,
        yields_to: Iterable[str] = (),
    ) -> Callable[[Check[E]], Rule[E]]:
        """Return a decorator that turns a checking function into a rule with these fields."""

        def rule(check: Check[E]) -> Rule[E]:
            made = Rule(rule_id, outcome, check, field, of, always, frozenset(yields_to))
            self._rules.append(made)
            return made

        return rule

    def of_module(self, name: str) -> list[Rule[E]]:
        """Return the rules that the module called `name` defines, in order of definition."""
        return [rule for rule in self._rules if rule.check.__module__ == name]


@contextmanager
def check_only(rules: frozenset[str]) -> Iterator[None]:
    """Limit `findings` to the rules with these ids while the `with` block runs."""
    before = _CHECKED.set(rules)
    try:
        yield
    finally:
        _CHECKED.reset(before)


def findings(rules: Iterable[Rule[E]], evidence: E) -> list[Finding]:
    """Check `evidence` by `rules`; return the findings, without those that another one causes."""
    stopped, judged, checked = evidence.stopped, evidence.judged, _CHECKED.get()
    found = [
        (rule, violation)
        for rule in rules
        if (rule.always or not stopped)
        and (not rule.field or rule.field in judged)
        and (checked is None or rule.id in checked)
        for violation in rule.check(evidence)
    ]
    violated = {rule.id for rule, _ in found}
    return [
        _finding(rule, violation, evidence)
        for rule, violation in found
        if violated.isdisjoint(rule.yields_to)
    ]


def _finding(rule: Rule[E], violation: Violation, evidence: E) -> Finding:
    outcome, came = violation.outcome or rule.outcome, violation.came
    if not came and outcome is not Outcome.SILENT_WRONG:
        came = evidence.form
    finding = Finding(
        rule=rule.id,
        level=level_of(rule.id, evidence.kind, came),
        outcome=outcome,
        path=evidence.prefix + violation.path,
        expected=display_text(violation.expected),
        actual=display_text(violation.actual),
        offset=violation.offset,
        came=came,
        raised=violation.raised,
    )
    return lower(finding) if evidence.unsent else finding


def display_text(value: object) -> str:
    """Return `value` as text, or as JSON if it is not text, cut to a readable length.

    A text that looks like a missing value is quoted: the name "None" is not a missing name.
    """
    text = _json_or_repr(value)
    if isinstance(value, str) and value.lower() not in _LIKE_NO_VALUE:
        text = value
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"


def _json_or_repr(value: object) -> str:
    try:
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # what a client emitted may be anything
        return repr(value)
