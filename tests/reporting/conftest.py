"""A sample run, built from code: what a day with three normalizers looks like in small.

Four emulated scenarios with their cases (a lost call, a call made wrong in silence, a
crash, hostile text), and imported turns of three models under two prompts.
"""

import json

import msgspec
import pytest

from harness.results.case import Case, SentRequest
from harness.results.finding import Finding
from harness.results.outcome import Blame, Outcome
from harness.results.replay import Emission
from harness.results.result import Result, TurnFacts
from harness.results.run import SCHEMA, Footer, Header, NormalizerFacts, Run, Selection
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.wire.sse import SSEDecoder

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \x1b[31mred \u202egnp.exe"

NORMALIZERS = (
    NormalizerFacts(
        "reference",
        summary="Reads every catalogued spelling strictly.",
        dialects=("openai-chat",),
        policies={"name": "by-tools"},
        text_dialects=("tagged-json", "bare-json"),
    ),
    NormalizerFacts(
        "dashscope-restore",
        summary="Restores ids and names that later chunks blank out.",
        dialects=("openai-chat",),
    ),
    NormalizerFacts(
        "naive",
        role="known-bad",
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

BLANKED = _sse(_call("call_7f3a", "get_weather", ""), *(_call("", "", part) for part in _WEATHER))
TRUNCATED = _sse(
    _call("call_7f3a", "get_weather", '{"city": '),
    _call("", "", '"Hang'),
    finish="length",
)
CRLF = _sse(_call("call_7f3a", "get_weather", ""), _call("", "", "".join(_WEATHER))).replace(
    b"\n", b"\r\n"
)
MARKUP = _sse({"content": "The file is "}, {"content": HOSTILE}, finish="stop")
_FRAGMENTS = tuple(f"{number:04d}," for number in range(60))
LONG = _sse(_call("call_7f3a", "write_file", ""), *(_call(None, None, each) for each in _FRAGMENTS))


class Failure(msgspec.Struct, frozen=True):
    """A scenario that `naive` fails: what it said, and what it should have said."""

    scenario: str
    title: str
    quirks: tuple[str, ...]
    body: bytes
    right: tuple[Delta, ...]
    wrong: tuple[Delta, ...]
    findings: tuple[Finding, ...]
    cuts: tuple[int, ...] = ()
    error: str = ""
    text_dialect: str = ""


FAILURES = (
    Failure(
        scenario="openai-chat/blanked-id-and-name",
        title="Later chunks repeat id and name as empty strings",
        quirks=("DELTA-ID-EMPTY-LATER", "DELTA-NAME-EMPTY-LATER"),
        body=BLANKED,
        right=_whole_call("get_weather", *_WEATHER),
        wrong=(
            ToolCallStart(0, "", ""),
            *(ArgumentsDelta(0, part) for part in _WEATHER),
            ToolCallRejected(0, ParseError("tool_use", "unknown tool ''")),
            Finish(FinishReason.TOOL_CALLS, "tool_calls"),
        ),
        findings=(
            Finding(
                "call-name-kept",
                "MUST",
                Outcome.LOST_CALL,
                "turns[0].calls[0].name",
                "get_weather",
                "",
                BLANKED.index(b'"name": ""'),
            ),
            Finding(
                "call-id-kept", "MUST", Outcome.MISMATCH, "turns[0].calls[0].id", "call_7f3a", ""
            ),
        ),
    ),
    Failure(
        scenario="openai-chat/truncated-arguments",
        title="The stream ends inside the arguments",
        quirks=("ARGS-TRUNCATED",),
        body=TRUNCATED,
        right=_whole_call(
            "get_weather",
            '{"city": ',
            '"Hang',
            end=ToolCallRejected(0, ParseError("tool_use", "truncated")),
        ),
        wrong=_whole_call("get_weather", '{"city": ', '"Hang"}'),
        findings=(
            Finding(
                "truncated-never-executed",
                "MUST",
                Outcome.SILENT_WRONG,
                "turns[0].calls[0]",
                "rejected: truncated",
                '{"city": "Hang"}',
                TRUNCATED.index(b"Hang"),
            ),
        ),
    ),
    Failure(
        scenario="openai-chat/crlf-cut-inside",
        title="CRLF line ends, cut between CR and LF and inside a character",
        quirks=("SSE-CRLF", "CUT-INSIDE-CHARACTER"),
        body=CRLF,
        right=_whole_call("get_weather", "".join(_WEATHER)),
        wrong=(ToolCallStart(0, "call_7f3a", "get_weather"),),
        findings=(
            Finding(
                "never-raises",
                "MUST",
                Outcome.CRASH,
                "turns[0]",
                "no exception",
                "UnicodeDecodeError",
            ),
        ),
        cuts=(CRLF.index(b"\r\n") + 1, CRLF.index("杭".encode()) + 1),
        error="UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe6 in position 14",
    ),
    Failure(
        scenario="openai-chat/hostile-text",
        title=f"Markup in text stays text: {HOSTILE}",
        quirks=("TEXT-MARKUP",),
        body=MARKUP,
        right=_TEXT,
        wrong=(
            TextDelta("The file is "),
            TextDelta(HOSTILE.replace("<", "&lt;")),
            Finish(FinishReason.STOP, "stop"),
        ),
        findings=(
            Finding(
                "text-exact",
                "MUST",
                Outcome.MISMATCH,
                "turns[0].text",
                HOSTILE,
                HOSTILE.replace("<", "&lt;"),
            ),
        ),
        cuts=tuple(range(1, len(MARKUP))),
        text_dialect="tagged-json",
    ),
    Failure(
        scenario="openai-chat/many-fragments",
        title="Arguments in sixty fragments",
        quirks=("DELTA-MANY-FRAGMENTS",),
        body=LONG,
        right=_whole_call("write_file", *_FRAGMENTS),
        wrong=_whole_call("write_file", *(each for each in _FRAGMENTS if each != "0030,")),
        findings=(
            Finding(
                "arguments-exact",
                "MUST",
                Outcome.SILENT_WRONG,
                "turns[0].calls[0].arguments",
                "0000,0001,…",
                "…0029,0031,…",
                LONG.index(b"0030,"),
            ),
        ),
        cuts=(1_200, LONG.index(b"0030,") + 2),
    ),
)


def _case(cell: str, failure: Failure) -> Case:
    decoder = SSEDecoder()
    return Case(
        cell=cell,
        interaction=0,
        body=failure.body,
        chunking=failure.cuts,
        frames=(*decoder.feed(failure.body), *decoder.close()),
        deltas=_said(failure.body, *failure.wrong),
        reference=_said(failure.body, *failure.right),
        error=failure.error,
        expected=fold(failure.right),
        actual=fold(failure.wrong),
    )


def _result(failure: Failure, normalizer: str, findings: tuple[Finding, ...] = ()) -> Result:
    result = Result(
        cell=f"{failure.scenario}/{normalizer}",
        scenario=failure.scenario,
        title=failure.title,
        cassette=f"dashscope/qwen-plus/{failure.scenario.rpartition('/')[2]}",
        normalizer=normalizer,
        outcome=findings[0].outcome if findings else Outcome.PASS,
        blame="normalizer" if findings else "",
        findings=findings,
        chunking=failure.cuts if findings else (),
        interaction=0,
        replays=1_214,
        turns=(),
        quirks=failure.quirks,
        provider="dashscope",
        model="qwen-plus",
        prompt="native-tools/v1",
        dialect="openai-chat",
        origin="emulated",
        text_dialect=failure.text_dialect,
    )
    return result.with_cause()


def _imported(normalizer: str) -> list[Result]:
    plan = (
        ("qwen-plus", "native-tools/v1", 33, 1),
        ("qwen-plus", "json-fallback/v2", 30, 9),
        ("glm-4", "native-tools/v1", 6, 0),
    )
    return [
        _turn(normalizer, model, prompt, number, success=number >= broken)
        for model, prompt, total, broken in plan
        for number in range(total)
    ]


# Of the first model and prompt, the last turn.
_UNJUDGED = 32


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
        unjudged={"text": "N-CHOICES"} if number == _UNJUDGED else {},
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


UNUSABLE = _sse(_call("call_7f3a", "get_weather", '{"city": '), finish="tool_calls")
_REJECTED = _whole_call(
    "get_weather",
    '{"city": ',
    end=ToolCallRejected(0, ParseError("tool_use", "truncated", '{"city": ', "", "get_weather")),
)


def _case_of_model(cell: str) -> Case:
    """Return the case of a turn that failed because of the model: `reference` read it rightly."""
    question = {"role": "user", "content": f"Is it warm in 杭州? {HOSTILE}"}
    return Case(
        cell=cell,
        interaction=0,
        body=UNUSABLE,
        chunking=(),
        frames=tuple(SSEDecoder().feed(UNUSABLE)),
        deltas=_said(UNUSABLE, *_REJECTED),
        reference=(),
        error="",
        expected=fold(_REJECTED),
        actual=fold(_REJECTED),
        request=SentRequest((json.dumps(question),), 2, ("get_weather",), "call"),
    )


def build() -> Run:
    """Return the sample run."""
    results = _imported("reference")
    failed = (each for each in results if not each.turns[0].success)
    broken = min(failed, key=lambda each: each.cell)
    cases: dict[str, Case] = {broken.cell: _case_of_model(broken.cell)}
    for each in FAILURES:
        good = (_result(each, name) for name in ("reference", "dashscope-restore"))
        bad = _result(each, "naive", each.findings)
        results += [*good, bad]
        cases[bad.cell] = _case(bad.cell, each)
    results.sort(key=lambda result: result.cell)
    return Run(
        header=Header(
            schema=SCHEMA,
            harness="0.1.0",
            normalizers=NORMALIZERS,
            selection=Selection(("scenarios", "cassettes"), "exhaustive"),
            command=("harness", "run", "scenarios", "cassettes", "-n", "reference", "-n", "naive"),
            scenario_count=len({each.scenario for each in results}),
        ),
        results=tuple(results),
        cases=cases,
        footer=Footer(len(results), sum(each.replays for each in results)),
    )


@pytest.fixture(scope="session")
def sample() -> Run:
    return build()
