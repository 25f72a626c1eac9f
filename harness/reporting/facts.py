"""STAND-IN until harness.runs exists."""
from typing import Any
import msgspec
from harness.judging.cases import Case
from harness.judging.results import Result

class ParseErrorSplit(msgspec.Struct, frozen=True):
    model: int = 0
    provider: int = 0
    normalizer: int = 0

class Ranked(msgspec.Struct, frozen=True):
    name: str
    k: int
    n: int
    low: float
    high: float
    rank_low: int
    rank_high: int
    parse_error: ParseErrorSplit

class Rankings(msgspec.Struct, frozen=True):
    models: tuple[Ranked, ...]
    prompts: tuple[Ranked, ...]
    normalizers: tuple[Ranked, ...]

class Gate(msgspec.Struct, frozen=True):
    verdict: str
    reasons: tuple[str, ...]

class NormalizerFacts(msgspec.Struct, frozen=True):
    name: str
    role: str = "meant-to-pass"
    summary: str = ""
    dialects: tuple[str, ...] = ()
    policies: dict[str, str] = {}
    breaks: tuple[str, ...] = ()

class Header(msgspec.Struct, frozen=True):
    harness: str
    schema: int
    selection: tuple[str, ...]
    normalizers: tuple[NormalizerFacts, ...]
    command: str

class Footer(msgspec.Struct, frozen=True):
    results: int
    replays: int
    interrupted: bool = False

class Run(msgspec.Struct, frozen=True):
    header: Header
    results: tuple[Result, ...]
    footer: Footer | None
    cases: dict[str, Case]
