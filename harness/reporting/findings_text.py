"""Findings -> lines for a terminal, the same wherever they are told; nothing hostile survives."""

from collections.abc import Iterable, Iterator

from harness.judging.results import Finding
from harness.reporting.visible import marked, plain


def findings_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield three indented lines for each finding: the rule, what was expected, what came."""
    for finding in findings:
        yield f"  {finding.level} {finding.rule} at {marked(finding.path)}"
        yield f"    expected {plain(finding.expected)}"
        yield f"    actual   {plain(finding.actual)}"
