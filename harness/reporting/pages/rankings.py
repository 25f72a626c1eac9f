"""What stands beside the rank of a model or a prompt: retries, strategies, its worst failure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from harness.judging.results import Result, TurnFacts
from harness.reporting.pages.matrix import measured
from harness.reporting.words import percent
from harness.runs.questions import ConversationRate
from harness.runs.rankings import RankedConversations
from harness.runs.run import Run

Axis = Literal["model", "prompt"]


class RankingDetails(msgspec.Struct, frozen=True):
    """Of one model or prompt.

    Fields:
        why: the commonest reason for a turn without success, in words; "" where all succeed.
        count: how many of its turns failed so.
        cell: the first of them.
        retries: compensating requests in its measured conversations, in words.
        strategy: the share of turns by `tool_use`, in words.
    """

    why: str = ""
    count: int = 0
    cell: str = ""
    retries: str = "none measured"
    strategy: str = "none measured"


def ranking_details(
    run: Run, conversations: Iterable[RankedConversations], axis: Axis
) -> dict[str, RankingDetails]:
    """Return the standing of each model or prompt that was measured, by name."""
    failures: dict[str, list[tuple[Result, TurnFacts]]] = defaultdict(list)
    names: set[str] = set()
    for result, turn in measured(run):
        name = _NAME[axis](result)
        names.add(name)
        if not turn.success:
            failures[name].append((result, turn))
    talks: dict[str, list[ConversationRate]] = defaultdict(list)
    for each in conversations:
        talks[getattr(each.rate, axis)].append(each.rate)
    return {
        name: _with_conversations(_commonest_failure(failures[name]), talks[name])
        for name in sorted(names | set(talks))
    }


_NAME: Mapping[Axis, Callable[[Result], str]] = {
    "model": lambda result: result.model,
    "prompt": lambda result: result.prompt,
}


def _commonest_failure(failed: list[tuple[Result, TurnFacts]]) -> RankingDetails:
    if not failed:
        return RankingDetails()
    reasons = Counter(turn.why for _, turn in failed)
    why, count = min(reasons.items(), key=lambda item: (-item[1], item[0]))
    return RankingDetails(
        why, count, min(result.cell for result, turn in failed if turn.why == why)
    )


def _with_conversations(standing: RankingDetails, rates: list[ConversationRate]) -> RankingDetails:
    if not rates:
        return standing
    retries, talks = sum(each.retries for each in rates), sum(each.n for each in rates)
    by_tools = sum(each.tool_use for each in rates)
    total = by_tools + sum(each.json_fallback for each in rates)
    strategy = f"tool_use {percent(by_tools / total)} of {total}" if total else "not told"
    return msgspec.structs.replace(
        standing, retries=f"{retries} in {talks} conversations", strategy=strategy
    )
