"""HIST-SEALED-LOST: what the provider sealed comes back unchanged and in its place."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from harness.conversation.calling import CallResults
from harness.conversation.mutants.edit import plain_config
from harness.conversation.plain_loop import plain
from harness.conversation.task import Task
from harness.conversation.tool_loop import ToolLoop
from harness.dialects.table import DIALECTS
from harness.judging.conversations.judge import judge_conversation
from harness.results.conversation import Conversation
from harness.results.finding import Finding
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    TextDelta,
    call_deltas,
)
from harness.turns.messages import SEALED
from harness.turns.turn import Turn
from tests.conversation.conversation_provider import WEATHER
from tests.conversation.conversation_stage import BERGEN, OSLO, stage

Entries = list[dict[str, Any]]
Edit = Callable[[Entries], Entries]
CALLS: Final = tuple(
    call_deltas(index, f"c{index}", WEATHER.name, f'{{"city": "{city}"}}')
    for index, city in enumerate(("Oslo", "Bergen"))
)
SIGNED: Final[dict[str, tuple[Delta, ...]]] = {
    "anthropic": (
        ReasoningDelta("One."),
        SealedDelta("signature", "first="),
        SealedDelta("redacted_thinking", "hidden"),
        *CALLS[0],
        SealedDelta("signature", "second="),
        *CALLS[1],
    ),
    "gemini": (
        TextDelta("Wait."),
        SealedDelta("thoughtSignature", "text=", "text"),
        *CALLS[0],
        SealedDelta("thoughtSignature", "call=", "call", 0),
        *CALLS[1],
    ),
    "openai-responses": (
        SealedDelta("reasoning", "first="),
        *CALLS[0],
        SealedDelta("reasoning", "second="),
        *CALLS[1],
    ),
}


def findings(dialect: str, edit: Edit, *, sealed: bool = True) -> tuple[Finding, ...]:
    """Return the findings of the plain loop that stores what `edit` makes of the sealed data."""

    class Edited(ToolLoop):
        def store_turn(self, turn: Turn, found: CallResults) -> None:
            before = len(self.history)
            super().store_turn(turn, found)
            for message in self.history[before:]:
                if SEALED in message:
                    message[SEALED] = edit(message[SEALED])

    def converse(task: Task) -> Conversation:
        return Edited(task, *plain_config(task)).run_conversation()

    row = DIALECTS[dialect]
    signed = [it for it in SIGNED[dialect] if sealed or not isinstance(it, SealedDelta)]
    replies = tuple(
        b"".join(row.write(deltas))
        for deltas in (
            (*signed, Finish(FinishReason.TOOL_CALLS)),
            (TextDelta("晴。"), Finish(FinishReason.STOP)),
        )
    )
    subject = stage("sealed", replies, executed=(OSLO, BERGEN), dialect=dialect)
    result, _ = judge_conversation(subject, replace(plain, converse=converse))
    assert {each.rule for each in result.findings} <= {"HIST-SEALED-LOST"}
    return result.findings


def _without(kind: str) -> Edit:
    return lambda entries: [it for it in entries if it["value"] != kind]


def _changed(entries: Entries) -> Entries:
    return [it | {"value": it["value"].rstrip("=")} for it in entries]


def _swapped(entries: Entries) -> Entries:
    values = [it["value"] for it in entries]
    return [it | {"value": value} for it, value in zip(entries, reversed(values), strict=True)]


def _on_the_other_call(entries: Entries) -> Entries:
    return [it | {"call": 1} if it.get("of") == "call" else it for it in entries]


def _at_the_end(entries: Entries) -> Entries:
    return [it | {"call": 2} for it in entries]


@pytest.mark.parametrize("dialect", SIGNED)
def test_what_is_stored_unchanged_is_no_violation(dialect: str) -> None:
    assert findings(dialect, lambda entries: entries) == ()


@pytest.mark.parametrize(
    ("dialect", "edit", "came"),
    [
        ("anthropic", _without("first="), [""]),
        ("anthropic", _without("hidden"), [""]),
        ("anthropic", _changed, ["", ""]),
        ("anthropic", _swapped, ["", ""]),
        ("anthropic", _at_the_end, ["", "", ""]),
        ("gemini", _without("call="), [""]),
        ("gemini", _without("text="), ["not-required"]),
        ("gemini", _on_the_other_call, [""]),
        ("openai-responses", _without("first="), ["not-required"]),
        ("openai-responses", _changed, ["not-required", "not-required"]),
        ("openai-responses", _at_the_end, ["not-required", "not-required"]),
    ],
)
def test_each_way_of_losing_it_is_reported(dialect: str, edit: Edit, came: list[str]) -> None:
    assert [each.came for each in findings(dialect, edit)] == came


def test_a_finding_shows_the_data_with_its_place() -> None:
    (finding,) = findings("gemini", _on_the_other_call)
    assert finding.path == "requests[1].messages"
    assert finding.expected == "thoughtSignature of call 0: call="
    assert finding.actual == "thoughtSignature of call 1: call="


def test_nothing_is_required_of_a_reply_that_sealed_nothing() -> None:
    assert findings("openai-responses", lambda _: [], sealed=False) == ()
