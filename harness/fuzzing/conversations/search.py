"""Search for bugs of an agent in generated conversations, with several chunkings of the replies.

Conversations are judged as in a run: by the rules about conversations, with a script from the plan.
"""

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from harness.conversation.agent import Agent
from harness.fuzzing.conversations.plans import ConversationPlan, conversation_plans, smaller_plans
from harness.fuzzing.conversations.scenarios import build_scenario
from harness.fuzzing.found import FuzzFinding, Parent, SmallestInput, signature_of
from harness.fuzzing.search import Draws, Shrinking
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.session import SessionLimits
from harness.results.finding import Finding

_PARENT: Final = "talk"
_LIMITS = SessionLimits(seconds=3.0)
_DRAWS = 50


class ConversationSource:
    """Draws, judges and shrinks generated conversations for one agent."""

    seconds_to_shrink = math.inf

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def draws(self, _random: Random) -> Iterator[Draws[ConversationPlan]]:
        """Yield strategies for conversations that the agent supports; this never ends."""
        strategy = conversation_plans(self._agent)
        while not strategy.is_empty:
            yield Draws(strategy.map(lambda plan: (plan,)), _DRAWS)

    def judge(self, tried: ConversationPlan) -> tuple[Sequence[Finding], int]:
        """Let the agent run one conversation; return the findings, and the number of replays."""
        loaded = build_scenario(tried, self._agent).loaded()
        result, _ = judge_conversation(loaded, self._agent, limits=_LIMITS)
        return result.reported, result.replays

    def shrink(self, shrinking: Shrinking[ConversationPlan]) -> None:
        """Try smaller plans, and keep those that show the bug."""
        shrinking.repeat(smaller_plans)

    def finding(self, smallest: SmallestInput[ConversationPlan]) -> FuzzFinding:
        """Return the finding that reports the bug of a conversation."""
        scenario = build_scenario(smallest.input, self._agent)
        first, *others = scenario.cassette.interactions
        return FuzzFinding(
            slug=signature_of(smallest.finding, smallest.input.dialect_key, (), ()).slug,
            normalizer=self._agent.name,
            finding=smallest.finding,
            dialect_key=smallest.input.dialect_key,
            parent=Parent(_PARENT, policies=scenario.policies),
            interaction=first,
            examples=smallest.examples,
            others=tuple(others),
            conversation=scenario.conversation,
        )
