"""Search one agent: talks of any shape, each had under several ways to cut its streams.

The judge is that of a run: the rules about conversations, and a script made from the talk.
"""

import time
from collections.abc import Iterator
from random import Random

import msgspec

from harness.conversation.agent import Agent
from harness.fuzzing.conversations.plans import ConversationPlan, conversation_plans, smaller_plans
from harness.fuzzing.conversations.scenarios import build_scenario
from harness.fuzzing.found import BugSignature, FailureLocation, FuzzFinding, location_of
from harness.fuzzing.profiles import Budget, Profile
from harness.fuzzing.search import EnoughError, draw_all
from harness.fuzzing.turns.search import FuzzReport
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.session import SessionLimits
from harness.judging.replaying import deadlines
from harness.judging.results import Finding

DIALECT_KEY = "conversation"
_PARENT = "talk"
_LIMITS = SessionLimits(seconds=3.0)
_DRAWS = 50


class SmallestConversation(msgspec.Struct, frozen=True):
    """The smallest talk in which a bug was met, and how many had been had by then."""

    talk: ConversationPlan
    finding: Finding
    examples: int


def fuzz_agent(
    agent: Agent,
    profile: Profile,
    *,
    random: int = 0,
    share: int = 0,
    shares: int = 1,
) -> FuzzReport:
    """Search `agent` and shrink what is found; the parameters are those of `hunt`."""
    budget = Budget(profile.examples, profile.seconds)
    search = AgentSearch(agent, budget, random=random * shares + share)
    found = search.run()
    end = time.monotonic() + profile.shrinking
    findings = tuple(
        _finding_from(_shrunk(agent, place, met, end), agent, place, random)
        for place, met in found.items()
    )
    told = tuple(sorted(findings, key=lambda finding: finding.rank))
    return FuzzReport(told, budget.examples, budget.chunkings, search.interrupted)


class AgentSearch:
    """One search of an agent; `run` may be called once."""

    def __init__(
        self, agent: Agent, budget: Budget, *, random: int = 0, until: frozenset[str] = frozenset()
    ) -> None:
        """Prepare a search; a finding of a rule in `until` ends it."""
        self.found: dict[FailureLocation, SmallestConversation] = {}
        self.interrupted = False
        self._agent = agent
        self._budget = budget
        self._random = Random(random)  # noqa: S311 - a search is repeatable, not secret
        self._until = until

    def run(self) -> dict[FailureLocation, SmallestConversation]:
        """Search until the budget is spent; return what was found, the worst first."""
        strategy = conversation_plans(self._agent)
        try:
            while not strategy.is_empty:
                draw_all(strategy, self._try, examples=_DRAWS, random=self._random.getrandbits(32))
        except EnoughError:
            pass
        except KeyboardInterrupt:
            self.interrupted = True
        return dict(sorted(self.found.items()))

    def _try(self, talk: ConversationPlan) -> None:
        if self._budget.spent:
            raise EnoughError
        findings, replays = _judge_plan(talk, self._agent)
        self._budget.count(replays)
        for finding in findings:
            place = location_of(finding, DIALECT_KEY)
            before = self.found.get(place)
            if before is None or talk.size < before.talk.size:
                count = before.examples if before else self._budget.examples
                self.found[place] = SmallestConversation(talk, finding, count)
        if any(place.rule in self._until for place in self.found):
            raise EnoughError


def _judge_plan(talk: ConversationPlan, agent: Agent) -> tuple[tuple[Finding, ...], int]:
    loaded = build_scenario(talk, agent).loaded()
    with deadlines():
        result, _ = judge_conversation(loaded, agent, limits=_LIMITS)
    return result.findings, result.replays


def _shrunk(
    agent: Agent, place: FailureLocation, met: SmallestConversation, end: float
) -> SmallestConversation:
    """Take the first smaller talk that shows the same bug, and start over from it."""
    while time.monotonic() < end:
        found = next(_smaller_failures(agent, place, met, end), None)
        if found is None:
            break
        met = found
    return met


def _smaller_failures(
    agent: Agent, place: FailureLocation, met: SmallestConversation, end: float
) -> Iterator[SmallestConversation]:
    for talk in smaller_plans(met.talk):
        if time.monotonic() > end:
            return
        for finding in _judge_plan(talk, agent)[0]:
            if location_of(finding, DIALECT_KEY) == place:
                yield SmallestConversation(talk, finding, met.examples)


def _finding_from(
    met: SmallestConversation, agent: Agent, place: FailureLocation, random: int
) -> FuzzFinding:
    stage = build_scenario(met.talk, agent)
    first, *others = stage.cassette.interactions
    return FuzzFinding(
        slug=BugSignature(place).slug,
        normalizer=agent.name,
        finding=met.finding,
        blame="normalizer",
        room=DIALECT_KEY,
        parent=_PARENT,
        cassette="",
        trail=(),
        interaction=first,
        expectation=None,
        policies=stage.policies,
        random=random,
        examples=met.examples,
        others=tuple(others),
        conversation=stage.conversation,
    )
