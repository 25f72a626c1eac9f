"""A run -> the one object that `harness run --format json` prints.

The keys are a public contract: they stay; others may be added.
"""

import msgspec

from harness.runs.gate import NO_POLICY, Gate, judge_gate
from harness.runs.policy import GatePolicy
from harness.runs.questions import Questions
from harness.runs.rankings import Rankings, rank
from harness.runs.run import Run


class Summary(msgspec.Struct, frozen=True):
    """What a machine wants to know of a run.

    Fields:
        scenarios: subjects selected.
        replays: chunkings tried, over all cells.
        outcomes: normalizer or agent -> outcome -> number of cells.
    """

    scenarios: int
    replays: int
    outcomes: dict[str, dict[str, int]]
    rankings: Rankings
    gate: Gate


def summarize(run: Run, policy: GatePolicy = NO_POLICY) -> Summary:
    """Return the summary of `run`; `msgspec.json.encode` makes it the public object."""
    with Questions(run) as questions:
        return Summary(
            scenarios=run.header.scenario_count,
            replays=sum(result.replays for result in run.results),
            outcomes=questions.outcome_counts(),
            rankings=rank(questions),
            gate=judge_gate(run, policy, questions),
        )
