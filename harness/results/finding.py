"""Define a finding: one violation of a rule, with its level and what the stream contained."""

from typing import Final, Literal, get_args

import msgspec

from harness.results.outcome import Outcome

Level = Literal["MUST", "SHOULD", "MAY"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
# What the stream contained where a rule is violated, if a level depends on it:
# - as-documented: the client reads a member as the API documents it, and the server does not.
# - as-sent: the stream contains what the client emitted.
# - duplicate-keys: an object of the arguments has one key twice.
# - json-extension: arguments that are not JSON, but that many JSON parsers read without a guess.
# - lone-surrogate: an escape of half a surrogate pair.
# - misfit: arguments that do not fit the parameters of their tool.
# - unknown-value: a finish value that the API does not document.
# - undocumented: a form that the API or the framing does not have, and the client said so: it
#   reported a failure, or as an SDK raised an exception, or it rejected the call in question.
# - unsent: a stream that no server is known to send: the evidence of the scenario is `own`, and the
#   client is not of this repository.
# - failure: a turn that must fail or may, or that has an unusable call; or a filter stopped it, or
#   its limit before any output.
# - no-answer: a success status, and a body without any event of the API.
# - own-design: what a scenario of this repository's agents specifies and no API demands.
# - no-count: the client reported no numbers of tokens.
# - own-count: the client declares that it counts tokens itself.
# - null-arguments: null instead of an object for the arguments of a call.
# - number-form: the same number in another notation, such as 1 for 1.0.
Came = Literal[
    "",
    "as-documented",
    "as-sent",
    "duplicate-keys",
    "json-extension",
    "lone-surrogate",
    "misfit",
    "no-answer",
    "no-count",
    "not-required",
    "own-design",
    "own-count",
    "undocumented",
    "unknown-value",
    "unsent",
    "failure",
    "null-arguments",
    "number-form",
    "refusal",
]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One violation of a rule in one replay.

    Fields:
        rule: id of the rule.
        level: the rule's level for the kind of the client. MUST findings decide the outcome, SHOULD
            findings are shown and counted, and MAY findings are allowed and only shown with their
            cell.
        outcome: the kind of failure, such as a lost call.
        path: the location of the violation in the turn, such as `turns[0].calls[1].arguments`.
        expected, actual: the two values as text, cut to a readable length.
        offset: offset in the body of the byte that caused the violation; None if it is not known.
        came: what the stream contained, if the level depends on that; else "".
        raised: if an exception violates the rule, its type and the function that raised it, as
            `harness.judging.raised` writes them; else "".
    """

    rule: str
    level: Level
    outcome: Outcome
    path: str
    expected: str
    actual: str
    offset: int | None = None
    came: Came = ""
    raised: str = ""


def lower(finding: Finding) -> Finding:
    """Return a finding on a stream that no server is known to send: its level is at most SHOULD."""
    if finding.level != "MUST":
        return finding
    return msgspec.structs.replace(finding, level="SHOULD", came="unsent")
