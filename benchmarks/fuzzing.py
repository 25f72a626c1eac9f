"""How fast the fuzzer judges, and how many inputs it needs to find each miniature.

    python -m benchmarks.fuzzing throughput [--json] [--repeats N]
    python -m benchmarks.fuzzing sensitivity [--json] [--seeds N] [--write] [--resume] [NAME ...]

Throughput: the same chunkings of the same bodies, judged, against `reference` alone reading the
same reads. Sensitivity: searches from scenarios without any quirk, one for each seed, which end
at the first finding of a rule that the miniature breaks; `--write` keeps the figures where the
kill table of `harness doctor` reads them, `--resume` leaves out those that it has already. Times
are printed, never asserted.
"""

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.replay import best_of
from harness.conversation.agent import Agent
from harness.conversation.mutants import MUTANTS as AGENTS
from harness.dialects.table import oracle_reading
from harness.fuzzing.conversations.search import ConversationSource
from harness.fuzzing.found import FoundBugs, InputT
from harness.fuzzing.search import PROFILES, Budget, InputSource, Search
from harness.fuzzing.turns.search import TurnSource
from harness.fuzzing.turns.seeds import Seed, seeds
from harness.judging.examine import examine
from harness.judging.judge import LoadedSubject
from harness.judging.replaying import DEFAULT_LIMITS, deadlines
from harness.normalizers.mutants import MUTANTS as NORMALIZERS
from harness.normalizers.protocol import Normalizer
from harness.normalizers.reference import normalizer as reference
from harness.runs.load import load_subject
from harness.runs.selection import select_subjects
from harness.wire.cuts import Chunking, iter_single_cuts, split
from harness.wire.interaction import Interaction

SCENARIOS = (
    "anthropic/stop-sequence",
    "cohere/thinking-then-call",
    "dashscope/split-chunks",
    "mistral/text-then-call",
    "ollama/length",
    "openai-responses/text-then-call",
    "glm/single-call",
)
_STEP = 4
# The inputs of the ci profile, for one process; a busy machine takes as long as it takes.
EXAMPLES = PROFILES["ci"].examples
_SECONDS = 3_600.0
KEPT = Path(__file__).parent.parent / "catalogue" / "sensitivity.json"


# Throughput


def shipped(names: Sequence[str]) -> list[LoadedSubject]:
    """Return the shipped scenarios called `names`."""
    wanted = [each for each in select_subjects(()) if not each.conversation]
    loaded = (load_subject(each) for each in wanted if any(n in each.path for n in names))
    return [each for each in loaded if each.id in names]


def bare(interaction: Interaction, cuts: Sequence[Chunking]) -> None:
    """Read under all `cuts`, and do nothing with what comes."""
    empty = interaction.without_body()
    for chunking in cuts:
        for _ in reference.normalize(empty, split(interaction.body, chunking)):
            pass


def judged(loaded: LoadedSubject, cuts: tuple[Chunking, ...]) -> int:
    """Judge under all `cuts`; return how many findings there are."""
    interaction = loaded.cassette.interactions[0]
    assert loaded.scenario is not None
    with deadlines():
        seen = examine(
            0,
            interaction,
            loaded.scenario.expect[0],
            oracle_reading(interaction),
            reference,
            cuts=cuts,
            limits=DEFAULT_LIMITS,
        )
    return len(seen.findings)


def throughput(repeats: int, names: Sequence[str] = SCENARIOS) -> dict[str, Any]:
    """Return chunkings in a second and the overhead of judging, for each scenario and over all."""
    rows, seconds = {}, {"bare": 0.0, "judged": 0.0}
    count = 0
    for loaded in shipped(names):
        interaction = loaded.cassette.interactions[0]
        cuts = tuple(iter_single_cuts(interaction.body))[::_STEP]
        assert judged(loaded, cuts) == 0, "reference breaks no rule"
        tasks: dict[str, Callable[[], object]] = {
            "bare": partial(bare, interaction, cuts),
            "judged": partial(judged, loaded, cuts),
        }
        best = best_of(repeats, tasks)
        rows[loaded.id] = {
            "chunkings": len(cuts),
            "per_second": len(cuts) / best["judged"],
            "overhead": best["judged"] / best["bare"] - 1,
        }
        count += len(cuts)
        seconds = {name: total + best[name] for name, total in seconds.items()}
    return {
        "scenarios": rows,
        "chunkings": count,
        "per_second": count / seconds["judged"],
        "overhead": seconds["judged"] / seconds["bare"] - 1,
    }


# Sensitivity


def clean_seeds(normalizer: Normalizer) -> tuple[Seed, ...]:
    """Return the clean seeds of `normalizer`, loaded once for all that declare the same."""
    key = normalizer.dialects, normalizer.capabilities, normalizer.text_dialects
    if key not in _CLEAN:
        _CLEAN[key] = seeds(select_subjects(()), normalizer, clean=True)
    return _CLEAN[key]


_CLEAN: dict[tuple[frozenset[str], ...], tuple[Seed, ...]] = {}


def needed_by_normalizer(normalizer: Normalizer, random: int) -> int | None:
    """Return how many inputs a search from clean scenarios needs; None if it finds nothing."""
    return _needed(TurnSource(normalizer, clean_seeds(normalizer)), normalizer.breaks, random)


def needed_by_agent(agent: Agent, random: int) -> int | None:
    """Return how many conversations a search of `agent` needs; None if it finds nothing."""
    return _needed(ConversationSource(agent), agent.breaks, random)


def _needed(source: InputSource[InputT], breaks: frozenset[str], random: int) -> int | None:
    def is_found(found: FoundBugs[InputT]) -> bool:
        return any(smallest.finding.rule in breaks for _, smallest in found)

    budget = Budget(EXAMPLES, _SECONDS)
    found = Search(source, budget, random=random, until=is_found).run()
    return budget.examples if is_found(found) else None


def sensitivity(
    count: int, names: Sequence[str] = (), done: Collection[str] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each miniature with what `count` searches needed, as it is measured.

    Args:
        count: searches, one for each seed from 0.
        names: of miniatures, or of rows; all where there are none.
        done: rows that are left out.
    """
    for row, (name, breaks, needed) in _searches().items():
        if row not in done and (not names or name in names or row in names):
            yield row, _row(breaks, [needed(at) for at in range(count)])


_Needed: TypeAlias = Callable[[int], int | None]


def _searches() -> dict[str, tuple[str, frozenset[str], _Needed]]:
    """Return for each row of the table the miniature's name, what it breaks, and its search."""
    found: dict[str, tuple[str, frozenset[str], _Needed]] = {
        name: (name, it.breaks, partial(needed_by_normalizer, it))
        for name, it in NORMALIZERS.items()
    }
    for name, agent in AGENTS.items():
        row = f"{name} (agent)" if name in NORMALIZERS else name
        found[row] = (name, agent.breaks, partial(needed_by_agent, agent))
    return found


def _row(breaks: frozenset[str], needed: Sequence[int | None]) -> dict[str, Any]:
    """Where a search found nothing, there is no median and no worst."""
    found = [count for count in needed if count is not None]
    whole = len(found) == len(needed)
    return {
        "rule": min(breaks),
        "seeds": len(needed),
        "found": len(found),
        "median": statistics.median(found) if whole else None,
        "worst": max(found) if whole else None,
    }


# The command


def as_text(measured: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a throughput that a person reads."""
    for name, row in measured["scenarios"].items():
        yield f"  {name:<36}{row['per_second']:>9,.0f} /s {row['overhead']:>8.0%}"
    yield f"  {'all':<36}{measured['per_second']:>9,.0f} /s {measured['overhead']:>8.0%}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("throughput", "sensitivity"))
    parser.add_argument("names", nargs="*", help="of miniatures; without, all")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--write", action="store_true", help=f"into {KEPT.name}")
    parser.add_argument("--resume", action="store_true", help=f"without those in {KEPT.name}")
    options = parser.parse_intermixed_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores", file=sys.stderr)
    if options.what == "throughput":
        measured = throughput(max(1, options.repeats))
        print(json.dumps(measured, indent=2) if options.json else "\n".join(as_text(measured)))
        return
    rows = {}
    count = max(1, options.seeds)
    done = measured_already(count, KEPT) if options.resume else ()
    for name, row in sensitivity(count, options.names, done):
        rows[name] = row
        if options.write:  # at once, since all of them take long
            keep({name: row}, KEPT)
        if not options.json:
            told = f"{row['found']}/{row['seeds']}  median {row['median']}  worst {row['worst']}"
            print(f"  {name:<32}{row['rule']:<28}{told}", flush=True)
    if options.json:
        print(json.dumps(rows, indent=2))


def measured_already(count: int, path: Path) -> frozenset[str]:
    """Return the rows at `path` that are of at least `count` seeds."""
    kept = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return frozenset(name for name, row in kept.items() if row["seeds"] >= count)


def keep(rows: dict[str, dict[str, Any]], path: Path) -> None:
    """Put `rows` among those that are kept at `path`."""
    kept = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    lines = (f"{json.dumps(n)}:{json.dumps(r)}" for n, r in sorted((kept | rows).items()))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main()
