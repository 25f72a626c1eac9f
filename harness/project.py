"""`[tool.harness]` of the nearest `pyproject.toml`: what a project declares about its conformance.

A project without `pyproject.toml` has the same keys at the top of `harness.toml`. The files are
searched from the working folder upwards, and read once a process. The first file with the table
counts. A key that is not declared here is an error, because a misspelt rule must not be
ignored silently.
"""

import os
import re
from collections.abc import Container, Mapping
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from harness.errors import UnreadableError
from harness.files.load import load_toml_file
from harness.files.typed import File, Text, convert
from harness.wording import nearest_name

FILE = "pyproject.toml"
PLAIN_FILE = "harness.toml"
MAX_BYTES = 1 << 20

# What a rule may measure; `harness.verdicts.gate` defines how each is counted.
Metric = Literal[
    "conformance",
    "silent_wrong",
    "lost_call",
    "crash",
    "hang",
    "leak",
    "mismatch",
    "unjudged",
    "turn_success",
    "parse_error_rate",
    "unjudged_turns",
    "conversation_success",
    "retries",
    "recovery",
]
Basis = Literal["point", "interval"]
# What a client promises: an SDK hands the provider's words to its caller, a gateway normalizes
# them, and an agent executes calls.
ClientKind = Literal["sdk", "gateway", "agent"]
Role = Literal["conforming", "known-bad", "mutant", "peer"]
CutsMode = Literal["whole", "quick", "standard", "every"]
# `own`: also streams that no server is known to send.
SelectedEvidence = Literal["", "own"]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]

_SIMILAR = 0.8  # `hatch` and others are not
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


_OF_GATEWAYS = ("upstream", "command", "model", "headers", "front", "read_with")


class DeclaredNormalizer(File, frozen=True):
    """A normalizer that the project declares. A missing field has the value that `target` declares.

    Fields:
        target: `module:callable`, a function or a `Normalizer`; `client:COMMAND`; or
            `gateway:URL`, the address of an endpoint of a gateway.
        kind, dialects, capabilities, streams, hides, policies, text_dialects, summary: as in
            `Normalizer`.
        upstream: for a gateway, the port that it asks; 0 for any, which the command gets.
        command: for a gateway, the command that starts it, with `{port}` and `{upstream}`.
        model: for a gateway, its name of the model.
        headers: for a gateway, headers to send to it.
        front: for a gateway, the dialect of the endpoint, if its path does not show it.
        read_with: for a gateway, the normalizer that reads its answers, such as `anthropic-sdk`.
    """

    target: Text
    kind: ClientKind | None = None
    dialects: tuple[str, ...] | None = None
    capabilities: tuple[str, ...] | None = None
    streams: bool | None = None
    hides: tuple[str, ...] | None = None
    policies: dict[str, str] | None = None
    text_dialects: tuple[str, ...] | None = None
    summary: str | None = None
    upstream: int | None = None
    command: str | None = None
    model: str | None = None
    headers: dict[str, str] | None = None
    front: str | None = None
    read_with: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The declared values of fields that every normalizer has, without `target`."""
        return _given(self, but={"target", *_OF_GATEWAYS})

    @property
    def of_gateway(self) -> tuple[str, ...]:
        """The names of the declared values that only a gateway has."""
        return tuple(name for name in _OF_GATEWAYS if getattr(self, name) is not None)


class DeclaredAgent(File, frozen=True):
    """An agent that the project declares. A missing field has the value that `target` declares."""

    target: Text
    dialects: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    policies: dict[str, str] | None = None
    summary: str | None = None
    of_gateway: ClassVar[tuple[str, ...]] = ()

    @property
    def values(self) -> dict[str, Any]:
        """The declared values, without `target`."""
        return _given(self, but={"target"})


def _given(declared: File, but: Container[str]) -> dict[str, Any]:
    values = {name: getattr(declared, name) for name in declared.__struct_fields__}
    return {name: it for name, it in values.items() if it is not None and name not in but}


class Where(File, frozen=True, omit_defaults=True):
    """The results to which a gate rule applies: a glob for each key, all of which must match.

    Fields:
        area: the first folder of the scenario's id, such as `dashscope`.
        blame: only failures with this blame count against the rate.
    """

    normalizer: str = ""
    agent: str = ""
    model: str = ""
    prompt: str = ""
    provider: str = ""
    dialect: str = ""
    area: str = ""
    blame: Literal[
        "", "model", "provider", "model or provider", "request", "normalizer", "harness"
    ] = ""


class GateRule(File, frozen=True, omit_defaults=True):
    """A rule of the gate: a bound for one rate of a run.

    Fields:
        metric: the rate.
        where: the results that count; by default all.
        min, max: bounds of the rate, from 0 to 1; at least one of them.
        basis: `point` to compare the rate itself, `interval` its entire 95 % confidence interval.
        min_n: with fewer trials the verdict is `inconclusive`.
    """

    metric: Metric
    where: Where = Where()
    min: Share | None = None
    max: Share | None = None
    basis: Basis = "point"
    min_n: Annotated[int, msgspec.Meta(ge=1)] = 1


class Table(File, frozen=True, rename={"requirement_set": "set"}):
    """The content of the table `[tool.harness]`.

    Fields:
        paths: the scenarios and cassettes to replay if no PATHS are given; the bundled scenarios if
            there are none. The path `bundled` also means the bundled scenarios.
        select: filters for the scenarios and cassettes, such as `dialect:openai-chat`; "" for all.
        requirement_set, set: the name of the requirement set (a frozen list of bundled files and
            rules), in the file the key `set`; "" for none.
        cuts: how bodies are split, as with `--cuts`.
        evidence: `own` to judge clients also by streams that no server is known to send; "" to
            leave these out.
        gate: the rules that a run must fulfil.
        expectations: the file of accepted failures; "" for `expectations.toml` if it exists.
        baseline: the file of known failing cells; "" for `harness-baseline.json` if it exists.
        history: how many runs `harness run` keeps in `runs/` of its output folder; 0 for none.
    """

    paths: tuple[str, ...] = ()
    select: str = ""
    requirement_set: str = ""
    cuts: CutsMode = "standard"
    evidence: SelectedEvidence = ""
    normalizers: dict[str, DeclaredNormalizer] = msgspec.field(default_factory=dict)
    agents: dict[str, DeclaredAgent] = msgspec.field(default_factory=dict)
    gate: tuple[GateRule, ...] = ()
    expectations: str = ""
    baseline: str = ""
    history: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 30


class Project(msgspec.Struct, frozen=True):
    """The declarations of a project, and the folder to which paths in them are relative.

    Fields:
        root: the folder of the file, `pyproject.toml` or `harness.toml`.
        declared: whether there is such a file with the declarations.
    """

    root: Path
    table: Table = Table()
    declared: bool = False


def project(start: Path | None = None) -> Project:
    """Return the project that contains the folder `start`, by default the working folder.

    Raises:
        UnreadableError: a file is not TOML, or the table has an unknown key or value.
    """
    here = os.getcwd() if start is None else str(start.resolve())  # noqa: PTH109 - see `_places`
    for folder, path in _places(here):
        try:
            stat = os.stat(path)  # noqa: PTH116 - see `_places`
        except OSError:
            continue
        if not S_ISREG(stat.st_mode):
            continue
        table = _read(path, stat.st_mtime_ns, stat.st_size)
        if table is not None:
            return Project(folder, table, declared=True)
    return Project(Path(here))


@lru_cache(maxsize=16)
def _places(start: str) -> tuple[tuple[Path, str], ...]:
    """Return `start` and the folders above it, each with the path that each file has there.

    The paths are kept, because a selection needs them several times for each cell.
    """
    inner = Path(start)
    folders = (inner, *inner.parents)
    return tuple((folder, str(folder / name)) for folder in folders for name in (FILE, PLAIN_FILE))


@lru_cache(maxsize=16)
def _read(path: str, _modified: int, _size: int) -> Table | None:
    tables = load_toml_file(Path(path), most=MAX_BYTES)
    table: object = tables
    where = path
    if Path(path).name == FILE:
        tool = tables.get("tool")
        table = tool.get("harness") if isinstance(tool, dict) else None
        if isinstance(tool, dict) and table is None:
            _refuse_misspelt(tool, path)
        if table is None:
            return None
        where = f"{path}: [tool.harness]"
    found = convert(table, Table, where)
    _check(found, where)
    return found


def _refuse_misspelt(tool: Mapping[str, object], path: str) -> None:
    """Refuse a table with nearly the right name, because its rules would be ignored."""
    for name in tool:
        if nearest_name(name.lower(), ("harness",), _SIMILAR):
            raise UnreadableError(
                f"expected [tool.harness], found [tool.{name}]",
                where=path,
                hint="Correct the name of the table.",
            )


def _check(found: Table, where: str) -> None:
    for kind, names in (("normalizers", found.normalizers), ("agents", found.agents)):
        for name in names:
            if not _NAME.fullmatch(name):
                raise UnreadableError(
                    f"{kind}: {name!r} is not a name: expected letters, digits, '.', '_' and '-'",
                    where=where,
                )
    for place, rule in enumerate(found.gate):
        if problem := _problem(rule):
            raise UnreadableError(f"gate[{place}]: {problem}", where=where)


def _problem(rule: GateRule) -> str:
    if rule.min is None and rule.max is None:
        return "expected `min` or `max`"
    if rule.min is not None and rule.max is not None and rule.min > rule.max:
        return f"`min` {rule.min} is above `max` {rule.max}: no rate can satisfy both"
    if rule.where.blame and rule.metric in ("retries", "recovery"):
        return f"`blame` means nothing to {rule.metric}"
    if rule.basis == "interval" and (rule.min == 1 or rule.max == 0):
        return 'no interval reaches 0 or 1: choose a bound between, or basis = "point"'
    return ""
