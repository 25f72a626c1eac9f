"""Explain a finding: what the rule requires, its source, and the effect on an agent.

An explanation also names clients that conform. Rules that this harness does not know, such as rules
of a run of another version, have no explanation.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from harness.project import ClientKind
from harness.reporting.visible import plain
from harness.results.catalogue import Quirk
from harness.results.duties import load_duties
from harness.results.finding import Came, Finding, Level
from harness.results.result import Result


class Source(msgspec.Struct, frozen=True):
    """A source of a rule: a specification, an API reference, an issue or a quirk.

    Fields:
        name: the id of a quirk, or else the address.
        address: for a quirk, its first reference; "" if the quirk is not known.
    """

    name: str
    address: str


class Explanation(msgspec.Struct, frozen=True):
    """The explanation of a finding.

    Fields:
        rule: the id of the rule.
        level: the rule's level for clients of `kind`, if the stream contained `came`.
        duty: what the rule requires.
        why: the effect of a violation on an agent.
        because: why this level differs from the default of the rule; "" if it does not.
        right: names of other clients that conform in the same scenario.
    """

    rule: str
    level: Level
    kind: ClientKind
    came: Came
    duty: str
    why: str
    because: str
    source: tuple[Source, ...]
    right: tuple[str, ...]

    @property
    def level_text(self) -> str:
        """The level with the kind of client, and why it differs from the default level."""
        return f"{self.level} for the kind {self.kind}. {self.because}".rstrip()


class ExplainedFinding(msgspec.Struct, frozen=True):
    """A finding with its explanation, which only the first finding of each rule has."""

    finding: Finding
    explanation: Explanation | None


def explain_findings(
    result: Result,
    kind: ClientKind,
    others: Iterable[Result] = (),
    quirks: Mapping[str, Quirk] | None = None,
) -> tuple[ExplainedFinding, ...]:
    """Return the findings of `result` with their explanations.

    Args:
        result: the result of one cell.
        kind: the kind of the client.
        others: results of other clients in the same scenario.
        quirks: id -> quirk of the catalogue, for references.
    """
    right = [it for it in others if it.outcome.conforms and it.normalizer != result.normalizer]
    explained: set[tuple[str, Came]] = set()
    found: list[ExplainedFinding] = []
    for finding in result.findings:
        key = finding.rule, finding.came
        known = None if key in explained else explain_finding(finding, kind, right, quirks or {})
        found.append(ExplainedFinding(finding, known))
        explained.add(key)
    return tuple(found)


def explain_finding(
    finding: Finding, kind: ClientKind, right: Iterable[Result], quirks: Mapping[str, Quirk]
) -> Explanation | None:
    """Return the explanation of `finding`; None if this harness does not know the rule.

    Args:
        finding: a finding on a client.
        kind: the kind of the client.
        right: results of conforming clients in the same scenario.
        quirks: id -> quirk of the catalogue, for references.
    """
    duty = load_duties().get(finding.rule)
    if duty is None:
        return None
    ruling = duty.ruling(kind, finding.came)
    return Explanation(
        rule=finding.rule,
        level=finding.level,
        kind=kind,
        came=finding.came,
        duty=duty.duty,
        why=duty.why,
        because=ruling.because,
        source=tuple(find_source(each, quirks) for each in ruling.source),
        right=tuple(
            each.normalizer
            for each in right
            if all(other.rule != finding.rule for other in each.findings)
        ),
    )


def find_source(name: str, quirks: Mapping[str, Quirk]) -> Source:
    """Return the source called `name`, an address or the id of a quirk in `quirks`."""
    if name.startswith("https://"):
        return Source(name, name)
    quirk = quirks.get(name)
    return Source(name, quirk.references[0] if quirk and quirk.references else "")


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """Yield the indented lines of one explanation for a terminal."""
    yield f"    duty     {explanation.duty}"
    yield f"    level    {explanation.level_text}"
    yield f"    why      {explanation.why}"
    for source in explanation.source:
        more = f" ({source.address})" if source.address not in ("", source.name) else ""
        yield f"    source   {source.name}{more}"
    names = ", ".join(explanation.right) or "none of the clients that were judged"
    yield f"    done by  {plain(names)}"
