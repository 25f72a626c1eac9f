"""`[tool.harness]` of the nearest `pyproject.toml`: what a project declares about its conformance.

The file is searched from the working folder upwards, and read once a process. The first file with
the table counts. A key that is not declared here is an error, because a misspelt rule must not be
ignored silently.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from harness.errors import UnreadableError
from harness.files.load import load_toml_file
from harness.files.typed import File, Text, convert

FILE = "pyproject.toml"
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
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class DeclaredNormalizer(File, frozen=True):
    """A normalizer of the project. For a missing field, the declaration of `target` counts.

    Fields:
        target: `module:callable`, a function or a `Normalizer`.
        kind, dialects, capabilities, streams, hides, policies, text_dialects, summary: as in
            `Normalizer`.
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


class DeclaredAgent(File, frozen=True):
    """An agent of the project. For a missing field, the declaration of `target` counts."""

    target: Text
    dialects: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    policies: dict[str, str] | None = None
    summary: str | None = None


class Where(File, frozen=True, omit_defaults=True):
    """The facts of a run that a rule is about: a glob for each key, all of which must match.

    Fields:
        area: the folder of the scenario's id, such as `dashscope`.
        blame: only failures with this blame count against the rate.
    """

    normalizer: str = ""
    agent: str = ""
    model: str = ""
    prompt: str = ""
    provider: str = ""
    dialect: str = ""
    area: str = ""
    blame: Literal["", "model", "provider", "normalizer", "harness"] = ""


class GateRule(File, frozen=True, omit_defaults=True):
    """One bound for a rate of a run.

    Fields:
        min, max: bounds of the rate, from 0 to 1; at least one of them.
        basis: `point`, the rate itself, or `interval`, its whole 95 % interval.
        min_n: with fewer trials the verdict is `inconclusive`.
    """

    metric: Metric
    where: Where = Where()
    min: Share | None = None
    max: Share | None = None
    basis: Basis = "point"
    min_n: Annotated[int, msgspec.Meta(ge=1)] = 1


class Table(File, frozen=True, rename={"requirement_set": "set"}):
    """The table as in the file.

    Fields:
        paths: the scenarios and cassettes to replay if no PATHS are given; the bundled scenarios if
            there are none. The path `bundled` means those, too.
        select: filters for them such as `dialect:openai-chat`; "" for all.
        requirement_set, set: the name of the frozen set that limits the bundled files and the
            rules, in the file the key `set`; "" for none.
        cuts: how bodies are split, as with `--cuts`.
        gate: the rules that a run must fulfil.
        expectations: the file of expected failures; "" for `expectations.toml` if it exists.
        baseline: the file of known failing cells; "" for `harness-baseline.json` if it exists.
        history: how many runs `harness run` keeps in `runs/` of its output folder; 0 for none.
    """

    paths: tuple[str, ...] = ()
    select: str = ""
    requirement_set: str = ""
    cuts: CutsMode = "standard"
    normalizers: dict[str, DeclaredNormalizer] = msgspec.field(default_factory=dict)
    agents: dict[str, DeclaredAgent] = msgspec.field(default_factory=dict)
    gate: tuple[GateRule, ...] = ()
    expectations: str = ""
    baseline: str = ""
    history: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 30


class Project(msgspec.Struct, frozen=True):
    """The table, and the folder that its paths are relative to: that of the file.

    Fields:
        declared: whether a file has the table.
    """

    root: Path
    table: Table = Table()
    declared: bool = False


def project(start: Path | None = None) -> Project:
    """Return the project around `start`, by default around the working folder.

    Raises:
        UnreadableError: the file is not TOML, or the table has an unknown key or value.
    """
    start = Path.cwd() if start is None else start.resolve()
    for folder in (start, *start.parents):
        path = folder / FILE
        if not path.is_file():
            continue
        stat = path.stat()
        table = _read(path, stat.st_mtime_ns, stat.st_size)
        if table is not None:
            return Project(folder, table, declared=True)
    return Project(start)


@lru_cache(maxsize=16)
def _read(path: Path, _modified: int, _size: int) -> Table | None:
    tables = load_toml_file(path, most=MAX_BYTES)
    tool = tables.get("tool")
    table = tool.get("harness") if isinstance(tool, dict) else None
    if table is None:
        return None
    where = f"{path}: [tool.harness]"
    found = convert(table, Table, where)
    _check(found, where)
    return found


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
