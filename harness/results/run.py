"""Define a run: a header, the results of all cells with their cases, and a footer.

This module reads neither a clock nor a random number, so that equal inputs make equal runs.
"""

from typing import TypeAlias

import msgspec

from harness.project import ClientKind, Role, SelectedEvidence
from harness.results.case import Case
from harness.results.conversation_case import ConversationCase
from harness.results.peer_facts import PeerFacts
from harness.results.result import Result
from harness.shipped import BUNDLED

SCHEMA = 3

# The detail page of a cell: of turns, or of a conversation.
AnyCase: TypeAlias = Case | ConversationCase

# The normalizer by whose turns models and prompts are ranked, if it took part.
REFERENCE = "reference"


class NormalizerFacts(msgspec.Struct, frozen=True):
    """What a normalizer declared when the run was made; sets are sorted tuples.

    Fields:
        versions: package -> version of its library and of what the library requires, the library
            first; empty for a client of this package, and in runs of older harnesses.
        has_script: whether `harness repro` writes scripts for it.
    """

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
    versions: dict[str, str] = {}
    has_script: bool = False


class AgentFacts(msgspec.Struct, frozen=True):
    """What an agent declared when the run was made; `versions` as in `NormalizerFacts`."""

    name: str
    role: Role = "conforming"
    summary: str = ""
    dialects: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    breaks: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    versions: dict[str, str] = {}


class Selection(msgspec.Struct, frozen=True, omit_defaults=True, rename={"requirement_set": "set"}):
    """The options of a run that decide which cells it judges.

    Fields:
        paths: files and folders as given on the command line.
        cuts: the mode of the chunkings, as in `harness run --cuts`.
        dialect: the dialect of all cassettes if the user sets it; else "".
        skipped: cells that `expectations.toml` excludes from the run.
        select: the filters `key:glob` of the subjects; "" if there were none.
        requirement_set: the name of the requirement set; "" if there was none.
        last_failed: whether the run has only the cells that failed in the previous run.
        evidence: `own` if the run judges third-party clients also by streams that no server is
            known to send; "" if it leaves these out.
        left_out: the cells that it leaves out for that reason.
        cells: the planned cells of such a run; () for other runs.
        recordings: whether the user selected recordings or models; else the bundled recordings are
            in the run, and count in no figure of a client.
    """

    paths: tuple[str, ...] = ()
    cuts: str = ""
    dialect: str = ""
    skipped: tuple[str, ...] = ()
    select: str = ""
    requirement_set: str = ""
    last_failed: bool = False
    evidence: SelectedEvidence = ""
    left_out: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    recordings: bool = False

    @property
    def chose_recordings(self) -> bool:
        """Whether recordings count for clients: the user selected them, or only other files."""
        return self.recordings or bool(self.paths and BUNDLED not in self.paths)

    @property
    def options(self) -> tuple[str, ...]:
        """The command-line options that select the same dialect; () if none was set."""
        return ("--dialect", self.dialect) if self.dialect else ()


class Header(msgspec.Struct, frozen=True, tag_field="type", tag="header"):
    """The first line of a run file: the harness, the clients and the options of the run.

    Fields:
        schema: version of the file format; a reader rejects a newer one.
        harness: version of the harness.
        normalizers: what each selected normalizer declares, in the order given.
        command: the command-line arguments that repeat the run.
        scenario_count: the number of selected subjects.
        agents: like `normalizers`; none in runs of older harnesses.
        peers: facts about the peers of a merged run, judged or not; none in other runs.
        cell_count: the number of planned cells; 0 in runs of older harnesses.
        interpreter: name and version of the Python interpreter; "" in runs of older harnesses.
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
    interpreter: str = ""

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

    def versions_of(self, name: str) -> dict[str, str]:
        """Return package -> version of the library of the client `name`, the library first."""
        known: tuple[NormalizerFacts | AgentFacts, ...] = (*self.normalizers, *self.agents)
        clients = (each for each in known if each.name == name)
        peer = (each for each in self.peers if each.name == name and each.version)
        found = next((each.versions for each in clients if each.versions), None)
        return found or next(({each.package: each.version} for each in peer), {})

    def version_of(self, name: str) -> str:
        """Return the version of the library of the client `name`; "" if it is not known."""
        return next(iter(self.versions_of(name).values()), "")

    def has_script(self, name: str) -> bool:
        """Return whether `harness repro` writes scripts for the client `name`."""
        agents = self.names_of_agents
        clients = any(each.name == name and each.has_script for each in self.normalizers)
        return clients or any(each.name == name not in agents for each in self.peers)

    def kind_of(self, name: str) -> ClientKind:
        """Return the kind of the client `name`: `sdk`, `gateway` or `agent`.

        Runs of older harnesses have gateways and agents only.
        """
        kinds = {each.name: each.kind for each in self.normalizers}
        agents = {each.name for each in self.agents}
        return kinds.get(name, "agent" if name in agents else "gateway")

    @property
    def known_wrong(self) -> frozenset[str]:
        """Names of the mutants and known-bad clients, which violate rules on purpose."""
        roles = {each.name: each.role for each in self.normalizers}
        roles |= {each.name: each.role for each in self.agents}
        return frozenset(name for name, role in roles.items() if role in ("mutant", "known-bad"))

    @property
    def lead(self) -> str:
        """The lead normalizer, which ranks models: `reference`, else the first one, else ""."""
        names = [normalizer.name for normalizer in self.normalizers]
        return REFERENCE if REFERENCE in names else next(iter(names), "")


class Output(msgspec.Struct, frozen=True, tag_field="type", tag="output"):
    """What the client of a failing cell wrote to standard output and standard error.

    Unlike a result, it may differ between equal runs.
    """

    cell: str
    text: str


class UnreadableFile(msgspec.Struct, frozen=True, order=True):
    """A selected file that the harness cannot use, so that its cells did not run.

    Fields:
        path: the path of the scenario, cassette or log.
        error: the error message: what is wrong, where, and what to do.
    """

    path: str
    error: str


class Footer(msgspec.Struct, frozen=True, tag_field="type", tag="footer"):
    """The last line of a run file, if the run ended or the user interrupted it.

    Fields:
        results: number of results in the file.
        replays: number of replays of all cells.
        not_run: number of planned cells that did not run.
        unreadable: selected files that the harness cannot use, by path; the key is missing if none.
    """

    results: int
    replays: int
    interrupted: bool = False
    not_run: int = 0
    unreadable: tuple[UnreadableFile, ...] | msgspec.UnsetType = msgspec.UNSET


class Run(msgspec.Struct, frozen=True):
    """A run, as `read_run` reads it from a run file.

    Fields:
        results: one for each cell, sorted by the id of the cell.
        cases: cell -> the case of its turns.
        footer: None if the process was killed before it could write one.
        torn_lines: 1 if the run was killed while it wrote the last line, else 0.
        conversations: cell -> the case of its conversation.
        outputs: failing cell -> what its client wrote; empty in runs of older harnesses.
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
