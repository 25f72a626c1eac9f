"""One bug has one cause, whatever the input, the cuts, the message and the violated rule."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.judge import LoadedSubject, judge_subject, with_findings
from harness.judging.raised import raised_in, traceback_of
from harness.judging.scenario import Scenario
from harness.normalizers.protocol import Normalizer
from harness.results.finding import Finding, Level
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.turns.deltas import Delta, DeltaError, Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    a_normalizer,
    an_interaction,
    chunk,
    hello,
)

Function = Callable[..., Any]

CALLS_OTHER = """
def call(others, *arguments):
    return others[0](others[1:], *arguments)
"""
RAISES = """
def fail(others, problem):
    raise problem
def misread(others, problem):
    raise problem
"""


def function(module: str, name: str, source: str = CALLS_OTHER + RAISES) -> Function:
    """Return a function of a module of that name, as a library has it."""
    members: dict[str, Any] = {"__name__": module}
    exec(compile(source, module, "exec"), members)  # noqa: S102 - our own source
    found: Function = members[name]
    return found


def through(*modules: str) -> list[Function]:
    """Return functions that call each other; the last one raises."""
    *outer, deepest = modules
    return [*(function(each, "call") for each in outer), function(deepest, "fail")]


def cause_of_raising(run: Function, *arguments: object) -> str:
    try:
        run(*arguments)
    except Exception as problem:  # noqa: BLE001 - of any type
        below = problem.__traceback__.tb_next if problem.__traceback__ else None
        return raised_in(problem.with_traceback(below))  # without the frame of the test
    return "nothing was raised"


def raising(functions: list[Function], problem: Exception | None = None) -> str:
    return cause_of_raising(functions[0], functions[1:], problem or ValueError("no"))


# The function that counts


@given(st.text(), st.integers(0, 30))
def test_message_and_line_do_not_change_the_cause(message: str, lines: int) -> None:
    source = "\n" * lines + RAISES
    found = raising([function("lib.parser", "fail", source)], ValueError(message))
    assert found == "ValueError in lib.parser:fail"


def test_other_functions_types_and_modules_are_other_causes() -> None:
    functions = [function(module, name) for module in ("a", "b") for name in ("fail", "misread")]
    kinds = (ValueError, KeyError)
    found = {raising([each], kind("x")) for each in functions for kind in kinds}
    assert len(found) == len(functions) * len(kinds)


STANDARD = ("json.decoder", "codecs", "asyncio.events")
MACHINERY = ("harness.judging.replaying", "harness.playback.transports")
ADAPTER = ("harness.normalizers.sdk", "harness.turns.fold")
SHARED = ("httpx", "httpx2._client", "httpcore", "pydantic.main")
LIBRARY = ("openai._streaming", "my_client", "langchain_core.messages.ai")
PREFERENCE = (STANDARD + MACHINERY, ADAPTER, SHARED, LIBRARY)


@given(st.lists(st.sampled_from(sum(PREFERENCE, ())), max_size=5), st.sampled_from(LIBRARY))
def test_the_deepest_frame_of_the_library_counts(inner: list[str], outer: str) -> None:
    modules = [outer, *inner]
    deepest = [each for each in modules if each in LIBRARY][-1]
    name = "fail" if modules[-1] == deepest else "call"
    assert raising(through(*modules)) == f"ValueError in {deepest}:{name}"


@pytest.mark.parametrize(("less", "more"), list(pairwise(PREFERENCE)))
def test_each_kind_of_frame_counts_only_without_a_better_one(
    less: tuple[str, ...], more: tuple[str, ...]
) -> None:
    for worse in less:
        for better in more:
            assert raising(through(better, worse)) == f"ValueError in {better}:call"
            assert raising(through(worse, better)) == f"ValueError in {better}:fail"


def test_an_exception_of_the_standard_library_alone_has_its_type_only() -> None:
    assert cause_of_raising(json.loads, "{") == "JSONDecodeError"


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', "[" * 3])
def test_what_the_standard_library_finds_is_a_failure_of_its_caller(text: str) -> None:
    read = function("lib", "read", "import json\ndef read(text): return json.loads(text)")
    assert cause_of_raising(read, text) == "JSONDecodeError in lib:read"


@pytest.mark.parametrize(
    "body",
    [
        "[int(each) for each in rows]",
        "list(int(x) for x in rows)",
        "list(map(lambda x: int(x), rows))",
    ],
)
def test_a_comprehension_is_part_of_its_function_in_every_version_of_python(body: str) -> None:
    convert = function("lib", "convert", f"def convert(rows): return {body}")
    assert cause_of_raising(convert, ["x"]) == "ValueError in lib:convert"


def test_a_constructor_counts_only_if_nothing_else_does() -> None:
    source = """
class Checked:
    def __init__(self):
        raise ValueError
def build():
    return Checked()
"""
    assert cause_of_raising(function("lib", "build", source)) == "ValueError in lib:build"
    assert (
        cause_of_raising(function("lib", "Checked", source)) == "ValueError in lib:Checked.__init__"
    )


@given(st.integers(0, 40))
def test_a_recursion_without_end_has_one_cause_at_every_depth(before: int) -> None:
    source = """
def start(before): return start(before - 1) if before else even()
def even(): return odd()
def odd(): return even()
"""
    first = "start" if before else "even"
    found = cause_of_raising(function("lib", "start", source), before)
    assert found == f"RecursionError in lib:{first}"


# Cells


def crashing(at: bytes, read: Function) -> Normalizer:
    """Return a normalizer that passes text on and gives `read` the reads that contain `at`."""

    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        yield TextDelta("Hel")
        body = b""
        for each in reads:
            body += each
            if at in body:
                read(body)
        yield Finish(FinishReason.STOP, "stop")

    return a_normalizer(normalize)


def judged(normalizer: Normalizer, text: str, quirks: tuple[str, ...] = ()) -> Result:
    body = chunk({"content": text}) + chunk(None, "stop") + DONE
    cassette = a_cassette(an_interaction(body))
    named = Scenario("folder/name", "A title", cassette.id, quirks=quirks)
    subject = LoadedSubject(cassette)
    expected = subject.expectations
    scenario = msgspec.structs.replace(named, expect=expected)
    return judge_subject(LoadedSubject(cassette, scenario), normalizer)[0]


def parser(name: str) -> Function:
    return function("lib.parser", name, f"import json\ndef {name}(body): json.loads(body)")


QUIRKS = st.lists(st.sampled_from(["ARGS-NULL", "DELTA-NULL", "SSE-CRLF"]), max_size=2).map(tuple)


@given(st.text(st.characters(codec="ascii", exclude_characters="\\"), max_size=20), QUIRKS)
def test_one_bug_has_one_cause_in_every_cell(text: str, quirks: tuple[str, ...]) -> None:
    result = judged(crashing(b"content", parser("read")), text, quirks)
    assert result.outcome is Outcome.CRASH
    assert result.cause == "JSONDecodeError in lib.parser:read"


def test_another_function_is_another_cause_in_the_same_cell() -> None:
    causes = {
        judged(crashing(b"content", parser(name)), "Hello").cause for name in ("read", "take")
    }
    assert len(causes) == 2


def test_a_crash_under_some_cuts_has_the_cause_of_a_crash_under_all() -> None:
    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        bodies = list(reads)
        if len(bodies) > 1:
            parser("read")(bodies[0])
        yield TextDelta("Hello")
        yield Finish(FinishReason.STOP, "stop")

    result = judged(a_normalizer(normalize), "Hello")
    assert [each.rule for each in result.findings] == ["CUT-INVARIANT"]
    assert result.cause == "JSONDecodeError in lib.parser:read"


# Rules

RESULT = judge_subject(
    LoadedSubject(a_cassette(an_interaction(chunk({"content": "x"}) + DONE))), a_normalizer(hello)
)[0]


def result_of(
    level: Level = "MUST",
    *,
    rule: str = "TEXT-EXACT",
    path: str = "",
    **of: Any,  # noqa: ANN401 - fields
) -> Result:
    finding = Finding(rule, level, Outcome.MISMATCH, f"turns[0].{path}", path, path)
    bare = msgspec.structs.replace(RESULT, **of)
    return with_findings(bare, [finding], parse_errors=False, blame=lambda: "")


@given(st.text(), st.text())
def test_path_and_values_do_not_change_the_cause_of_a_rule(one: str, other: str) -> None:
    rule = "CUT-INVARIANT"
    assert result_of(rule=rule, path=one).cause == result_of(rule=rule, path=other).cause


def test_a_cell_that_does_not_fail_has_no_cause() -> None:
    should = result_of("SHOULD")
    assert (should.cause, should.with_cause().cause) == ("", "")


def test_a_traceback_has_the_frames_of_the_client_only() -> None:
    def raises() -> None:
        json.loads("{")

    try:
        raises()
    except ValueError as problem:
        lines = traceback_of(problem).splitlines()
    assert len(lines) == 4
    assert "in test_a_traceback_has_the_frames_of_the_client_only" in lines[0]
    assert lines[0].startswith('File "tests/judging/test_judging_raised.py", line ')
    assert lines[3] == '  json.loads("{")'


def test_a_traceback_names_no_folder_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # neither the client nor the harness is below it
    with pytest.raises(DeltaError) as raised:
        fold([TextDelta(None)])  # type: ignore[arg-type]
    lines = traceback_of(raised.value).splitlines()
    files = [re.findall('File "(.*)", line', line)[0] for line in lines if "File " in line]
    assert files[-1] == "harness/turns/fold.py"
    assert not any(Path(file).is_absolute() for file in files)
