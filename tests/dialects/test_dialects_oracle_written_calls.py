"""Text in the exact form of a text dialect: text or calls; calls if the prompt asks for them."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import shipped
from harness.conversation.prompts import PROMPTS, Prompt, system_text
from harness.dialects.kit.oracle.written_calls import described_text_dialects
from harness.dialects.table import oracle_reading
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.normalizers.respond import respond
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.turns.deltas import Delta
from harness.turns.oracle_reading import OracleReading
from harness.turns.turn import Tool
from harness.wire import cassette_file
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction, Request
from tests.judging.judging_samples import (
    DONE,
    IS_DEEP,
    WRITING,
    a_cassette,
    an_interaction,
    call,
    chunk,
)

CASSETTES = shipped.bundled_folder("cassettes")
TOOLS = (Tool("writing", "Write.", {"type": "object"}), Tool("reading", "Read.", {}))
# The text dialect that each protocol describes.
DUE: Final = {
    "tag-tools": "tagged-json",
    "action-protocol": "action-protocol",
    "react": "react",
    "json-fallback": "fenced-json",
}
TEACHING = [prompt for prompt in PROMPTS.values() if prompt.describes_tools]
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), st.integers() | st.booleans() | st.text("xyz "))
CALLS = st.lists(
    st.builds(WrittenCall, st.sampled_from(["writing", "reading"]), ARGUMENTS.map(json.dumps)),
    min_size=1,
    max_size=3,
    unique_by=lambda it: (it.name, it.arguments),
)
MARKED = '<tool_call>\n{"name": "writing", "arguments": {"a": 1}}\n</tool_call>'
BARE = '{"name": "writing", "arguments": {"a": 1}}'
WRITTEN = {
    "tagged-json": MARKED,
    "bare-json": BARE,
    "fenced-json": f"```json\n{BARE}\n```",
    "react": 'Thought: so\nAction: writing\nAction Input: {"a": 1}',
    "action-protocol": f'{{"action": "tool_call", "tool_calls": [{BARE}]}}',
}


def taught(body: bytes, prompt: Prompt | None) -> Interaction:
    """Return a response to a request with native tools, or with a prompt that describes them."""
    if prompt is None:
        return an_interaction(body)
    message = {"role": "system", "content": system_text(prompt, TOOLS)}
    request = Request("POST", "", (), json.dumps({"messages": [message]}).encode())
    tools = tuple({"name": tool.name} for tool in TOOLS)
    plain = an_interaction(body)
    return Interaction(request, 200, (), body, plain.reads, tools=tools)


def said(text: str, prompt: Prompt | None = None, finish: str = "stop") -> Interaction:
    return taught(chunk({"content": text}) + chunk(None, finish) + DONE, prompt)


def calls_of(reading: OracleReading) -> list[tuple[str, Any]]:
    return [(it.name, json.loads(it.arguments)) for it in reading.calls or ()]


def judged(interaction: Interaction, normalizer: Normalizer) -> Result:
    return judge_subject(LoadedSubject(a_cassette(interaction)), normalizer, cuts="whole")[0]


def as_text(**declared: Any) -> Normalizer:  # noqa: ANN401 - its fields
    """Return a client that reads no calls in text."""
    return Normalizer("as-text", respond, **declared)


def edited(edit: Callable[[list[Delta]], list[Delta]]) -> Normalizer:
    """Return the reference with deltas that `edit` changed."""
    reference = load_normalizer("reference")

    def normalize(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
        yield from edit(list(reference.normalize(interaction, reads)))

    return Normalizer(
        "edited", normalize, policies=reference.policies, text_dialects=reference.text_dialects
    )


@pytest.mark.parametrize("prompt", TEACHING, ids=lambda it: it.id)
def test_a_prompt_describes_its_text_dialect(prompt: Prompt) -> None:
    assert described_text_dialects(system_text(prompt, TOOLS)) == {DUE[prompt.protocol]}


def test_native_tools_describe_no_text_dialect() -> None:
    native = [it for it in PROMPTS.values() if not it.describes_tools]
    assert {described_text_dialects(system_text(it, TOOLS)) for it in native} == {frozenset()}


@pytest.mark.parametrize("prompt", TEACHING, ids=lambda it: it.id)
@given(calls=CALLS)
def test_described_calls_are_due(prompt: Prompt, calls: list[WrittenCall]) -> None:
    dialect = DUE[prompt.protocol]
    one_only = dialect in ("react", "fenced-json")
    written = TEXT_DIALECTS[dialect].write(calls[: 1 if one_only else None])
    interaction = said(written, prompt)
    reading = oracle_reading(interaction)
    expected = [(it.name, json.loads(it.arguments)) for it in calls]
    assert calls_of(reading) == (expected[:1] if one_only else expected)
    assert dict(reading.decisions) == {dialect: "calls"}
    assert [(it.calls, it.text) for it in reading.alternatives] == [((), written)]
    assert judged(interaction, load_normalizer("reference")).outcome is Outcome.PASS
    # A client that reads no text dialect shows the text; one that declares this one must not.
    assert judged(interaction, as_text()).outcome is Outcome.PASS
    declared = as_text(text_dialects=frozenset((dialect,)))
    assert judged(interaction, declared).outcome is Outcome.LOST_CALL


@pytest.mark.parametrize("dialect", WRITTEN)
def test_calls_that_no_prompt_describes_are_calls_or_text(dialect: str) -> None:
    text = WRITTEN[dialect]
    reading, *others = (oracle_reading(said(text)), *oracle_reading(said(text)).alternatives)
    assert (reading.calls, reading.text, reading.decisions) == ((), text, ())
    assert [calls_of(it) for it in others] == [[("writing", {"a": 1})]]
    for client in (load_normalizer("reference"), as_text(text_dialects=frozenset((dialect,)))):
        assert judged(said(text), client).outcome is Outcome.PASS
    assert judged(said(text), edited(lambda deltas: deltas[-1:])).outcome.fails


def test_a_shown_tag_next_to_its_call_is_a_leak() -> None:
    shown = judged(said(MARKED), load_normalizer("first-brace-regex"))
    assert shown.outcome is Outcome.LEAK


@pytest.mark.parametrize(
    "text",
    [
        MARKED.removesuffix("</tool_call>"),
        MARKED + " and so on",
        MARKED + MARKED,  # the same call twice
        MARKED.replace("writing", "sending"),
        MARKED.replace("}}", "}, }"),
        MARKED.replace('"arguments"', '"parameters"'),
        MARKED.replace('"a": 1', '"a": 1, "a": 2'),
        MARKED.replace('{"a": 1}', '{"type": "object", "properties": {}}'),
        f"Say `{MARKED}`",
        f"```\n{MARKED}\n```",
        f"such as {MARKED}",
        f"writing(a=1)\n{MARKED}",
        f"[{BARE}]",
        f'{{"action": "finish", "tool_calls": [{BARE}]}}',
        'Action: writing\nAction Input: {"a": 1}\nObservation: b',
    ],
)
@pytest.mark.parametrize("prompt", [None, *TEACHING], ids=lambda it: it.id if it else "native")
def test_other_forms_stay_ambiguous(text: str, prompt: Prompt | None) -> None:
    reading = oracle_reading(said(text, prompt))
    assert (reading.calls, reading.knows("text"), reading.text_markup) == (None, False, True)


@pytest.mark.parametrize("text", ['{"reasoning": "a", "content": "b"}', '{"city": "a"}', '"a"'])
def test_a_reply_of_the_action_protocol_without_an_action_is_ambiguous(text: str) -> None:
    for prompt in (None, *TEACHING):
        asked = prompt is not None and prompt.protocol == "action-protocol"
        is_open = asked and "reasoning" in text
        reading = oracle_reading(said(text, prompt))
        assert (reading.knows("text"), reading.text_markup) == (not is_open, is_open)
        assert not judged(said(text, prompt), load_normalizer("reference")).outcome.fails


@pytest.mark.parametrize("prompt", TEACHING, ids=lambda it: it.id)
def test_no_call_of_a_truncated_reply_is_due(prompt: Prompt) -> None:
    text = WRITTEN[DUE[prompt.protocol]]
    assert oracle_reading(said(text, prompt, finish="length")).calls is None


def test_announced_calls_are_those_of_a_described_text_dialect() -> None:
    prompt = PROMPTS["action-protocol/v1"]
    due = said(WRITTEN["action-protocol"], prompt, finish="tool_calls")
    assert calls_of(oracle_reading(due)) == [("writing", {"a": 1})]
    assert judged(due, load_normalizer("reference")).outcome is Outcome.PASS
    # A final answer contains none of the announced calls.
    answer = '{"action": "finish", "content": "b"}'
    assert oracle_reading(said(answer, prompt, finish="tool_calls")).calls is None
    assert oracle_reading(said(answer, prompt)).text == "b"
    assert oracle_reading(said(WRITTEN["react"], finish="tool_calls")).calls is None


def test_closed_reasoning_before_a_described_call_changes_nothing() -> None:
    prompt = PROMPTS["tag-tools/v1"]
    reading = oracle_reading(said(f"<think>So.</think>\n{MARKED}", prompt))
    split = {(it.text.strip(), it.reasoning) for it in reading.alternatives if it.calls}
    assert ("", "So.") in split
    # In open reasoning it may be a draft.
    unclosed = oracle_reading(said(f"<think>\n{MARKED}", prompt))
    assert {bool(it.calls) for it in (unclosed, *unclosed.alternatives)} == {True, False}
    assert not unclosed.decisions


DRAFT = f"I will write: {BARE} Now."


@pytest.mark.parametrize("text", [DRAFT, f"In <tools></tools> I see writing. {DRAFT}"])
def test_json_in_the_text_next_to_native_calls_is_text(text: str) -> None:
    native = chunk({"content": text}) + call('{"a": 1}', id="c1", name="writing")
    body = native + chunk(None, "tool_calls") + DONE
    reading = oracle_reading(an_interaction(body))
    assert (reading.text, calls_of(reading)) == (text, [("writing", {"a": 1})])
    assert judged(an_interaction(body), edited(lambda deltas: deltas[1:])).outcome.fails
    for name in ("reference", "tag-extract", "naive"):
        assert not judged(an_interaction(body), load_normalizer(name)).outcome.fails
    # If the prompt describes text calls, the client may read some.
    assert oracle_reading(taught(body, PROMPTS["tag-tools/v1"])).calls is None


def test_markup_without_declared_tools_is_ambiguous_if_it_is_described() -> None:
    message = {"role": "system", "content": system_text(PROMPTS["tag-tools/v1"], TOOLS)}
    body = said(MARKED).body
    request = Request("POST", "", (), json.dumps({"messages": [message]}).encode())
    described = Interaction(request, 200, (), body, ())
    assert oracle_reading(described).alternatives
    assert oracle_reading(an_interaction(body, tools=())).calls == ()
    assert oracle_reading(an_interaction(body, tools=(WRITING,))).alternatives


@cache
def bundled() -> tuple[Cassette, ...]:
    """Return the bundled cassettes whose prompt describes tools."""
    loaded = (cassette_file.load_cassette(path, CASSETTES) for path in _paths())
    return tuple(it for it in loaded if it.interactions[0].tools)


def _paths() -> list[Path]:
    """Return every third such file, or each in the deep profile."""
    step = 1 if IS_DEEP else 3
    found = sorted(CASSETTES.rglob("*.yaml"))
    return [path for path in found if "\n  tools:" in path.read_text("utf-8")][::step]


def outcomes(name: str) -> Iterator[Outcome]:
    """Yield the outcome of each bundled cassette."""
    client = load_normalizer(name)
    judged_cells = (judge_subject(LoadedSubject(it), client, cuts="whole") for it in bundled())
    yield from (result.outcome for result, _ in judged_cells)


@pytest.mark.parametrize("name", ["reference", "tag-extract", "action-protocol"])
def test_no_conforming_normalizer_is_accused_without_a_scenario(name: str) -> None:
    found = Counter(outcomes(name))
    assert not [outcome for outcome in found if outcome.fails]
    assert found[Outcome.PASS] >= 100


@pytest.mark.parametrize("name", ["closed-tag-only", "first-brace-regex", "tool-calls-empty"])
def test_known_bad_clients_are_accused_without_a_scenario(name: str) -> None:
    failures = (outcome for outcome in outcomes(name) if outcome.fails)
    assert len(list(islice(failures, 15))) == 15
