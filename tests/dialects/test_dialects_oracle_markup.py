"""Text that may contain calls: the oracle abstains, and no party is to blame."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.kit.oracle.markup import markup_readings
from harness.dialects.table import oracle_reading
from harness.judging.blame import blame_of_bytes
from harness.judging.expected import expectation_from
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.results.outcome import Outcome
from harness.text_calls import MARKERS, TEXT_DIALECTS, WrittenCall
from harness.text_calls.dialect import BlockStart, Offered
from harness.text_calls.dialects.think import THINK
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    an_interaction,
    call,
    chunk,
)

CALL = '{"name": "writing", "arguments": {"path": "a"}}'
MARKED = [
    f"<tool_call>{CALL}</tool_call> b",
    "Hm. </tool_call>",
    "Hm. <tool_call",
    "<function=writing><parameter=path>a</parameter></function>",
    "<function_calls><invoke name=writing>",
    "<ns:invoke name=writing>",
    "<|python_tag|>writing(path='a')",
    "[TOOL_CALLS]writing[ARGS]{}",
    "<\uff5ctool\u2581calls\u2581begin\uff5c>",
    "<\uff5cDSML\uff5cinvoke>",
    "<|tool_calls_section_begin|>",
    "<arg_key>path</arg_key>",
    "<|START_ACTION|>[]<|END_ACTION|>",
    "<|channel|>analysis<|message|>",
    "to=functions.writing",
    "Thought: I know.\nFinal Answer: a",
    "Thought: so\nAction: writing\nAction Input: {",
    f"[{CALL}]",
    f"  {CALL}\n{CALL}",
    '{"action": "final", "content": "b"}',
    "```json\n" + CALL + "\n```\nb",
    f"Words before it. {CALL}",
    "[writing(path='a')]",
    "<think>a</think>" + CALL + CALL,
]
PLAIN = [
    "Hello.",
    "a < b and c > d",
    "1 | 2",
    "writing is fun",
    '{"city": "Oslo"}',
    "[1, 2]",
    "```python\nprint(1)\n```",
    "the function f(x), the tools",
]


def said(text: str, finish: str = "stop", **asked: Any) -> Interaction:  # noqa: ANN401 - of the interaction
    body = chunk({"content": text}) + chunk(None, finish) + DONE
    return an_interaction(body, **asked)


def abstains(reading: OracleReading) -> bool:
    silent = expectation_from(reading).judged.isdisjoint({"text", "reasoning", "calls", "finish"})
    assert silent == reading.text_markup
    return silent


@pytest.mark.parametrize("text", MARKED)
def test_possible_text_calls_are_ambiguous(text: str) -> None:
    reading = oracle_reading(said(text))
    assert abstains(reading)
    assert (reading.calls, reading.knows("text"), reading.text) == (None, False, text)
    assert blame_of_bytes(reading, None) == "model"
    thought = chunk({"reasoning_content": text}) + chunk({"content": "a"}) + chunk(None, "stop")
    assert abstains(oracle_reading(an_interaction(thought + DONE)))


@pytest.mark.parametrize("text", MARKED)
def test_promised_calls_may_be_text_calls(text: str) -> None:
    reading = oracle_reading(said(text, finish="tool_calls"))
    assert abstains(reading)
    assert "failure" not in expectation_from(reading).judged


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_markup_is_judged(text: str) -> None:
    reading = oracle_reading(said(text))
    assert not abstains(reading)
    assert (reading.calls, blame_of_bytes(reading, None)) == ((), "")


@pytest.mark.parametrize("text", MARKED)
def test_without_tools_text_is_text(text: str) -> None:
    assert not oracle_reading(said(text, tools=())).text_markup


def test_described_or_unknown_tools_count_as_tools_of_the_request() -> None:
    plain = said(MARKED[0], tools=())
    taught = Interaction(
        plain.request, 200, (), plain.body, plain.reads, tools=({"name": "writing"},)
    )
    assert oracle_reading(taught).text_markup
    assert oracle_reading(said(MARKED[0], tools=None)).text_markup


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("<think>a</think>b", {("b", "a"), ("ab", "")}),
        ("a</think>b", {("b", "a"), ("ab", "")}),
        ("<think>a", {("", "a"), ("a", "")}),
        ("x [THINK]a[/THINK]b", {("x b", "a"), ("b", "x [THINK]a"), ("x ab", "")}),
        ("<thinking>a</thinking>b<thinking>c", {("b", "ac"), ("b<thinking>c", "a"), ("abc", "")}),
    ],
)
def test_reasoning_in_the_text_may_be_split_off(text: str, split: set[tuple[str, str]]) -> None:
    reading = oracle_reading(said(text))
    assert (reading.text, reading.reasoning, reading.calls) == (text, "", ())
    assert {(each.text, each.reasoning) for each in reading.alternatives} == split
    assert all(each.loose_space for each in reading.alternatives)


def test_a_native_call_is_certain_although_the_reasoning_drafts_it() -> None:
    thought = chunk({"reasoning_content": MARKED[0]})
    body = thought + call("{}", id="c1", name="writing") + chunk(None, "tool_calls") + DONE
    reading = oracle_reading(an_interaction(body))
    assert [it.name for it in reading.calls or ()] == ["writing"]
    assert reading.knows("text")


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("<has_function_call>I ask 'writing' now.", True),
        ("I call it now. <tool_call>", True),
        ("<tool_call>writing", False),
        ("<tool_call>writing</tool_call>", False),
        ("<tool_call>\n<", False),  # of `<function=`
        ("<tool_call>{}", False),
        ("<invoke><tool>", False),
        ("<action>Action: writing", False),
    ],
)
def test_a_native_call_is_certain_next_to_one_bare_tag(text: str, *, certain: bool) -> None:
    body = chunk({"content": text}) + call("{}", id="c1", name="writing")
    reading = oracle_reading(an_interaction(body + chunk(None, "tool_calls") + DONE))
    assert (reading.calls is not None) is reading.knows("text") is certain
    if certain:
        (without,) = reading.alternatives
        assert (without.text + text[text.index("<") : text.index(">") + 1]) in (
            text,
            text.removeprefix("<has_function_call>") + "<has_function_call>",
        )


@pytest.mark.parametrize(
    ("name", "arguments", "open_"),
    [
        ("writing", '{"path": "a"}', False),
        ("writing<|channel|>commentary", '{"path": "a"}', True),
        ("functions.writing", '{"path": "a"}', True),
        ("reading", '{"path": "a"}', False),
        ("writing", '{"path": "a</tool_call>"}', True),
        ("writing", '{"path": "a\\u003c/tool_call>"}', True),
        ("writing", '{"path": "a > b"}', False),
    ],
)
def test_a_native_call_with_markup_is_ambiguous(name: str, arguments: str, *, open_: bool) -> None:
    body = call(arguments, id="c1", name=name) + chunk(None, "tool_calls") + DONE
    assert oracle_reading(an_interaction(body)).text_markup is open_


def test_the_providers_errors_come_first() -> None:
    body = chunk({"content": MARKED[0]}) + b'data: {"error": {"message": "no"}}\n\n'
    reading = oracle_reading(an_interaction(body))
    assert blame_of_bytes(reading, None) == "provider"
    assert "calls" in expectation_from(reading).judged  # none of a failed turn may run


@pytest.mark.parametrize("text", MARKED)
@pytest.mark.parametrize("name", ["reference", "naive"])
def test_any_reading_of_ambiguous_text_conforms(name: str, text: str) -> None:
    result, _ = judge_subject(
        LoadedSubject(a_cassette(said(text))), load_normalizer(name), cuts="quick"
    )
    assert result.outcome in (Outcome.PASS, Outcome.PARSE_ERROR, Outcome.UNJUDGED)
    assert result.blame in ("", "model")


@pytest.mark.parametrize("dialect", TEXT_DIALECTS.values(), ids=TEXT_DIALECTS)
def test_markup_of_every_text_dialect_is_detected(dialect: Any) -> None:  # noqa: ANN401 - a TextDialect
    text = dialect.write((WrittenCall("writing", '{"path": "a"}'),))
    assert oracle_reading(said(text)).text_markup


@pytest.mark.parametrize("marker", MARKERS)
def test_every_marker_is_detected(marker: str) -> None:
    places = (f"a {marker} b", f"a\n{marker} b", f"{{{marker} b}}")
    readings = [oracle_reading(said(text)) for text in places]
    assert not all(reading.knows("text") and not reading.alternatives for reading in readings)


@pytest.mark.parametrize("opener", THINK.openers)
def test_text_after_each_mark_of_reasoning_may_be_reasoning(opener: str) -> None:
    reading = oracle_reading(
        said(f"{opener}Hm.{THINK.section(_start(opener)).closers[0]}\nIt rains.")
    )
    assert not reading.knows("text") or reading.alternatives


def _start(opener: str) -> BlockStart:
    return BlockStart(opener, "Hm.", Offered(), final=True)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(max_size=20))
def test_oracle_never_raises_on_hostile_streams(text: str, name: str) -> None:
    tool = {"type": "function", "function": {"name": name, "parameters": {}}}
    interaction = said(text, tools=(tool,))
    assert json.loads(interaction.request.body)
    reading = oracle_reading(interaction)
    if name:  # otherwise no tool can be called, and text is text
        again = next(markup_readings(reading, frozenset({name}), frozenset()))
        known = (reading.text_markup, reading.knows("text"))
        assert (again.text_markup, again.knows("text")) == known


@pytest.mark.parametrize(
    ("text", "if_unfinished", "if_finished"),
    [
        ('{"reasoning": "Thi', True, True),
        ("```json\n{", True, True),
        ('{"reasoning": "Thi"}', True, False),
        ("[", True, False),
        ("Hello {", False, False),
    ],
)
def test_json_may_lack_its_calls(text: str, if_unfinished: bool, if_finished: bool) -> None:  # noqa: FBT001 - drawn from the table
    body = chunk({"content": text})
    for unfinished in (body, body + DONE):
        assert oracle_reading(an_interaction(unfinished)).text_markup is if_unfinished
    assert oracle_reading(said(text)).text_markup is if_finished
