"""A run -> the files beside its page, by name; each a pure function of the run and the verdict."""

from collections.abc import Callable
from typing import Literal

import msgspec

from harness.reporting.agent_pages import agent_pages
from harness.reporting.badge import badge
from harness.reporting.junit import junit
from harness.reporting.summary_markdown import summary_markdown
from harness.reporting.tabular import results_csv, turns_csv
from harness.runs.run import Run
from harness.runs.summary import Summary

Kind = Literal["markdown", "junit", "csv", "badge", "json", "agent"]


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def _agent(run: Run, summary: Summary) -> dict[str, str]:
    pages = agent_pages(run, summary.gate)
    return {f"agent/{name}": text for name, text in pages.items()}


_WRITERS: dict[Kind, Callable[[Run, Summary], dict[str, str]]] = {
    "markdown": lambda run, summary: {"summary.md": summary_markdown(run, summary)},
    "junit": lambda run, summary: {"junit.xml": junit(run, summary.gate)},
    "csv": lambda run, _: {"results.csv": results_csv(run), "turns.csv": turns_csv(run)},
    "badge": lambda run, summary: {"badge.json": _json(badge(run, summary.gate))},
    "json": lambda _, summary: {"summary.json": _json(summary)},
    "agent": _agent,
}
KINDS: tuple[Kind, ...] = tuple(_WRITERS)


def files(run: Run, summary: Summary, kind: Kind) -> dict[str, str]:
    """Return path below the report's folder -> text, of one kind."""
    return _WRITERS[kind](run, summary)
