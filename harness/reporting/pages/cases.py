"""The cases page: one failing cell with its bytes, deltas and turns, and how to replay it."""

import base64
import zlib

import msgspec
from msgspec.structs import replace

from harness.reporting.charts.lanes import Lanes, lanes
from harness.reporting.explanation import ExplainedFinding, explain_findings
from harness.reporting.pages.conversations import (
    ConversationView,
    MessageView,
    conversation_view,
    message_views,
)
from harness.reporting.pages.failures import cells_with_case
from harness.reporting.pages.trends import cell_histories
from harness.reporting.part_rows import PartRow, part_rows
from harness.reporting.report import Report
from harness.reporting.words import worst_first
from harness.results.case import Case
from harness.results.conversation_case import ConversationCase
from harness.results.result import ConversationFacts, Result, TurnFacts
from harness.results.run import AnyCase, Selection
from harness.verdicts.flips import CellHistory
from harness.verdicts.gate import replay_command
from harness.wire.cuts import Chunking

_SHOWN_CUTS = 12
_MAX_COMMAND_CUTS = 200
MAX_FINDINGS = 20
# Of a body in base64, as part of the page.
_MAX_PACKED = 8 * 1024
_EVERYTHING = Selection()


class CaseView(msgspec.Struct, frozen=True):
    """The data of a failing cell on the cases page.

    Fields:
        case: the bytes and deltas of the cell; None if the run file has no case for it.
        chunking: how the bytes are split into the reads that the lanes show, as text.
        smallest: the smallest failing chunking if the lanes show the recorded reads; else "".
        failed: the facts about the turn that the case shows, if it failed; else about the first
            failed turn, or the failed conversation; None if nothing failed.
        messages, reply: the messages of that turn's request, and the turn of the normalizer.
        turn: the expected turn next to the turn of the normalizer.
        differs: whether the two differ.
        history: the outcomes in earlier runs; None if the cell never changed from passing to
            failing.
        talk: the conversation, if the cell judges one.
        findings: the findings of the result, each rule explained once.
        output: the text that the client wrote to standard output and standard error.
        body: the bytes, deflated and in base64; "" if they are too long for the page.
    """

    result: Result
    case: Case | None
    chunking: str
    smallest: str
    command: str
    turn: tuple[PartRow, ...]
    differs: bool
    lanes: Lanes | None
    talk: ConversationView | None
    findings: tuple[ExplainedFinding, ...]
    output: str
    body: str
    failed: TurnFacts | ConversationFacts | None = None
    history: CellHistory | None = None
    messages: tuple[MessageView, ...] = ()
    reply: tuple[PartRow, ...] = ()

    @property
    def traceback(self) -> str:
        """Where the client raised its exception, and the exception; "" if it raised none."""
        if self.case is not None:
            trace, error = self.case.crash and self.case.crash.trace, self.case.error
        elif self.talk is not None:
            trace, error = self.talk.case.trace, self.talk.case.error
        else:
            return ""
        return "\n".join(filter(None, (trace or "", error)))


class CasesView(msgspec.Struct, frozen=True):
    """The failing cells that the page shows, worst first; `failing` counts all of the run."""

    cases: tuple[CaseView, ...]
    failing: int


def cases_page(report: Report) -> CasesView:
    """Return the cells whose case (bytes and deltas) the page shows."""
    run = report.run
    cells = [report.results[cell] for cell in report.of(cells_with_case)]
    found: dict[str, AnyCase] = {**run.conversations, **run.cases}
    cases = (
        case_view(
            each,
            found.get(each.cell),
            run.header.selection,
            _explained(each, report),
            run.outputs.get(each.cell, ""),
        )
        for each in sorted(cells, key=worst_first)
    )
    flipped = report.of(cell_histories)
    shown = (replace(each, history=flipped.get(each.result.cell)) for each in cases)
    return CasesView(tuple(shown), sum(each.outcome.fails for each in run.results))


def _explained(result: Result, report: Report) -> tuple[ExplainedFinding, ...]:
    others = report.of(_results_by_scenario)[result.scenario]
    kind = report.run.header.kind_of(result.normalizer)
    return explain_findings(result, kind, others, report.context.quirks)


def _results_by_scenario(report: Report) -> dict[str, list[Result]]:
    """Return scenario -> the results of conforming clients."""
    found: dict[str, list[Result]] = {each.scenario: [] for each in report.run.results}
    wrong = report.run.header.known_wrong
    for each in report.run.results:
        if each.normalizer not in wrong:
            found[each.scenario].append(each)
    return found


def case_view(
    result: Result,
    found: AnyCase | None,
    selection: Selection = _EVERYTHING,
    findings: tuple[ExplainedFinding, ...] = (),
    output: str = "",
) -> CaseView:
    """Return the data of `result` for the page; only its findings if `found`, its case, is None."""
    case = found if isinstance(found, Case) else None
    is_recorded = case is not None and case.chunking != result.chunking
    turn = part_rows(case.expected, case.actual, case.judged) if case else ()
    return CaseView(
        result=result,
        case=case,
        chunking=_chunking(case.chunking if case else result.chunking, case),
        smallest=_chunking(result.chunking, case) if is_recorded and result.outcome.fails else "",
        command=_command(result, case, selection),
        turn=turn,
        differs=any(row.expected for row in turn),
        lanes=lanes(case, result.findings, result.normalizer) if case else None,
        talk=conversation_view(result, found) if isinstance(found, ConversationCase) else None,
        findings=findings,
        output=output,
        body=_packed(case) if case else "",
        failed=_failed(result, case),
        messages=_messages(case),
        reply=part_rows(None, case.actual) if case and case.request else (),
    )


def _packed(case: Case) -> str:
    if case.cut:
        return ""
    packed = base64.b64encode(zlib.compress(case.body, 9)).decode()
    return packed if len(packed) <= _MAX_PACKED else ""


def _failed(result: Result, case: Case | None) -> TurnFacts | ConversationFacts | None:
    if result.conversation:
        return None if result.conversation.success else result.conversation
    failed = [each for each in result.turns if not each.success]
    shown = (each for each in failed if case is None or each.interaction == case.interaction)
    return next(shown, None) or next(iter(failed), None)


def _messages(case: Case | None) -> tuple[MessageView, ...]:
    request = case.request if case else None
    if request is None:
        return ()
    return tuple(message_views(request.messages, request.left_out))


def _chunking(cuts: Chunking, case: Case | None) -> str:
    size = f" of {len(case.body):,} bytes" if case and not case.cut else ""
    if not cuts:
        return f"the entire body{size} in one read"
    if _each_byte(cuts):
        return f"each byte{size} in a separate read"
    shown = ", ".join(f"{cut:,}" for cut in cuts[:_SHOWN_CUTS])
    more = f" and {len(cuts) - _SHOWN_CUTS:,} more" if len(cuts) > _SHOWN_CUTS else ""
    noun = "a cut at byte" if len(cuts) == 1 else f"{len(cuts):,} cuts at bytes"
    return f"{noun} {shown}{more}{size}"


def _each_byte(cuts: Chunking) -> bool:
    return len(cuts) > _SHOWN_CUTS and cuts[0] == 1 and cuts[-1] == len(cuts)


def _command(result: Result, case: Case | None, selection: Selection) -> str:
    """Return the shell command that replays what the case shows."""
    words = [*selection.options]
    interaction = case.interaction if case else result.interaction
    if result.kind == "conversation" or not (result.outcome.fails or case):
        return replay_command(result.cell, selection.paths, words)
    if interaction:
        words += ["--interaction", str(interaction)]
    if case and case.chunking != result.chunking:
        words += ["--cuts", "recorded"]
    elif not result.chunking:
        words += ["--cuts", "whole"]
    elif _each_byte(result.chunking):
        words += ["--cuts", "each-byte"]
    elif len(result.chunking) <= _MAX_COMMAND_CUTS:
        words += ["--cuts", ",".join(map(str, result.chunking))]
    return replay_command(result.cell, selection.paths, words)
