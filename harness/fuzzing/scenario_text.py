"""A finding -> the text of a scenario file that says what must come out of its cassette.

What the bytes leave open stands in `open`, so that it is not judged.
"""

from collections.abc import Iterator

from harness.fuzzing.found import FuzzFinding
from harness.fuzzing.mutators import MUTATORS
from harness.judging.scenario_text import turn_lines
from harness.wire.scalar import flow

_QUIRKS = {mutator.name: mutator.quirks for mutator in MUTATORS}


def scenario_text(finding: FuzzFinding, cassette: str) -> str:
    """Return the YAML text; `cassette` is the id of its cassette."""
    expected = finding.expectation
    if finding.conversation is not None:
        lines = (f"  {key}: {flow(value)}" for key, value in finding.conversation.items())
        return "\n".join([*_head(finding, cassette), "conversation:", *lines, ""])
    if expected is None:
        raise ValueError("a finding has either an expectation or a conversation")
    return "\n".join([*_head(finding, cassette), "expect:", *turn_lines(expected), ""])


def _head(finding: FuzzFinding, cassette: str) -> Iterator[str]:
    steps = ", ".join(dict.fromkeys(step.name for step in finding.trail))
    after = f" after {steps}" if steps else ""
    yield f"title: {flow(f'Fuzzing: {finding.normalizer} breaks {finding.finding.rule}{after}')}"
    yield f"cassette: {flow(cassette)}"
    quirks = sorted({quirk for step in finding.trail for quirk in _QUIRKS.get(step.name, ())})
    lists = (("quirks", quirks), ("rules", [finding.finding.rule]))
    for key, names in (*lists, ("capabilities", finding.capabilities)):
        if names:
            yield f"{key}: {flow(names)}"
    if finding.text_dialect:
        yield f"text_dialect: {flow(finding.text_dialect)}"
    if finding.policies:
        yield f"policies: {flow(finding.policies)}"
