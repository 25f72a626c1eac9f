"""A run over recordings -> `docs/ranking.md`: models and prompts by turn success.

    harness run cassettes/llama-cpp cassettes/litellm ... --no-report -o reports/ranking
    python -m scripts.ranking_page reports/ranking/run.jsonl docs/ranking.md

The page contains only numbers of the run.
"""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.reporting.boards import blame_counts, rank_text
from harness.reporting.visible import markdown_escaped, markdown_table
from harness.results.run import Run
from harness.results.store import read_run
from harness.verdicts.rankings import Ranked, RankedRate, Rankings, rankings
from harness.verdicts.statistics import percent
from harness.wire.cassette_file import load_cassette

_HEAD: Final = (
    *("rank", "name", "rate", "95 % interval"),
    *("turns with a parse_error, by blame", "failed turns, by blame"),
)
_ERRORS_HEAD: Final = ("parse_error rate", "its 95 % interval", "its rank")
_INTRO: Final = """\
# Ranking of the bundled recordings

`python -m scripts.ranking_page` writes this page from one run. Do not edit it. The models are small
and ran on two cores ([how they were recorded](how-to/record-local-models.md)). They were chosen
because they fail often and in natural ways.

A turn is a success if the user got what the question needs: a call of an offered tool with
arguments that fit its schema, or an answer in text ([outcomes and
blame](explanation/outcomes-and-blame.md)). The right tool and the right values are not judged. The
lead normalizer is `reference`. A failed turn is blamed on the model, the provider (its stream
violates its own contract, or it returned an error), or the normalizer. A rank is a range if the
intervals overlap.

`+examples`: two worked examples are turns before the question. `+grammar`: the server constrains
the reply to JSON of a schema. `+talk`: turns of complete conversations; it is unknown what each of
them needs, so any finished answer counts, and you can compare them only with each other
([prompts](reference/prompts.md)). The same question with the same random seed that was sent to one
model through two servers is one cluster, so the intervals are as wide as the independent questions
require.
"""


def page(run: Run, dates: tuple[str, ...], turns: int) -> str:
    """Return the page for `run`.

    Args:
        run: over recordings.
        dates: the days on which they were made.
        turns: interactions in them.
    """
    ranked = rankings(run)
    when = " to ".join(sorted({min(dates), max(dates)})) if dates else "unknown"
    lines = (
        _INTRO,
        f"Recorded {when}: {len(dates)} cassettes, {turns} turns. Harness {run.header.harness}.\n",
        f"```sh\n{shlex.join(run.header.command)}\n```\n",
        *_sections(ranked),
    )
    return "\n".join(lines)


def _sections(ranked: Rankings) -> Iterator[str]:
    yield from ("## Models\n", _table(ranked.models))
    yield from ("\n## Prompts\n", _table(ranked.prompts))
    yield from ("\n## Models x prompts\n", _table(ranked.pairs))
    conform = _table(ranked.normalizers, "conformance")
    yield from ("\n## Normalizers, by conformance on the same bytes\n", conform)


def _table(rows: tuple[Ranked, ...], counted: str = "turn success") -> str:
    has_errors = any(each.parse_error_rate for each in rows)
    head = (*_HEAD[:2], counted, *_HEAD[2:4], *(_ERRORS_HEAD if has_errors else ()), *_HEAD[4:])
    return markdown_table(
        map(markdown_escaped, head), (map(markdown_escaped, _row(each)) for each in rows)
    ).rstrip()


def _row(each: Ranked) -> tuple[str, ...]:
    return (
        rank_text(each),
        each.name,
        f"{each.k}/{each.n}",
        percent(each.k / each.n),
        f"{percent(each.low)} to {percent(each.high)}",
        *_error_cells(each.parse_error_rate),
        blame_counts(each.parse_error),
        blame_counts(each.failed),
    )


def _error_cells(rate: RankedRate | None) -> Iterator[str]:
    if rate is not None:
        yield f"{rate.k}/{rate.n}, {percent(rate.k / rate.n)}"
        yield f"{percent(rate.low)} to {percent(rate.high)}"
        yield rank_text(rate)


def main() -> None:
    """Write the page of the run that is named."""
    source, target = map(Path, sys.argv[1:])
    run = read_run(source)
    files = [file for path in run.header.selection.paths for file in Path(path).rglob("*.yaml")]
    cassettes = [load_cassette(file) for file in files]
    turns = sum(len(cassette.interactions) for cassette in cassettes)
    dates = tuple(cassette.origin.at for cassette in cassettes)
    target.write_text(page(run, dates, turns) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
