"""A run: the rows of one invocation between a header and a footer.

Nothing here knows a clock or a random number: equal inputs make equal runs.
"""

from typing import TypeAlias

import msgspec

from harness.conversation.agent import Agent
from harness.judging.case import Case
from harness.judging.conversations.case import ConversationCase
from harness.judging.results import Result
from harness.normalizers.protocol import Normalizer, Role

SCHEMA = 1

# What a reader sees of a cell, of turns or of a conversation.
AnyCase: TypeAlias = Case | ConversationCase

# The normalizer through which models and prompts are ranked, where it took part.
REFERENCE = "reference"


class NormalizerFacts(msgspec.Struct, frozen=True):
    """What a normalizer declared about itself when the run was made; sets are sorted."""

    name: str
    role: Role = "conforming"
    summary: str = ""
    dialects: tuple[str, ...] = ()
    streams: bool = True
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    breaks: tuple[str, ...] = ()
    text_dialects: tuple[str, ...] = ()


class AgentFacts(msgspec.Struct, frozen=True):
    """What an agent declared about itself when the run was made; sets are sorted."""

    name: str
    role: Role = "conforming"
    summary: str = ""
    dialects: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    breaks: tuple[str, ...] = ()


class Selection(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was asked for: paths as given on the command line, the mode of the cuts, a dialect.

    Fields:
        skipped: cells that an expectation says are not to run.
        select: the words that narrowed the paths down; "" where there were none.
    """

    paths: tuple[str, ...] = ()
    cuts: str = ""
    dialect: str = ""
    skipped: tuple[str, ...] = ()
    select: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The words that say the dialect again on a command line; none where none was said."""
        return ("--dialect", self.dialect) if self.dialect else ()


class Header(msgspec.Struct, frozen=True, tag_field="type", tag="header"):
    """The first line of a run: what produced it.

    Fields:
        schema: version of the file format; a reader refuses a newer one.
        harness: version of the harness.
        normalizers: those selected, in the order in which they were named.
        command: the argv that makes the same run again.
        scenario_count: subjects selected, labelled or not.
        agents: as normalizers; none in runs of older harnesses.
    """

    schema: int
    harness: str
    normalizers: tuple[NormalizerFacts, ...]
    selection: Selection
    command: tuple[str, ...]
    scenario_count: int
    agents: tuple[AgentFacts, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the normalizers and agents that took part."""
        normalizers = (each.name for each in self.normalizers)
        return (*normalizers, *(each.name for each in self.agents))

    @property
    def lead(self) -> str:
        """Name of the normalizer that ranks models: `reference`, else the first; "" if none."""
        names = [normalizer.name for normalizer in self.normalizers]
        return REFERENCE if REFERENCE in names else next(iter(names), "")


class Footer(msgspec.Struct, frozen=True, tag_field="type", tag="footer"):
    """The last line of a run that ended as it should, or was interrupted in good order.

    Fields:
        results: number of result lines above.
        replays: the sum of their replays.
        not_run: cells that were planned and did not run.
    """

    results: int
    replays: int
    interrupted: bool = False
    not_run: int = 0


class Run(msgspec.Struct, frozen=True):
    """A run as read.

    Fields:
        results: sorted by cell; each cell once.
        cases: of turns, by cell.
        footer: None where the process was killed before it could write one.
        torn_lines: 1 where the last line of such a run was cut short, else 0.
        conversations: what agents did, by cell.
    """

    header: Header
    results: tuple[Result, ...]
    cases: dict[str, Case]
    footer: Footer | None
    torn_lines: int = 0
    conversations: dict[str, ConversationCase] = msgspec.field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every planned cell ran."""
        return self.footer is not None and not self.footer.interrupted


def facts_of(normalizer: Normalizer) -> NormalizerFacts:
    """Return the declaration of `normalizer` as a header keeps it."""
    return NormalizerFacts(
        name=normalizer.name,
        role=normalizer.role,
        summary=normalizer.summary,
        dialects=tuple(sorted(normalizer.dialects)),
        streams=normalizer.streams,
        policies=dict(sorted(normalizer.policies.items())),
        breaks=tuple(sorted(normalizer.breaks)),
        text_dialects=tuple(sorted(normalizer.text_dialects)),
    )


def facts_of_agent(agent: Agent) -> AgentFacts:
    """Return the declaration of `agent` as a header keeps it."""
    return AgentFacts(
        name=agent.name,
        role=agent.role,
        summary=agent.summary,
        dialects=tuple(sorted(agent.dialects)),
        prompts=tuple(sorted(agent.prompts)),
        policies=dict(sorted(agent.policies.items())),
        breaks=tuple(sorted(agent.breaks)),
    )


def pluralize(number: int, noun: str) -> str:
    """Return `number` and `noun`, which takes an s where there is not one of it."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
