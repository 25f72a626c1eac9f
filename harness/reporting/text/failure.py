"""Write one failure for a terminal and pytest, with all that a user needs to fix it.

It contains the title of the scenario, its evidence (who sends these bytes), its quirks, each
violated rule as a sentence, the bytes at the first divergence, the expected and the actual value,
the traceback of a crash, and the output of the client.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from harness.reporting.charts.lanes import deciding_offset, divergence_offset, frame_around
from harness.reporting.text.cell import output_lines, value_text
from harness.reporting.visible import marked, plain
from harness.results.case import Case
from harness.results.catalogue import Quirk
from harness.results.duties import load_duties
from harness.results.finding import Finding
from harness.results.result import Result
from harness.results.run import AnyCase

_MOST_FINDINGS: Final = 5
_MOST_QUIRKS: Final = 2
_BYTES: Final = 300
_OUTPUT_LINES: Final = 20
# The expected value of a rule that an exception violates; the traceback says more.
_NO_EXCEPTION: Final = "no exception"


def failure_lines(  # noqa: PLR0913 - what a run knows of one cell, by keyword
    result: Result,
    *,
    findings: Iterable[Finding],
    case: AnyCase | None,
    output: str,
    command: str,
    quirks: Mapping[str, Quirk],
    repro: str = "",
) -> Iterator[str]:
    """Yield the lines of one failure, without a heading.

    Args:
        result: the result of the cell.
        findings: the findings to show, the worst first.
        case: the bytes and deltas of the cell; None if the run has none.
        output: the output of the client.
        command: the command that shows the cell.
        quirks: id -> quirk of the catalogue.
        repro: the command that writes a script for the library's maintainers; "" for none.
    """
    shown = tuple(findings)
    yield f"  scenario  {plain(result.title)}"
    evidence = result.evidence_of(shown[0]) if shown else result.evidence
    yield from (f"  evidence  {plain(evidence.text)}",) if evidence else ()
    yield from _quirk_lines(result, quirks)
    for finding in shown[:_MOST_FINDINGS]:
        yield from _finding_lines(finding)
    if len(shown) > _MOST_FINDINGS:
        yield f"            and {len(shown) - _MOST_FINDINGS} more violated rules"
    if isinstance(case, Case):
        yield from _byte_lines(case, shown)
        yield from _crossing_lines(case)
    if case is not None and case.error:
        yield f"  raised    {plain(case.error)}"
        yield from (f"            {plain(line)}" for line in _trace_of(case).splitlines())
    yield from _last_lines(output)
    yield f"  see       {marked(command)}"
    yield from (f"  script    {marked(repro)}",) if repro else ()


def _quirk_lines(result: Result, quirks: Mapping[str, Quirk]) -> Iterator[str]:
    for name in result.quirks[:_MOST_QUIRKS]:
        quirk = quirks.get(name)
        yield f"  quirk     {plain(name)}" + (f": {plain(quirk.title)}" if quirk else "")
        if quirk and quirk.references and result.evidence is None:
            yield f"            {plain(quirk.references[0])}"


def _finding_lines(finding: Finding) -> Iterator[str]:
    duty = load_duties().get(finding.rule)
    yield f"  rule      {plain(duty.duty) if duty else finding.rule}"
    yield f"            {finding.level} {finding.rule} at {marked(finding.path)}"
    if finding.expected != _NO_EXCEPTION:
        yield f"  expected  {value_text(finding.expected)}"
    if not finding.raised:
        yield f"  actual    {value_text(finding.actual)}"


def _byte_lines(case: Case, findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the frame with the byte at which the client failed, if that byte is known."""
    at = _offset(case, findings)
    if at is None or not 0 <= at < len(case.body):
        return
    start, end = frame_around(case, at)
    text = case.body[start : min(end, start + _BYTES)].decode("utf-8", "surrogateescape")
    more = f"… (+{end - start - _BYTES:,} bytes)" if end - start > _BYTES else ""
    yield f"  bytes     {start:,} to {end:,}: {plain(text, 2 * _BYTES)}{more}"


def _crossing_lines(case: Case) -> Iterator[str]:
    """Yield the start of what a gateway got from its upstream, and the end of what it answered."""
    if case.crossing:
        start = case.body[:_BYTES].decode("utf-8", "backslashreplace")
        end = case.crossing.answer[-_BYTES:]
        yield f"  upstream  {plain(start, 2 * _BYTES)}"
        yield f"  answer    HTTP {case.crossing.status}: {plain(end, 2 * _BYTES)}"


def _offset(case: Case, findings: Iterable[Finding]) -> int | None:
    """Return the byte that a finding names, or the last byte before a crash or a difference."""
    for finding in findings:
        at = deciding_offset(case, finding)
        if at is not None:
            return at
    read = case.crash.bytes_read if case.crash else divergence_offset(case)
    return None if read is None else read - 1


def _trace_of(case: AnyCase) -> str:
    trace = case.crash and case.crash.trace if isinstance(case, Case) else case.trace
    return trace or ""


def _last_lines(output: str) -> Iterator[str]:
    """Yield the last lines of the client's output; other reports show the complete output."""
    lines = output.splitlines()
    left = len(lines) - _OUTPUT_LINES
    yield from output_lines("\n".join(lines[-_OUTPUT_LINES:]))
    if left > 0:
        yield f"    and {left} lines before"
