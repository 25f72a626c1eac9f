"""The cause of a failure: one text for each bug, the same in every run.

For an exception it is `Type in module:function`, where the function is the deepest one of the
library under test. For any other finding it is `RULE · family`, where the family is the first
quirk of the scenario (of a recording: that its bytes show), else its folder.
"""

from harness.results.finding import Finding
from harness.results.result import Result, area_of


def cause_of(finding: Finding, result: Result) -> str:
    """Return the cause of one finding on the cell of `result`."""
    family = result.quirks[0] if result.quirks else area_of(result.scenario)
    return finding.raised or " · ".join(filter(None, (finding.rule, family)))


def cause_of_cell(result: Result) -> str:
    """Return the cause of the worst finding, which decides the outcome; "" if no cell failed."""
    if not result.outcome.fails or not result.findings or result.findings[0].level != "MUST":
        return ""
    return cause_of(result.findings[0], result)
