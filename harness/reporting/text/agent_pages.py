"""A run -> pages for a coding agent: an index of at most 8 KB, a page for each signature.

The index says what to read next; a page says what is wrong and which command shows it. What does
not fit is counted.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

from harness.reporting.failures import FAILING_NO_CELL, Failure, headline, is_must, list_failures
from harness.reporting.visible import markdown_code, markdown_text
from harness.runs.gate import Gate
from harness.runs.questions import FailureSignature
from harness.runs.run import Run, pluralize

INDEX = "index.md"
MAX_INDEX_BYTES = 8_192
MAX_PAGES = 200
_CELLS = 100
_REASONS = 10
_ODD = re.compile(r"[^a-z0-9]+")


def agent_pages(run: Run, gate: Gate) -> dict[str, str]:
    """Return name of a file -> its text; the index is `index.md`, the pages lie beside it."""
    found = list_failures(run, gate)
    told = {_name(each): each for each in found[:MAX_PAGES]}
    pages = {name: "\n".join(_page(each)) for name, each in told.items()}
    return {INDEX: _index(run, gate, found, told), **pages}


def _name(each: Failure) -> str:
    """Return a name that stays while the signature does."""
    parts = (each.signature.rule or "none", each.signature.outcome.value, each.signature.normalizer)
    slug = _ODD.sub("-", "-".join(parts).lower()).strip("-")[:60]
    digest = sha256("\0".join((*parts, each.signature.level)).encode("utf-8", "replace"))
    return f"{slug}-{digest.hexdigest()[:6]}.md"


def _index(run: Run, gate: Gate, found: tuple[Failure, ...], told: dict[str, Failure]) -> str:
    ways = sum(is_must(each.signature) for each in found)
    others = len(found) - ways
    reasons = [f"- {markdown_text(reason)}" for reason in gate.reasons[:_REASONS]]
    more = len(gate.reasons) - len(reasons)
    head = [
        f"# Gate: {gate.verdict}",
        "",
        (
            f"{pluralize(len(run.results), 'cell')}; {pluralize(ways, 'kind')} of failure, "
            "worst first."
        ),
        *([f"{FAILING_NO_CELL}: {pluralize(others, 'kind')}."] if others else []),
        *([f"Only the first {len(told)} have a page."] if len(told) < len(found) else []),
        "Read the page of one failure, run its command, mend the cause, run again:",
        f"{markdown_code(' '.join(run.header.command))}.",
        "",
        *reasons,
        *([f"- and {more} more reasons"] if more > 0 else []),
        "",
    ]
    return _fitting(head, [_link(name, each.signature) for name, each in told.items()])


def _link(page: str, signature: FailureSignature) -> str:
    named = f"[{markdown_text(headline(signature), limit=120)}]({page})"
    return f"- {named}: {pluralize(signature.count, 'cell')}"


def _fitting(head: list[str], lines: list[str]) -> str:
    """Return as many lines as fit, and how many do not."""
    for shown in range(len(lines), -1, -1):
        left = len(lines) - shown
        more = [f"- and {left} more pages beside this one"] if left else []
        page = "\n".join([*head, *lines[:shown], *more, ""])
        if len(page.encode()) <= MAX_INDEX_BYTES:
            return page
    return page.encode()[:MAX_INDEX_BYTES].decode(errors="ignore")


def _page(each: Failure) -> Iterator[str]:
    signature, found = each.signature, each.example
    yield f"# {markdown_text(headline(signature))}"
    yield ""
    fails = "Fails" if is_must(signature) else "Shows, and fails nothing, in"
    first = f"The first: {markdown_code(each.cell)} ({markdown_text(each.title)})."
    yield f"{fails} {pluralize(signature.count, 'cell')}. {first}"
    yield ""
    if found is not None:
        yield f"- rule: {markdown_code(found.rule)} ({found.level})"
        yield f"- at: {markdown_code(found.path)}"
        yield f"- expected: {markdown_text(found.expected, limit=2_000)}"
        yield f"- actual: {markdown_text(found.actual, limit=2_000)}"
        yield from () if found.offset is None else (f"- byte: {found.offset}",)
    yield f"- quirks: {', '.join(map(markdown_code, signature.quirks)) or 'none'}"
    yield f"- see it: {markdown_code(each.command)}"
    yield ""
    yield "## Cells"
    yield ""
    yield from (f"- {markdown_code(cell)}" for cell in signature.cells[:_CELLS])
    if len(signature.cells) > _CELLS:
        yield f"- and {len(signature.cells) - _CELLS} more"
    yield ""
