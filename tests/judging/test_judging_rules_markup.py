"""Rules about text calls: visible markup, loose space, delayed text."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from harness.dialects.table import oracle_reading
from harness.judging.examine import examine
from harness.judging.replaying import DEFAULT_LIMITS, Cuts
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import Expectation, ExpectedCall, Field
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tests.judging.judging_samples import DONE, HELLO, a_normalizer, an_interaction, call, chunk

END = Finish(FinishReason.STOP, "stop")


def broken(
    by: Normalizer,
    body: bytes = HELLO,
    *,
    cuts: Cuts = "quick",
    **expected: Any,  # noqa: ANN401 - fields
) -> set[str]:
    """Return the ids of the rules that `by` breaks on `body`."""
    judged: frozenset[Field] = frozenset({"text", "reasoning", "calls", "finish"})
    fields: dict[str, Any] = {"finish": FinishReason.STOP, "finish_raw": "stop", "judged": judged}
    expectation = Expectation(source="scenario", **fields | expected)
    interaction = an_interaction(body)
    strict = oracle_reading(interaction)
    seen = examine(0, interaction, expectation, strict, by, cuts=cuts, limits=DEFAULT_LIMITS)
    return {finding.rule for finding in seen.findings}


def saying(*deltas: Delta) -> Normalizer:
    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        for _ in reads:
            pass
        return iter((*deltas, END))

    return a_normalizer(normalize, streams=False)


def calling(name: str, arguments: str) -> Normalizer:
    start = ToolCallStart(0, "c1", name)
    return saying(start, ArgumentsDelta(0, arguments), ToolCallEnd(0))


# Space


@pytest.mark.parametrize("text", ["A b", " A\n\nb \n", "A\t b"])
def test_space_is_loose_when_the_text_contains_calls(text: str) -> None:
    by = saying(TextDelta(text), ReasoningDelta(f" {text}"))
    assert broken(by, text="A b\n", reasoning="A b", loose_space=True) == set()


def test_space_is_exact_without_text_calls_and_never_invented() -> None:
    assert broken(saying(TextDelta("A  b")), text="A b") == {"TEXT-EXACT"}
    assert broken(saying(TextDelta("Ab")), text="A b", loose_space=True) == {"TEXT-EXACT"}
    twice = saying(TextDelta("A b\nA b"))
    assert broken(twice, text="A b", loose_space=True) == {"TEXT-ONCE"}
    assert broken(twice, text="A b") == {"TEXT-EXACT"}


# Markup


@pytest.mark.parametrize(
    ("text", "expected", "rules"),
    [
        ("a </tool_call>", "a", {"TEXT-NO-MARKUP"}),
        ("a <tool_call> <tool_call>", "a <tool_call>", {"TEXT-NO-MARKUP"}),
        ("a <tool_call>", "a <tool_call>", set()),
        ("b <tool_call>", "a <tool_call>", {"TEXT-EXACT"}),
        ("a", "a <tool_call>", {"TEXT-EXACT"}),
        ("a <tool_call>a <tool_call>", "a <tool_call>", {"TEXT-ONCE"}),
    ],
)
def test_text_contains_no_surplus_markers(text: str, expected: str, rules: set[str]) -> None:
    assert broken(saying(TextDelta(text)), text=expected) == rules


@pytest.mark.parametrize(
    ("name", "arguments", "rules"),
    [
        ("f", '{"a": "<tool_call>"}', set()),
        ("f", '{"a": "\\u003ctool_call>"}', set()),
        ("f", '{"a": "<tool_call></tool_call>"}', {"CALL-NO-MARKUP"}),
        ("f", '{"a": ["<tool_call>", {"\\u003ctool_call>": 1}]}', {"CALL-NO-MARKUP"}),
        ("f", '{"a": "b"}', {"CALL-ARGUMENTS-EXACT"}),
        ("f</tool_call>", '{"a": "<tool_call>"}', {"CALL-NO-MARKUP"}),
        ("g", '{"a": "<tool_call>"}', {"CALL-NAME-EXACT"}),
    ],
)
def test_markup_is_not_part_of_a_call(name: str, arguments: str, rules: set[str]) -> None:
    call = ExpectedCall("f", {"a": "<tool_call>"}, "c1")
    assert broken(calling(name, arguments), calls=(call,)) == rules


# Text that is held back

PROSE = "A sentence without any markup. " * 20
SPELLED = '<tool_call>{"name": "writing", "arguments": {}}</tool_call>'


def pieces(text: str, size: int = 30) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def stream(text: str) -> bytes:
    said = b"".join(chunk({"content": piece}) for piece in pieces(text))
    return said + chunk(None, "stop") + DONE


def held(characters: int, shown: str, **declared: Any) -> Normalizer:  # noqa: ANN401 - its fields
    """Return a normalizer that says `shown`, each time all but its last `characters`."""

    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        data, out = b"", 0
        for read in reads:
            data += read
            came = sum(len(_content(event)) for event in data.split(b"\n\n")[:-1])
            ready = min(came, len(shown)) - characters
            if ready > out:
                yield TextDelta(shown[out:ready])
                out = ready
        yield TextDelta(shown[out:])
        yield END

    return a_normalizer(normalize, **declared)


def _content(event: bytes) -> str:
    data = event.removeprefix(b"data: ")
    if data == b"[DONE]":
        return ""
    content = json.loads(data)["choices"][0]["delta"].get("content", "")
    assert isinstance(content, str)
    return content


@pytest.mark.parametrize(
    ("characters", "rules"),
    [(0, set()), (200, set()), (300, {"TEXT-HELD-BACK"}), (10**6, {"TEXT-HELD-BACK"})],
)
def test_a_bounded_tail_may_be_delayed(characters: int, rules: set[str]) -> None:
    by = held(characters, PROSE)
    body = stream(PROSE + SPELLED)
    assert broken(by, body, text=PROSE, has_text_calls=True, loose_space=True) == rules


def test_a_tail_may_not_be_delayed_without_text_calls() -> None:
    found = broken(held(200, PROSE), stream(PROSE), text=PROSE)
    assert found == {"TEXT-PROMPT"}


def test_text_at_the_end_is_allowed_only_when_declared() -> None:
    by = saying(TextDelta(PROSE))
    assert broken(by, stream(PROSE), text=PROSE, has_text_calls=True, loose_space=True) == set()


@pytest.mark.parametrize("start", ['{"a": "', "[1, ", "\n```json\n{"])
def test_json_may_be_delayed_until_it_is_complete(start: str) -> None:
    text = start + PROSE
    assert (
        broken(held(10**6, text), stream(text), text=text, has_text_calls=True, loose_space=True)
        == set()
    )


@pytest.mark.parametrize("start", ['{"a": "', "[1, "])
def test_a_reader_of_text_calls_may_delay_json_anywhere(start: str) -> None:
    text = start + PROSE
    looks = held(10**6, text, text_dialects=frozenset(("bare-json",)))
    assert broken(looks, stream(text), text=text) == set()
    assert broken(held(10**6, text), stream(text), text=text) == {"TEXT-PROMPT"}


# Calls of which not all is judged


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("f", set()),
        ("f</tool_call>", {"CALL-NO-MARKUP"}),
        ("g", {"CALLS-NOT-INVENTED"}),
    ],
)
def test_a_marker_in_the_name_of_a_call_that_may_be_missing_is_reported_once(
    name: str, rules: set[str]
) -> None:
    judged = frozenset({"reasoning"})
    calls = (ExpectedCall("f", {}),)
    found = broken(calling(name, "{}"), judged=judged, calls=calls, calls_at_most=True)
    assert found == rules


@pytest.mark.parametrize(
    ("name", "rules"), [("f", {"BROKEN-CALL-NOT-RUN"}), ("g", {"CALLS-NOT-INVENTED"})]
)
def test_a_sent_call_that_is_run_although_none_is_usable_is_a_broken_one(
    name: str, rules: set[str]
) -> None:
    body = call('{"a": ', id="c1", name="f") + chunk(None, "tool_calls") + DONE
    found = broken(calling(name, "{}"), body, judged=frozenset({"calls"}))
    assert found == rules
