"""Rules, and the engine that checks turns and conversations against them.

`harness.results.duties` has the title and the level of each rule, which depends on the kind of the
client.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec

from harness.project import ClientKind
from harness.results.duties import Duty, level_of, load_duties
from harness.results.finding import Came, Finding
from harness.results.outcome import Outcome

Of = Literal["turn", "deltas", "time", "many", "cost"]

_SHOWN_CHARACTERS: Final = 400
_LIKE_NO_VALUE: Final = ("none", "null", "undefined")
# None for all rules.
_CHECKED: Final[ContextVar[frozenset[str] | None]] = ContextVar("_CHECKED", default=None)


class Evidence(Protocol):
    """The data that rules check: a replay of a turn, a conversation, or the cost of a client."""

    @property
    def stopped(self) -> bool:
        """Whether the client under test raised an exception or exceeded a limit."""

    @property
    def judged(self) -> Container[str]:
        """The fields of the expected result that are compared."""

    @property
    def prefix(self) -> str:
        """The text with which the path of each finding starts."""

    @property
    def kind(self) -> ClientKind:
        """The kind of client that the client under test declares to be."""

    @property
    def form(self) -> Came:
        """Whether the form of the stream lowers the level of each rule."""


E = TypeVar("E", bound=Evidence)


class Violation(msgspec.Struct, frozen=True):
    """One place where a client violates a rule.

    Fields:
        path: inside the turn or the conversation, such as `calls[1].arguments`.
        outcome: the outcome; None for the rule's own.
        came: what the stream contained, if the rule's level depends on it.
        raised: `raised` of the replay, if its exception is the violation.
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
    """One requirement for turns, conversations or cost.

    Fields:
        id: a stable name.
        outcome: the kind of failure that a violation is.
        check: yields each violation.
        field: the field of the expected result that the rule compares. The rule is not checked if
            that field is not judged. "" if it needs none.
        of: what shows a violation. `turn`: the folded turn; `deltas`: each replay's deltas;
            `time`: the times of the deltas; `many`: the comparison of several replays;
            `cost`: the cost of replays of long streams.
        always: check also clients that raised an exception or exceeded a limit.
        yields_to: ids of rules whose violation causes one of this rule, so that one fault is
            reported once.
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
        """Its title, its sources and its levels."""
        return load_duties()[self.id]

    @property
    def needs_cuts(self) -> bool:
        """Whether replays of unsplit bodies cannot show a violation."""
        return self.of in ("time", "many")


class RuleMaker(Generic[E]):
    """A decorator that makes a rule of the function that checks it, and stores the rule."""

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
        """Return a decorator that turns a check into a rule."""

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
    """Check only the rules whose ids are in `rules`, inside the block."""
    before = _CHECKED.set(rules)
    try:
        yield
    finally:
        _CHECKED.reset(before)


def findings(rules: Iterable[Rule[E]], evidence: E) -> list[Finding]:
    """Return the violations of `rules`, without those that another violation causes."""
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
    form = evidence.form
    if not came and (outcome is not Outcome.SILENT_WRONG or form == "unsent"):
        came = form
    return Finding(
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
