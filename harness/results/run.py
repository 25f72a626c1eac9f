"""A run: the rows of one invocation between a header and a footer.

Nothing here reads a clock or a random number: equal inputs make equal runs.
"""

from typing import TypeAlias

import msgspec

from harness.project import ClientKind, Role
from harness.results.case import Case
from harness.results.conversation_case import ConversationCase
from harness.results.peer_facts import PeerFacts
from harness.results.result import Result

SCHEMA = 3

# The detail page of a cell: of turns, or of a conversation.
AnyCase: TypeAlias = Case | ConversationCase

# The normalizer by whose turns models and prompts are ranked, if it took part.
REFERENCE = "reference"


class NormalizerFacts(msgspec.Struct, frozen=True):
    """The declaration of a normalizer at the time of the run; sets are sorted."""

    name: str
    kind: ClientKind = "gateway"
    role: Role = "conforming"
    summary: str = ""
    dialects: tuple[str, ...] = ()
    streams: bool = True
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    breaks: tuple[str, ...] = ()
    text_dialects: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()


class AgentFacts(msgspec.Struct, frozen=True):
    """The declaration of an agent at the time of the run; sets are sorted."""

    name: str
    role: Role = "conforming"
    summary: str = ""
    dialects: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    breaks: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()


class Selection(msgspec.Struct, frozen=True, omit_defaults=True, rename={"requirement_set": "set"}):
    """The options of a run: paths as given on the command line, the mode of the cuts, a dialect.

    Fields:
        skipped: cells that `expectations.toml` excludes from the run.
        select: the filters of the subjects; "" if there were none.
        requirement_set: the name of the requirement set, the key `set`; "" if there was none.
        last_failed: whether only the cells that failed in the run before are selected.
    """

    paths: tuple[str, ...] = ()
    cuts: str = ""
    dialect: str = ""
    skipped: tuple[str, ...] = ()
    select: str = ""
    requirement_set: str = ""
    last_failed: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """The command-line options that set the dialect again, if one was set."""
        return ("--dialect", self.dialect) if self.dialect else ()


class Header(msgspec.Struct, frozen=True, tag_field="type", tag="header"):
    """The first line of a run: what produced it.

    Fields:
        schema: version of the file format; a reader rejects a newer one.
        harness: version of the harness.
        normalizers: those selected, in the order given.
        command: the argv that repeats the run.
        scenario_count: number of selected subjects.
        agents: like `normalizers`; none in runs of older harnesses.
        peers: of a merged run of peers, judged or not; none in other runs and of older harnesses.
        cell_count: number of planned cells; 0 in runs of older harnesses.
    """

    schema: int
    harness: str
    normalizers: tuple[NormalizerFacts, ...]
    selection: Selection
    command: tuple[str, ...]
    scenario_count: int
    agents: tuple[AgentFacts, ...] = ()
    peers: tuple[PeerFacts, ...] = ()
    cell_count: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the normalizers and agents that took part."""
        return (*self.names_of_normalizers, *self.names_of_agents)

    @property
    def names_of_normalizers(self) -> tuple[str, ...]:
        """Names of the normalizers that took part."""
        return tuple(each.name for each in self.normalizers)

    @property
    def names_of_agents(self) -> tuple[str, ...]:
        """Names of the agents that took part."""
        return tuple(each.name for each in self.agents)

    def kind_of(self, name: str) -> ClientKind:
        """Return what a client promises; runs of older harnesses have gateways and agents only."""
        kinds = {each.name: each.kind for each in self.normalizers}
        agents = {each.name for each in self.agents}
        return kinds.get(name, "agent" if name in agents else "gateway")

    @property
    def known_wrong(self) -> frozenset[str]:
        """Names of the clients that violate rules on purpose."""
        roles = {each.name: each.role for each in self.normalizers}
        roles |= {each.name: each.role for each in self.agents}
        return frozenset(name for name, role in roles.items() if role in ("mutant", "known-bad"))

    @property
    def lead(self) -> str:
        """Name of the normalizer that ranks models: `reference`, else the first; "" if none."""
        names = [normalizer.name for normalizer in self.normalizers]
        return REFERENCE if REFERENCE in names else next(iter(names), "")


class Output(msgspec.Struct, frozen=True, tag_field="type", tag="output"):
    """What the client of a cell that fails wrote to standard output and standard error.

    Unlike a result, it may differ between equal runs.
    """

    cell: str
    text: str


class UnreadableFile(msgspec.Struct, frozen=True, order=True):
    """A selected file that cannot be used, so that its cells did not run.

    Fields:
        path: of the scenario, cassette or log.
        error: what is wrong, where, and what to do.
    """

    path: str
    error: str


class Footer(msgspec.Struct, frozen=True, tag_field="type", tag="footer"):
    """The last line of a run that ended, or that the user interrupted.

    Fields:
        results: number of result lines above.
        replays: the sum of their replays.
        not_run: planned cells that did not run.
        unreadable: selected files that cannot be used, by path; not in the file if there are none.
    """

    results: int
    replays: int
    interrupted: bool = False
    not_run: int = 0
    unreadable: tuple[UnreadableFile, ...] | msgspec.UnsetType = msgspec.UNSET


class Run(msgspec.Struct, frozen=True):
    """A run as read.

    Fields:
        results: sorted by cell; each cell once.
        cases: of turns, by cell.
        footer: None if the process was killed before it could write one.
        torn_lines: 1 if the last line of such a run is truncated, else 0.
        conversations: of agents, by cell.
        outputs: what clients wrote in cells that fail, by cell; none in runs of older harnesses.
    """

    header: Header
    results: tuple[Result, ...]
    cases: dict[str, Case]
    footer: Footer | None
    torn_lines: int = 0
    conversations: dict[str, ConversationCase] = msgspec.field(default_factory=dict)
    outputs: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every planned cell ran."""
        footer = self.footer
        return footer is not None and not (footer.interrupted or footer.unreadable)
