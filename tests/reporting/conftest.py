"""A sample run, built from code: what a day with three normalizers looks like in small.

Four emulated scenarios with their cases (a lost call, a call made wrong in silence, a
crash, hostile text), and imported turns of three models under two prompts.
"""

import json

import pytest

from harness.judging.cases import Case
from harness.judging.results import Blame, Emission, Finding, Outcome, Result, TurnFacts
from harness.runs.run import SCHEMA, Footer, Header, NormalizerFacts, Run, Selection
from harness.turns.calls import ParseError
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.wire.sse import SSEDecoder

HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(1)> \x1b[31mred \u202egnp.exe'

NORMALIZERS = (
    NormalizerFacts(
        "reference",
        summary="Reads every catalogued spelling strictly.",
        dialects=("openai-chat",),
        policies={"name": "by-tools"},
    ),
    NormalizerFacts(
        "dashscope-restore",
        summary="Restores ids and names that later chunks blank out.",
        dialects=("openai-chat",),
    ),
    NormalizerFacts(
        "naive",
        role="ancestor",
        summary="Merges chunks as they come: empty strings overwrite.",
        dialects=("openai-chat",),
        breaks=("call-name-kept",),
    ),
)


def _sse(*deltas: object, finish: str = "tool_calls", done: bool = True) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    events = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
    return "".join([*events, "data: [DONE]\n\n" if done else ""]).encode()


def _call(call_id: str | None, name: str | None, arguments: str) -> object:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": call_id, "type": "function", "function": function}]}


def _said(body: bytes, *deltas: Delta) -> tuple[Emission, ...]:
    step = len(body) // (len(deltas) + 1)
    return tuple(Emission(delta, step * (place + 1)) for place, delta in enumerate(deltas))


def _case(
    cell: str, body: bytes, cuts: tuple[int, ...], actual: tuple[Delta, ...],
    reference: tuple[Delta, ...], error: str = "",
) -> Case:
    decoder = SSEDecoder()
    frames = (*decoder.feed(body), *decoder.close())
    return Case(
        cell=cell,
        interaction=0,
        body=body,
        chunking=cuts,
        frames=frames,
        deltas=_said(body, *actual),
        reference=_said(body, *reference),
        error=error,
        expected=fold(reference),
        actual=fold(actual),
    )


def _whole_call(name: str, *fragments: str, end: Delta | None = None) -> tuple[Delta, ...]:
    return (
        ToolCallStart(0, "call_7f3a", name),
        *(ArgumentsDelta(0, fragment) for fragment in fragments),
        end or ToolCallEnd(0),
        Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    )


_WEATHER = ('{"city": ', '"杭州", ', '"unit": "celsius"', "}")
_TEXT = (
    TextDelta("The file is "),
    TextDelta(HOSTILE),
    Finish(FinishReason.STOP, "stop"),
)

BLANKED = _sse(
    _call("call_7f3a", "get_weather", ""), *(_call("", "", part) for part in _WEATHER)
)
TRUNCATED = _sse(
    _call("call_7f3a", "get_weather", '{"city": '), _call("", "", '"Hang'), finish="length",
)
CRLF = _sse(_call("call_7f3a", "get_weather", ""), _call("", "", "".join(_WEATHER))).replace(
    b"\n", b"\r\n"
)
MARKUP = _sse({"content": "The file is "}, {"content": HOSTILE}, finish="stop")
LONG = _sse(
    _call("call_7f3a", "write_file", ""),
    *(_call(None, None, f"{number:04d},") for number in range(400)),
)


def _finding(
    rule: str, outcome: Outcome, path: str, expected: str, actual: str, offset: int | None = None
) -> Finding:
    return Finding(rule, "MUST", outcome, path, expected, actual, offset)


def _result(
    scenario: str, normalizer: str, title: str, *findings: Finding, quirks: tuple[str, ...],
    cuts: tuple[int, ...] = (), conforming: Outcome = Outcome.PASS, blame: Blame = "",
) -> Result:
    outcome = findings[0].outcome if findings else conforming
    return Result(
        cell=f"{scenario}/{normalizer}",
        scenario=scenario,
        title=title,
        cassette=f"dashscope/qwen-plus/{scenario.rpartition('/')[2]}",
        normalizer=normalizer,
        outcome=outcome,
        blame="normalizer" if findings else blame,
        findings=findings,
        chunking=cuts,
        interaction=0,
        replays=1_214,
        turns=(),
        quirks=quirks,
        provider="dashscope",
        model="qwen-plus",
        prompt="native-tools/v1",
        dialect="openai-chat",
        origin="emulated",
    )


_FAILURES: dict[str, tuple[str, tuple[str, ...], bytes, tuple[Delta, ...], tuple[Finding, ...], tuple[Delta, ...], tuple[int, ...], str]] = {
    "openai-chat/blanked-id-and-name": (
        "Later chunks repeat id and name as empty strings",
        ("DELTA-ID-EMPTY-LATER", "DELTA-NAME-EMPTY-LATER"),
        BLANKED,
        _whole_call("get_weather", *_WEATHER),
        (_finding("call-name-kept", Outcome.LOST_CALL, "turns[0].calls[0].name", "get_weather", "", BLANKED.index(b'"name": ""')),
         _finding("call-id-kept", Outcome.MISMATCH, "turns[0].calls[0].id", "call_7f3a", "")),
        (ToolCallStart(0, "", ""), *(ArgumentsDelta(0, part) for part in _WEATHER),
         ToolCallRejected(0, ParseError("tool_use", "unknown tool ''")), Finish(FinishReason.TOOL_CALLS, "tool_calls")),
        (),
        "",
    ),
    "openai-chat/truncated-arguments": (
        "The stream ends inside the arguments",
        ("ARGS-TRUNCATED",),
        TRUNCATED,
        _whole_call("get_weather", '{"city": ', '"Hang', end=ToolCallRejected(0, ParseError("tool_use", "truncated"))),
        (_finding("truncated-never-executed", Outcome.SILENT_WRONG, "turns[0].calls[0]", "rejected: truncated", '{"city": "Hang"}', TRUNCATED.index(b"Hang")),),
        _whole_call("get_weather", '{"city": ', '"Hang"}'),
        (),
        "",
    ),
    "openai-chat/crlf-cut-inside": (
        "CRLF line ends, cut between CR and LF and inside a character",
        ("SSE-CRLF", "CUT-INSIDE-CHARACTER"),
        CRLF,
        _whole_call("get_weather", "".join(_WEATHER)),
        (_finding("never-raises", Outcome.CRASH, "turns[0]", "no exception", "UnicodeDecodeError"),),
        (ToolCallStart(0, "call_7f3a", "get_weather"),),
        (CRLF.index(b"\r\n") + 1, CRLF.index("杭".encode()) + 1),
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe6 in position 14",
    ),
    "openai-chat/hostile-text": (
        f"Markup in text stays text: {HOSTILE}",
        ("TEXT-MARKUP",),
        MARKUP,
        _TEXT,
        (_finding("text-exact", Outcome.MISMATCH, "turns[0].text", HOSTILE, HOSTILE.replace("<", "&lt;")),),
        (TextDelta("The file is "), TextDelta(HOSTILE.replace("<", "&lt;")), Finish(FinishReason.STOP, "stop")),
        tuple(range(1, len(MARKUP))),
        "",
    ),
    "openai-chat/four-hundred-fragments": (
        "Arguments in four hundred fragments",
        ("DELTA-MANY-FRAGMENTS",),
        LONG,
        _whole_call("write_file", *(f"{number:04d}," for number in range(400))),
        (_finding("arguments-exact", Outcome.SILENT_WRONG, "turns[0].calls[0].arguments", "0000,0001,…", "…0199,0201,…", LONG.index(b"0200,")),),
        _whole_call("write_file", *(f"{number:04d}," for number in range(400) if number != 200)),
        (1_200, LONG.index(b"0200,") + 2),
        "",
    ),
}


def _imported(normalizer: str) -> list[Result]:
    plan = (("qwen-plus", "native-tools/v1", 48, 2), ("qwen-plus", "json-fallback/v2", 31, 9),
            ("deepseek-v3", "native-tools/v1", 36, 5), ("glm-4", "native-tools/v1", 6, 0))
    return [
        _turn(normalizer, model, prompt, number, success=number >= broken)
        for model, prompt, total, broken in plan
        for number in range(total)
    ]


def _turn(normalizer: str, model: str, prompt: str, number: int, *, success: bool) -> Result:
    blame: Blame = "" if success else ("provider" if number % 3 == 0 else "model")
    facts = TurnFacts(
        interaction=0,
        success=success,
        why="" if success else "the arguments are not JSON",
        blame=blame,
        calls=1,
        parse_errors=0 if success else 1,
        parse_error_blame=blame,
        finish="tool_calls",
        failure="",
    )
    cassette = f"{model}/{prompt.replace('/', '-')}/{number:03d}"
    return Result(
        cell=f"cassette:{cassette}/{normalizer}",
        scenario=f"cassette:{cassette}",
        title=cassette,
        cassette=cassette,
        normalizer=normalizer,
        outcome=Outcome.PASS if success else Outcome.PARSE_ERROR,
        blame=blame,
        findings=(),
        chunking=(),
        interaction=0,
        replays=40,
        turns=(facts,),
        quirks=(),
        provider="dashscope",
        model=model,
        prompt=prompt,
        dialect="openai-chat",
        origin="imported",
    )


def build() -> Run:
    """Return the sample run."""
    results: list[Result] = []
    cases: dict[str, Case] = {}
    for scenario, (title, quirks, body, reference, findings, actual, cuts, error) in _FAILURES.items():
        for good in ("reference", "dashscope-restore"):
            results.append(_result(scenario, good, title, quirks=quirks))
        failing = _result(scenario, "naive", title, *findings, quirks=quirks, cuts=cuts)
        results.append(failing)
        cases[failing.cell] = _case(failing.cell, body, cuts, actual, reference, error)
    for normalizer in ("reference", "naive"):
        results += _imported(normalizer)
    results.sort(key=lambda each: each.cell)
    return Run(
        header=Header(
            schema=SCHEMA,
            harness="0.1.0",
            normalizers=NORMALIZERS,
            selection=Selection(("scenarios", "cassettes"), "exhaustive"),
            command=("harness", "run", "scenarios", "cassettes", "-n", "reference", "-n", "dashscope-restore", "-n", "naive"),
            scenario_count=len({each.scenario for each in results}),
        ),
        results=tuple(results),
        cases=cases,
        footer=Footer(len(results), sum(each.replays for each in results)),
    )


@pytest.fixture(scope="session")
def sample() -> Run:
    return build()
