"""Write the files next to the HTML report; each depends on the run and the gate verdict only."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import msgspec

from harness.reporting.text.agent_pages import agent_pages
from harness.reporting.text.junit import junit
from harness.reporting.text.summary import summary_markdown
from harness.reporting.visible import marked
from harness.reporting.words import unjudged_fields
from harness.results.result import Result, TurnFacts
from harness.results.run import Run
from harness.verdicts.gate import Gate, Summary, Verdict
from harness.verdicts.query_rows import BlameSplit
from harness.verdicts.rankings import Ranked, Rankings

_FORMULA = ("=", "+", "-", "@")
_CELL = (
    *("cell", "kind", "scenario", "normalizer", "outcome", "blame", "cause", "replays"),
    *("cassette", "provider", "model", "prompt", "dialect", "text_dialect", "origin"),
)
_TURN = (
    *("interaction", "success", "why", "blame", "calls", "parse_errors", "parse_error_blame"),
    *("finish", "failure", "digest", "asked"),
)

_RATE = ("k", "n", "low", "high", "rank_low", "rank_high", "distinguishable", "needed_n")


def results_csv(run: Run) -> str:
    """Return a line for each cell, with the rules that it violates and the quirks it shows."""
    head = (*_CELL, "rules", "quirks", "unjudged")
    return _table(head, (_result(result) for result in run.results))


def turns_csv(run: Run) -> str:
    """Return a line for each turn of each cell."""
    turns = ((result, turn) for result in run.results for turn in result.turns)
    return _table(("cell", *_TURN, "unjudged"), (_turn(result, turn) for result, turn in turns))


def rankings_csv(rankings: Rankings) -> str:
    """Return a line for each ranked model, prompt, pair, normalizer and agent."""
    boards = {
        "model": rankings.models,
        "prompt": rankings.prompts,
        "model x prompt": rankings.pairs,
        "normalizer": rankings.normalizers,
        "agent": rankings.agents,
    }
    lines = (_ranked(board, each) for board, ranked in boards.items() for each in ranked)
    blames = BlameSplit.__struct_fields__
    head = (
        *("board", "name", *_RATE, *(f"parse_error_rate_{name}" for name in _RATE)),
        *(f"parse_error_{name}" for name in blames),
        *(f"failed_{name}" for name in blames),
    )
    return _table(head, lines)


def _ranked(board: str, ranked: Ranked) -> Iterator[object]:
    yield from (board, ranked.name)
    for rate in (ranked, ranked.parse_error_rate):
        yield from (getattr(rate, name, "") for name in _RATE)
    for split in (ranked.parse_error, ranked.failed):
        yield from msgspec.structs.astuple(split)


def _result(result: Result) -> Iterator[object]:
    yield from (getattr(result, name) for name in _CELL)
    yield " ".join(dict.fromkeys(finding.rule for finding in result.reported))
    yield " ".join(result.quirks)
    yield "; ".join(unjudged_fields(result))


def _turn(result: Result, turn: TurnFacts) -> Iterator[object]:
    yield result.cell
    yield from (getattr(turn, name) for name in _TURN)
    yield "; ".join(f"{field}: {why}" for field, why in turn.unjudged.items())


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    return csv_rows((head, *rows))


def csv_rows(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV that a terminal or a spreadsheet cannot execute."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(_csv_value, row) for row in rows)
    return out.getvalue()


def _csv_value(value: object) -> str:
    """Return `value` as text, with an apostrophe before text that a spreadsheet would execute."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    text = marked(str(value))
    return f"'{text}" if text.startswith(_FORMULA) else text


_COLOURS: dict[Verdict, str] = {
    "pass": "brightgreen",
    "fail": "red",
    "inconclusive": "yellow",
    "nothing": "lightgrey",
}


class Badge(msgspec.Struct, frozen=True, rename="camel"):
    """The JSON object that a badge service reads."""

    label: str
    message: str
    color: str
    schema_version: Literal[1] = 1


def badge(run: Run, gate: Gate) -> Badge:
    """Return the badge of a run: the verdict, and how many cells conform."""
    judged = [each for each in run.results if each.outcome.judged]
    conform = sum(each.outcome.conforms for each in judged)
    unjudged = f", {len(gate.unjudged)} unjudged" if gate.unjudged else ""
    message = f"{gate.verdict}, {conform}/{len(judged)} conform{unjudged}"
    return Badge("tool calls", message, _COLOURS[gate.verdict])


Kind = Literal["markdown", "junit", "csv", "badge", "json", "agent"]


def json_text(value: object) -> str:
    """Return `value` as indented JSON that ends in a newline."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def _agent_files(run: Run, summary: Summary) -> dict[str, str]:
    pages = agent_pages(run, summary.gate)
    return {f"agent/{name}": text for name, text in pages.items()}


_WRITERS: dict[Kind, Callable[[Run, Summary], dict[str, str]]] = {
    "junit": lambda run, summary: {"junit.xml": junit(run, summary.gate)},
    "csv": lambda run, summary: {
        "results.csv": results_csv(run),
        "turns.csv": turns_csv(run),
        "rankings.csv": rankings_csv(summary.rankings),
    },
    "badge": lambda run, summary: {"badge.json": json_text(badge(run, summary.gate))},
    "json": lambda _, summary: {"summary.json": json_text(summary)},
    "agent": _agent_files,
}
KINDS: tuple[Kind, ...] = ("markdown", *_WRITERS)


def files(run: Run, summary: Summary, kind: Kind, changed: str = "") -> dict[str, str]:
    """Return path below the report's folder -> text, for the files of one kind.

    `changed` says in one line what changed since the last run; the summary shows it.
    """
    if kind == "markdown":
        return {"summary.md": summary_markdown(run, summary, changed=changed)}
    return _WRITERS[kind](run, summary)
