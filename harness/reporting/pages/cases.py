"""The cases page: one failing cell with its bytes, deltas, turns, and the command that replays it.

Turns are compared as the rules compare them, so a field that is open shows no difference.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from harness.judging.case import Case
from harness.judging.conversations.case import ConversationCase
from harness.judging.expectation import ALL_FIELDS, Field
from harness.judging.results import Result, TurnFacts
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
from harness.reporting.report import Report
from harness.reporting.visible import Piece, pieces
from harness.reporting.words import worst_first
from harness.runs.flips import CellHistory
from harness.runs.gate import replay_command
from harness.runs.run import AnyCase, Selection
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking

_Pair: TypeAlias = tuple[str, str | None, str | None]
Parts: TypeAlias = tuple[tuple[Piece, ...], tuple[Piece, ...], tuple[Piece, ...]]

_CONTEXT = 80
_ABSENT: Parts = ((), (Piece("absent", "nothing"),), ())


class Difference(msgspec.Struct, frozen=True):
    """One field that differs; each side has the text before, the difference, and the text after."""

    path: str
    expected: Parts
    actual: Parts


def differences(
    expected: Turn, actual: Turn, judged: Iterable[Field] = ALL_FIELDS
) -> tuple[Difference, ...]:
    """Return the fields in which `actual` differs from `expected`, in reading order.

    Only `judged` fields count. An empty expected id of a call allows any id, and arguments are
    compared as JSON values.
    """
    return tuple(
        _difference(path, want, got)
        for field, pairs in _FIELDS.items()
        if field in judged
        for path, want, got in pairs(expected, actual)
    )


def _calls(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    sides = zip_longest(expected.tool_calls, actual.tool_calls)
    for index, (want, got) in enumerate(sides):
        path = f"tool_calls[{index}]"
        yield from _part(path, "name", want, got)
        yield from _part(path, "id", want, got, open_if="")
        if not (want and got and _same_json(want.arguments, got.arguments)):
            yield from _part(path, "arguments", want, got)


def _rejected(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    sides = zip_longest(expected.parse_errors, actual.parse_errors)
    for index, (want, got) in enumerate(sides):
        path = f"parse_errors[{index}]"
        for name in ("name", "id", "error"):
            yield from _part(path, name, want, got, open_if="")
        if not (want and got and want.snippet in got.snippet):
            yield from _part(path, "snippet", want, got)


def _failure(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    want, got = expected.failure, actual.failure
    yield from _part("failure", "code", want, got, open_if="*")
    if not (want and got and want.message in got.message):
        yield from _part("failure", "message", want, got)


def _usage(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    for name in ("input_tokens", "output_tokens"):
        yield from _part("usage", name, expected.usage, actual.usage)


def _turn_text(name: str) -> Callable[[Turn, Turn], Iterator[_Pair]]:
    """Return the comparison of a field of the turn itself."""

    def compare(expected: Turn, actual: Turn) -> Iterator[_Pair]:
        want, got = getattr(expected, name), getattr(actual, name)
        if want != got:
            yield name, want, got

    return compare


_FIELDS: dict[Field, Callable[[Turn, Turn], Iterator[_Pair]]] = {
    "text": _turn_text("text"),
    "reasoning": _turn_text("reasoning"),
    "calls": _calls,
    "rejected": _rejected,
    "finish": lambda want, got: _part("finish", "reason", want.finish, got.finish),
    "finish_raw": lambda want, got: _part("finish", "raw", want.finish, got.finish, open_if=""),
    "failure": _failure,
    "usage": _usage,
}


def _part(
    path: str,
    name: str,
    expected: msgspec.Struct | None,
    actual: msgspec.Struct | None,
    open_if: str | None = None,
) -> Iterator[_Pair]:
    """Yield field `name` if it differs; `open_if` is the expected text that allows any value.

    If the actual object is missing, an open field differs only if its text requires a value
    ("*").
    """
    want = None if expected is None else str(getattr(expected, name))
    got = None if actual is None else str(getattr(actual, name))
    is_open = open_if is not None and want == open_if and (got is not None or not open_if)
    if want != got and not is_open:
        yield f"{path}.{name}", want, got


def _same_json(one: str, other: str) -> bool:
    """Whether two texts are the same JSON value, key order and kinds of numbers included."""
    try:
        return json.dumps(json.loads(one)) == json.dumps(json.loads(other))
    except (ValueError, RecursionError):
        return False


def _difference(path: str, expected: str | None, actual: str | None) -> Difference:
    if expected is None or actual is None:
        return Difference(path, _all_of(expected), _all_of(actual))
    shortest = min(len(expected), len(actual))
    head = next((i for i in range(shortest) if expected[i] != actual[i]), shortest)
    tail = 0
    while tail < shortest - head and expected[-1 - tail] == actual[-1 - tail]:
        tail += 1
    return Difference(path, _three(expected, head, tail), _three(actual, head, tail))


def _all_of(text: str | None) -> Parts:
    return _ABSENT if text is None else ((), pieces(text, limit=600), ())


def _three(text: str, head: int, tail: int) -> Parts:
    end = len(text) - tail
    before, after = text[:head], text[end:]
    if len(before) > _CONTEXT:
        before = "…" + before[-_CONTEXT:]
    if len(after) > _CONTEXT:
        after = after[:_CONTEXT] + "…"
    return pieces(before), pieces(text[head:end], limit=600), pieces(after)


_SHOWN_CUTS = 12
_MAX_COMMAND_CUTS = 200
MAX_FINDINGS = 20
_FIELD = 2_000
_EVERYTHING = Selection()


class CaseView(msgspec.Struct, frozen=True):
    """One failing cell.

    Fields:
        case: its bytes and deltas; None if the run has none.
        failed_turn: the turn that the case shows, if it failed; else the first failed one. None
            if no turn failed.
        messages: of the request of that turn.
        turn: what the normalizer made of it.
        history: the outcomes over the runs; None if the cell did not flip.
        differences: fields of the turn that are not as expected.
        talk: the conversation, if the cell is one.
        findings: of the result, each rule explained once.
        output: what the client wrote to standard output and standard error.
    """

    result: Result
    case: Case | None
    chunking: str
    command: str
    differences: tuple[Difference, ...]
    lanes: Lanes | None
    talk: ConversationView | None
    findings: tuple[ExplainedFinding, ...]
    output: str
    failed_turn: TurnFacts | None = None
    history: CellHistory | None = None
    messages: tuple[MessageView, ...] = ()
    turn: tuple[tuple[str, tuple[Piece, ...]], ...] = ()


class CasesView(msgspec.Struct, frozen=True):
    """The cases of the page, worst first; `failing` cells of the run in all."""

    cases: tuple[CaseView, ...]
    failing: int


def cases_page(report: Report) -> CasesView:
    """Return the cases of the cells that bring their bytes."""
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
    """Return scenario -> the results of clients that are meant to be right."""
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
    """Return what a case shows of `result`; only its findings if `found` is None."""
    case = found if isinstance(found, Case) else None
    expected = case.expected if case else None
    return CaseView(
        result=result,
        case=case,
        chunking=_chunking(result.chunking, case),
        command=_command(result, selection),
        differences=differences(expected, case.actual, case.judged) if case and expected else (),
        lanes=lanes(case, result.findings, result.normalizer) if case else None,
        talk=conversation_view(result, found) if isinstance(found, ConversationCase) else None,
        findings=findings,
        output=output,
        failed_turn=_failed_turn(result, case),
        messages=_messages(case),
        turn=tuple(turn_fields(case.actual)) if case else (),
    )


def _failed_turn(result: Result, case: Case | None) -> TurnFacts | None:
    failed = [each for each in result.turns if not each.success]
    shown = (each for each in failed if case is None or each.interaction == case.interaction)
    return next(shown, None) or next(iter(failed), None)


def _messages(case: Case | None) -> tuple[MessageView, ...]:
    request = case.request if case else None
    if request is None:
        return ()
    return tuple(message_views(request.messages, request.left_out))


def turn_fields(turn: Turn) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    """Yield the name and the content of each part of a turn that is not empty."""
    if turn.reasoning:
        yield "reasoning", pieces(turn.reasoning, limit=_FIELD)
    if turn.text:
        yield "text", pieces(turn.text, limit=_FIELD)
    for call in turn.tool_calls:
        yield f"call {call.name}", pieces(call.arguments, limit=_FIELD)
    for error in turn.parse_errors:
        said = f"{error.error}: {error.snippet}" if error.snippet else error.error
        yield f"unusable call {error.name}".rstrip(), pieces(said, limit=_FIELD)
    if turn.finish:
        yield "finish", pieces(f"{turn.finish.reason} ({turn.finish.raw or 'empty'})")
    if turn.failure:
        yield "failure", pieces(f"{turn.failure.code} {turn.failure.message}", limit=_FIELD)


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


def _command(result: Result, selection: Selection) -> str:
    """Return the command for a shell; without `--cuts`, `replay` searches for the smallest."""
    words = [*selection.options]
    if result.kind == "conversation":
        return replay_command(result.cell, selection.paths, words)
    if not result.outcome.fails:  # so that it has no failing replay
        return replay_command(result.cell, selection.paths, words)
    if result.interaction:
        words += ["--interaction", str(result.interaction)]
    if not result.chunking:
        words += ["--cuts", "whole"]
    elif _each_byte(result.chunking):
        words += ["--cuts", "each-byte"]
    elif len(result.chunking) <= _MAX_COMMAND_CUTS:
        words += ["--cuts", ",".join(map(str, result.chunking))]
    return replay_command(result.cell, selection.paths, words)
