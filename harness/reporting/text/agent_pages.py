"""Write Markdown pages for a coding agent: an index of at most 8 KB, and a page for each cause.

The index links to the pages. A page has the finding and the command that shows it. The index states
how many entries do not fit.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

from harness.project import ClientKind
from harness.reporting.explanation import explain_finding
from harness.reporting.failures import FAILING_NO_CELL, Failure, list_failures
from harness.reporting.visible import markdown_code, markdown_text, plain
from harness.results.finding import Finding
from harness.results.run import Run
from harness.verdicts.gate import Gate
from harness.wording import pluralize

INDEX = "index.md"
MAX_INDEX_BYTES = 8_192
MAX_PAGES = 200
_CELLS = 100
_REASONS = 10
# So that the head always fits, and no code span is cut.
_COMMAND_CHARACTERS = 1_000
_ODD = re.compile(r"[^a-z0-9]+")


def agent_pages(run: Run, gate: Gate) -> dict[str, str]:
    """Return file name -> text of each page; `index.md` links to the others."""
    found = list_failures(run, gate)
    listed = {_name(each): each for each in found[:MAX_PAGES]}
    pages = {name: "\n".join(_page(each, run)) for name, each in listed.items()}
    return {INDEX: _index(run, gate, found, listed), **pages}


def _name(each: Failure) -> str:
    """Return a file name that depends on the cause only."""
    parts = (each.group.cause or "none", each.group.normalizer)
    slug = _ODD.sub("-", "-".join(parts).lower()).strip("-")[:60]
    digest = sha256("\0".join((*parts, each.group.level)).encode("utf-8", "replace"))
    return f"{slug}-{digest.hexdigest()[:6]}.md"


def _index(run: Run, gate: Gate, found: tuple[Failure, ...], listed: dict[str, Failure]) -> str:
    must = sum(each.is_must for each in found)
    others = len(found) - must
    reasons = [f"- {markdown_text(reason)}" for reason in gate.reasons[:_REASONS]]
    more = len(gate.reasons) - len(reasons)
    head = [
        f"# Gate: {gate.verdict}",
        "",
        f"{pluralize(len(run.results), 'cell')}, causes of failure: {must}.",
        *([f"{FAILING_NO_CELL}: {pluralize(others, 'cause')}."] if others else []),
        *([f"Only the first {len(listed)} have a page."] if len(listed) < len(found) else []),
        "Read the page of the first failure, run its command, fix the cause, and run this again:",
        f"{markdown_code(plain(' '.join(run.header.command), _COMMAND_CHARACTERS))}.",
        "",
        *reasons,
        *([f"- and {more} more reasons"] if more > 0 else []),
        *(["", f"Not judged: {markdown_text(gate.remark)}."] if gate.remark else []),
        "",
    ]
    return _fitting(head, [_link(name, each) for name, each in listed.items()])


def _link(page: str, each: Failure) -> str:
    named = f"[{markdown_text(each.headline, limit=120)}]({page})"
    return f"- {named}: {pluralize(each.group.cells, 'cell')}"


def _fitting(head: list[str], lines: list[str]) -> str:
    """Return the head, as many lines as fit, and the number of lines that do not fit."""
    for shown in range(len(lines), -1, -1):
        left = len(lines) - shown
        more = [f"- and {left} more pages in this folder"] if left else []
        page = "\n".join([*head, *lines[:shown], *more, ""])
        if len(page.encode()) <= MAX_INDEX_BYTES:
            return page
    return page.encode()[:MAX_INDEX_BYTES].decode(errors="ignore")


def _duty_lines(found: Finding, kind: ClientKind) -> Iterator[str]:
    explanation = explain_finding(found, kind, (), {})
    if explanation is not None:
        yield f"- duty: {explanation.duty}"
        yield f"- level: {explanation.level_text}"
        yield f"- why: {explanation.why}"
        yield f"- source: {', '.join(markdown_code(each.name) for each in explanation.source)}"


def _page(each: Failure, run: Run) -> Iterator[str]:
    group, found = each.group, each.example
    yield f"# {markdown_text(each.headline)}"
    yield ""
    verb = "Fails" if each.is_must else "Does not fail, but is violated in"
    first = f"First cell: {markdown_code(each.cell)} ({markdown_text(each.title)})."
    yield f"{verb} {pluralize(group.cells, 'cell')}. {first}"
    yield ""
    yield from (f"- evidence: {markdown_text(each.evidence.text)}",) if each.evidence else ()
    if found is not None:
        yield f"- rule: {markdown_code(found.rule)} ({found.level})"
        yield f"- at: {markdown_code(found.path)}"
        yield f"- expected: {markdown_text(found.expected, limit=2_000)}"
        yield f"- actual: {markdown_text(found.actual, limit=2_000)}"
        yield from () if found.offset is None else (f"- byte: {found.offset}",)
        yield from _duty_lines(found, run.header.kind_of(group.normalizer))
    yield f"- quirks: {', '.join(map(markdown_code, group.quirks)) or 'none'}"
    yield f"- replay: {markdown_code(each.command)}"
    yield from (f"- script: {markdown_code(each.repro)}",) if each.repro else ()
    yield ""
    yield "## Cells"
    yield ""
    yield from (f"- {markdown_code(cell)}" for cell in group.all_cells[:_CELLS])
    if group.cells > _CELLS:
        yield f"- and {group.cells - _CELLS} more"
    yield ""
