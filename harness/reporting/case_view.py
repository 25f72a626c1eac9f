"""A failing result and its case -> what the case page shows, and the command that repeats it."""

import msgspec

from harness.judging.cases import Case
from harness.judging.conversations.case import ConversationCase
from harness.judging.results import Finding, Result
from harness.reporting.conversation_view import ConversationView, conversation_view
from harness.reporting.lanes import Lanes, lanes
from harness.reporting.turn_diff import Difference, differences
from harness.reporting.visible import Piece, pieces
from harness.reporting.words import WORD, OutcomeWord
from harness.runs.gate import reproduce
from harness.runs.run import AnyCase, Selection
from harness.wire.cuts import Chunking

_SHOWN_CUTS = 12
_MAX_COMMAND_CUTS = 200
_MAX_FINDINGS = 20
_EVERYTHING = Selection()


class FindingView(msgspec.Struct, frozen=True):
    """A finding with its texts made visible."""

    finding: Finding
    word: OutcomeWord
    expected: tuple[Piece, ...]
    actual: tuple[Piece, ...]


class CaseView(msgspec.Struct, frozen=True):
    """One failing cell.

    Fields:
        lanes: None where the run holds no bytes of it.
        differences: fields of the turn that are not as expected.
        expects: whether the run says which turn should have come out.
        talk: the conversation, where the cell is one.
    """

    result: Result
    word: OutcomeWord
    findings: tuple[FindingView, ...]
    more_findings: int
    chunking: str
    command: str
    error: tuple[Piece, ...]
    expects: bool
    differences: tuple[Difference, ...]
    lanes: Lanes | None
    talk: ConversationView | None = None


def case_view(
    result: Result, found: AnyCase | None, selection: Selection = _EVERYTHING
) -> CaseView:
    """Return what is shown of `result`; where `found` is None that is its findings alone."""
    case = found if isinstance(found, Case) else None
    talk = conversation_view(result, found) if isinstance(found, ConversationCase) else None
    expected = case.expected if case else None
    return CaseView(
        result=result,
        word=WORD[result.outcome],
        findings=tuple(_finding(each) for each in result.findings[:_MAX_FINDINGS]),
        more_findings=max(0, len(result.findings) - _MAX_FINDINGS),
        chunking=_chunking(result.chunking, case),
        command=_command(result, selection),
        error=pieces(case.error) if case else (),
        expects=expected is not None,
        differences=differences(expected, case.actual, case.judged) if case and expected else (),
        lanes=lanes(case, result.findings, result.normalizer) if case else None,
        talk=talk,
    )


def _finding(finding: Finding) -> FindingView:
    return FindingView(
        finding=finding,
        word=WORD[finding.outcome],
        expected=pieces(finding.expected, limit=800),
        actual=pieces(finding.actual, limit=800),
    )


def _chunking(cuts: Chunking, case: Case | None) -> str:
    size = f" of {len(case.body):,} bytes" if case and not case.cut else ""
    if not cuts:
        return f"the whole body{size} in one read"
    if _each_byte(cuts):
        return f"each byte{size} in a read of its own"
    shown = ", ".join(f"{cut:,}" for cut in cuts[:_SHOWN_CUTS])
    more = f" and {len(cuts) - _SHOWN_CUTS:,} more" if len(cuts) > _SHOWN_CUTS else ""
    noun = "a cut at byte" if len(cuts) == 1 else f"{len(cuts):,} cuts at bytes"
    return f"{noun} {shown}{more}{size}"


def _each_byte(cuts: Chunking) -> bool:
    return len(cuts) > _SHOWN_CUTS and cuts[0] == 1 and cuts[-1] == len(cuts)


def _command(result: Result, selection: Selection) -> str:
    """Return the command for a shell; without cuts `replay` looks for the smallest itself."""
    words = [*selection.options]
    if result.kind == "conversation":
        return reproduce(result.cell, selection.paths, words)
    if result.interaction:
        words += ["--interaction", str(result.interaction)]
    if not result.chunking:
        words += ["--cuts", "whole"]
    elif _each_byte(result.chunking):
        words += ["--cuts", "each-byte"]
    elif len(result.chunking) <= _MAX_COMMAND_CUTS:
        words += ["--cuts", ",".join(map(str, result.chunking))]
    return reproduce(result.cell, selection.paths, words)
