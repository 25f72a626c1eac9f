"""Rules about the deltas as a sequence: what a consumer that acts on each may rely on."""

from collections.abc import Iterator

from harness.judging.results import Outcome
from harness.judging.rules.rule import Broken, Evidence, Rule
from harness.turns.deltas import ArgumentsDelta, ToolCallEnd, ToolCallRejected, ToolCallStart


def _start_first(seen: Evidence) -> Iterator[Broken]:
    started: set[int] = set()
    for emission in seen.replay.emissions:
        delta = emission.delta
        if isinstance(delta, ToolCallStart):
            started.add(delta.index)
        elif not isinstance(delta, ArgumentsDelta | ToolCallEnd | ToolCallRejected):
            continue
        elif delta.index not in started:
            yield Broken("deltas", "a start before it", delta, emission.bytes_read)
            return


def _one_end(seen: Evidence) -> Iterator[Broken]:
    ended: set[int] = set()
    started: set[int] = set()
    for emission in seen.replay.emissions:
        delta = emission.delta
        if isinstance(delta, ToolCallStart):
            started.add(delta.index)
        elif not isinstance(delta, ArgumentsDelta | ToolCallEnd | ToolCallRejected):
            continue
        elif delta.index in ended:
            yield Broken("deltas", "nothing after a call's end", delta, emission.bytes_read)
            return
        elif not isinstance(delta, ArgumentsDelta):
            ended.add(delta.index)
    for index in sorted(started - ended):
        yield Broken("deltas", "an end or a rejection for each call", f"none for index {index}")


def _index_order(seen: Evidence) -> Iterator[Broken]:
    starts = [e.delta.index for e in seen.replay.emissions if isinstance(e.delta, ToolCallStart)]
    if starts != list(range(len(starts))):
        yield Broken("deltas", list(range(len(starts))), starts)


RULES = (
    Rule(
        "CALL-STARTS-FIRST",
        "MUST",
        "A call's start comes before its arguments and its end.",
        Outcome.MISMATCH,
        ("DELTA-FIRST-HAS-ARGS", "DELTA-NAME-FRAGMENTED"),
        _start_first,
    ),
    Rule(
        "CALL-ENDS-ONCE",
        "MUST",
        "Each call ends or is rejected once, and nothing of it follows.",
        Outcome.MISMATCH,
        ("ARGS-EARLY-PARSEABLE", "ARGS-TRAILING-EMPTY", "FINISH-DUPLICATE"),
        _one_end,
    ),
    Rule(
        "CALL-INDEX-NEUTRAL",
        "MUST",
        "Calls are numbered from 0 in order of appearance, whatever the provider's index was.",
        Outcome.MISMATCH,
        ("DELTA-INDEX-SPARSE", "DELTA-INDEX-ALL-ZERO"),
        _index_order,
    ),
)
