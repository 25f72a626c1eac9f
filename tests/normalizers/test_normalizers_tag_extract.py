"""The second seed system and its broken states: three formats, on both wires."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.judging.replaying import replay
from harness.normalizers.known_bad import closed_tag_only, first_brace_regex
from harness.normalizers.protocol import Normalizer
from harness.normalizers.seed_systems import tag_extract as normalizer
from harness.turns.deltas import TextDelta
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction, Read, Request
from tests.judging.judging_samples import DONE, call, chunk

SEARCH: dict[str, Any] = {
    "name": "search",
    "description": "",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
}
FLAT = '{"tool": "search", "query": "北京天气"}'
NAMED = '{"name": "search", "arguments": {"query": "北京天气"}}'
QUERY = {"query": "北京天气"}

Wire = Callable[[str], Interaction]


def ark(text: str, size: int = 5) -> Interaction:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    events = [chunk({"content": piece}) for piece in pieces]
    return _interaction([*events, chunk(None, "stop"), DONE], "openai-chat")


def ollama(text: str, size: int = 5) -> Interaction:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    lines = [
        *({"message": {"role": "assistant", "content": it}, "done": False} for it in pieces),
        {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ]
    return _interaction([json.dumps(line).encode() + b"\n" for line in lines], "ollama")


def _interaction(events: list[bytes], dialect: str) -> Interaction:
    """Return an answer to a request whose tools only the prompt tells of."""
    request = Request("POST", "", (), b'{"model": "m", "stream": true, "messages": []}')
    reads = tuple(Read(len(event)) for event in events)
    return Interaction(request, 200, (), b"".join(events), reads, dialect=dialect, tools=(SEARCH,))


def turn(interaction: Interaction, read_by: Normalizer = normalizer) -> Turn:
    seen = replay(read_by, interaction, interaction.recorded_cuts())
    assert not seen.error
    return seen.turn


def called(got: Turn) -> list[tuple[str, Any]]:
    return [(it.name, json.loads(it.arguments)) for it in got.tool_calls]


each_wire = pytest.mark.parametrize("wire", [ark, ollama])
each_call = pytest.mark.parametrize("spelled", [FLAT, NAMED])


@each_wire
@each_call
@pytest.mark.parametrize(
    "form", ["<tool_call>%s</tool_call>", "<tool_call>%s", "%s"], ids=["closed", "open", "bare"]
)
def test_three_formats_on_both_wires(wire: Wire, spelled: str, form: str) -> None:
    got = turn(wire(form % spelled))
    assert called(got) == [("search", QUERY)]
    assert got.text == ""


@each_wire
def test_words_around_a_bare_call_stay(wire: Wire) -> None:
    got = turn(wire(f"我来查。{FLAT}稍等。"))
    assert called(got) == [("search", QUERY)]
    assert got.text == "我来查。稍等。"


@each_wire
def test_text_is_passed_on_while_it_comes(wire: Wire) -> None:
    interaction = wire("今天的天气很好。" * 20)
    pulled = 0

    def reads() -> Iterator[bytes]:
        nonlocal pulled
        at = 0
        for read in interaction.reads:
            pulled += 1
            yield interaction.body[at : at + read.size]
            at += read.size

    deltas = normalizer.normalize(interaction, reads())
    assert isinstance(next(deltas), TextDelta)
    assert pulled <= 2


def test_native_calls_pass_through() -> None:
    events = [
        chunk({"content": "我来查。"}),
        call('{"query": "a"}', id="call_1", name="search"),
        chunk(None, "tool_calls"),
        DONE,
    ]
    got = turn(_interaction(events, "openai-chat"))
    assert [(it.id, it.name) for it in got.tool_calls] == [("call_1", "search")]
    assert got.text == "我来查。"


def test_a_name_that_nobody_offered_is_no_bare_call() -> None:
    text = '{"tool": "delete_all", "query": "x"}'
    got = turn(ark(text))
    assert (got.tool_calls, got.text) == ((), text)


def test_policies_are_declared() -> None:
    assert normalizer.policies["bare"] == "anywhere"
    assert normalizer.text_dialects == {"tagged-json", "bare-json"}


# The states in which it was broken


@each_wire
@each_call
@pytest.mark.parametrize("broken", [closed_tag_only, first_brace_regex], ids=lambda it: it.name)
def test_both_known_bad_clients_run_a_closed_tag_and_show_it(
    wire: Wire, spelled: str, broken: Normalizer
) -> None:
    got = turn(wire(f"<tool_call>{spelled}</tool_call>"), broken)
    assert called(got) == [("search", QUERY)]
    assert got.text.startswith("<tool_call>")


@pytest.mark.parametrize("text", [f"<tool_call>{FLAT}", FLAT, NAMED])
def test_closed_tag_only_runs_nothing_else(text: str) -> None:
    assert turn(ollama(text), closed_tag_only).tool_calls == ()


@pytest.mark.parametrize("text", [f"<tool_call>{FLAT}", FLAT, NAMED, f"Well: {NAMED} Done."])
def test_first_brace_regex_runs_what_it_can_mend(text: str) -> None:
    assert called(turn(ollama(text), first_brace_regex)) == [("search", QUERY)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"name": "search", "arguments": {"o": {"a": 1}, "query": "x"}}', [{"o": {"a": 1}}]),
        ('{"name": "search", "arguments": {"query": "a } b"}}', []),
        ('{"a": {"b": 1}} {"name": "search", "arguments": {"query": "x"}}', []),
        (f"<tool_call>{FLAT}</tool_call><tool_call>{FLAT}</tool_call>", [QUERY]),
    ],
)
def test_first_brace_regex_cuts_drops_and_loses(text: str, left: list[Any]) -> None:
    assert [value for _, value in called(turn(ark(text), first_brace_regex))] == left


@pytest.mark.parametrize("broken", [closed_tag_only, first_brace_regex], ids=lambda it: it.name)
@pytest.mark.parametrize(
    "text", ["{" * 5000, '{"tool"' * 500, "<tool_call>" * 500, '<tool_call>[[{"tool": {}]]', "{}}"]
)
def test_known_bad_clients_survive_whatever_text_comes(broken: Normalizer, text: str) -> None:
    got = turn(ark(text, 1000), broken)
    assert (got.text, got.tool_calls) == (text, ())
