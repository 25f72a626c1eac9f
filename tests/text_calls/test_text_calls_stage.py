"""The stage: native calls beside those in the text, failed turns, ids, leaked markup."""

from collections.abc import Iterable

import pytest

from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.tables import each_row
from tests.text_calls.round_trip import TOOLS

_CALL = '<tool_call>{"name": "f", "arguments": {"n": 1}}</tool_call>'
_POLICY = TextPolicy(frozenset({"tagged-json"}))
_STOP = Finish(FinishReason.STOP, "stop")


def _native(
    arguments: str, *, index: int = 0, name: str = "f", kind: str = "function"
) -> list[Delta]:
    return [
        ToolCallStart(index, f"call_{index}", name, kind),  # type: ignore[arg-type]  # one of its values
        ArgumentsDelta(index, arguments),
        ToolCallEnd(index),
    ]


def _turn(deltas: Iterable[Delta], policy: TextPolicy = _POLICY, seed: str = "") -> Turn:
    return fold(read_text_calls(deltas, TOOLS, policy, seed=seed))


def test_calls_come_after_the_text_and_turn_the_finish() -> None:
    said = list(read_text_calls([TextDelta("Hi " + _CALL), _STOP], TOOLS, _POLICY))
    assert [type(delta) for delta in said] == [
        TextDelta,
        ToolCallStart,
        ArgumentsDelta,
        ToolCallEnd,
        Finish,
    ]
    assert said[-1] == Finish(FinishReason.TOOL_CALLS, "stop")


def test_a_finish_that_says_more_than_stop_is_kept() -> None:
    turn = _turn([TextDelta(_CALL), Finish(FinishReason.LENGTH, "length")])
    assert turn.finish == Finish(FinishReason.LENGTH, "length")
    assert len(turn.tool_calls) == 1


def test_no_call_of_a_failed_turn_runs() -> None:
    turn = _turn([TextDelta(_CALL), StreamFailure("interrupted", "no end")])
    assert turn.tool_calls == ()
    assert turn.parse_errors[0].error == "the turn failed (interrupted): no end"


def test_a_half_call_of_a_failed_turn_is_no_text() -> None:
    turn = _turn([TextDelta("Hi " + _CALL[:30]), StreamFailure("interrupted")])
    assert (turn.text, turn.tool_calls) == ("Hi ", ())
    assert len(turn.parse_errors) == 1


def test_a_native_call_wins_over_the_same_call_in_the_text() -> None:
    turn = _turn([TextDelta(_CALL), *_native('{"n":1}'), _STOP])
    assert [call.id for call in turn.tool_calls] == ["call_0"]
    assert (turn.text, turn.parse_errors) == ("", ())


def test_another_call_in_the_text_stays_beside_a_native_one() -> None:
    turn = _turn([TextDelta(_CALL), *_native('{"n":2}'), _STOP])
    assert [call.arguments for call in turn.tool_calls] == ['{"n":2}', '{"n": 1}']


@pytest.mark.parametrize("leftover", ["<tool_call>", "</tool_call>", _CALL[:30], "<tool_call>\n"])
def test_what_is_left_of_a_native_call_in_the_text_is_hidden(leftover: str) -> None:
    turn = _turn([TextDelta(leftover), *_native("{}"), _STOP])
    assert len(turn.tool_calls) == 1
    assert (turn.text.strip(), turn.parse_errors) == ("", ())


def test_identical_calls_in_the_text_stay_two_with_two_ids() -> None:
    turn = _turn([TextDelta(_CALL + _CALL), _STOP])
    assert len({call.id for call in turn.tool_calls}) == 2


def test_made_up_ids_differ_from_turn_to_turn() -> None:
    turns = [_turn([TextDelta(_CALL), _STOP], seed=seed) for seed in ("one", "two")]
    assert turns[0].tool_calls[0].id != turns[1].tool_calls[0].id


def test_a_leaked_marker_in_a_native_name_is_cut_off() -> None:
    turn = _turn([*_native("{}", name="f<|channel|>commentary"), _STOP])
    assert [call.name for call in turn.tool_calls] == ["f"]


def test_leaked_markup_in_native_arguments_is_a_parse_error_unless_the_policy_keeps_it() -> None:
    deltas: list[Delta] = [*_native('{"city": "ls</｜DSML｜parameter>"}'), _STOP]
    keep = TextPolicy(_POLICY.dialects, markup_in_arguments="keep")
    assert [error.mode for error in _turn(deltas).parse_errors] == ["tool_use"]
    assert len(_turn(deltas, keep).tool_calls) == 1


def test_the_free_input_of_a_custom_tool_may_hold_anything() -> None:
    turn = _turn([*_native("ls</｜DSML｜parameter>", kind="custom"), _STOP])
    assert len(turn.tool_calls) == 1


def test_undeclared_tools_are_rejected_or_text() -> None:
    said = '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'
    as_text = TextPolicy(_POLICY.dialects, undeclared="text")
    assert [error.name for error in _turn([TextDelta(said), _STOP]).parse_errors] == ["rm"]
    shown = _turn([TextDelta(said), _STOP], as_text)
    assert (shown.text, shown.parse_errors) == (said, ())


def test_a_call_that_is_never_closed_counts_or_not_by_policy() -> None:
    said = _CALL.removesuffix("</tool_call>")
    never = TextPolicy(_POLICY.dialects, unclosed="never")
    assert len(_turn([TextDelta(said), _STOP]).tool_calls) == 1
    assert len(_turn([TextDelta(said), _STOP], never).parse_errors) == 1
    assert len(_turn([TextDelta(_CALL), _STOP], never).tool_calls) == 1


def test_drafts_of_the_reasoning_channel_come_back_before_the_answer() -> None:
    deltas: list[Delta] = [ReasoningDelta(_CALL), TextDelta("No."), _STOP]
    assert list(read_text_calls(deltas, TOOLS, _POLICY))[:2] in (
        [ReasoningDelta(_CALL), TextDelta("No.")],
        [TextDelta("No."), ReasoningDelta(_CALL)],
    )
    assert _turn(deltas).tool_calls == ()


@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
def test_a_draft_does_not_run_where_the_reply_was_cut(reason: FinishReason) -> None:
    cut = Finish(reason, "cut")
    thought = _turn([ReasoningDelta("So " + _CALL), cut])
    tagged = _turn([TextDelta("<think>So " + _CALL), cut])
    closed = _turn([TextDelta(_CALL + "</think>"), cut])
    for turn, reasoning in ((thought, "So "), (tagged, "So "), (closed, "")):
        assert (turn.tool_calls, turn.parse_errors) == ((), ())
        assert turn.reasoning == reasoning + _CALL


@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
def test_a_whole_reply_that_was_cut_is_a_rejected_call(reason: FinishReason) -> None:
    policy = TextPolicy(frozenset({"bare-json"}))
    said = TextDelta('{"name": "f", "arguments": {"n": 1}}')
    turn = _turn([said, Finish(reason, "cut")], policy)
    assert (turn.tool_calls, [error.name for error in turn.parse_errors]) == ((), ["f"])


@each_row(
    ("text", "shown"),
    [
        ("Wait.[TOOL_CALLS]", "Wait."),
        ("Wait.<|start|>assistant", "Wait."),
        ("Wait. <start_function_call>", "Wait. "),
        ("Wait. <|start|>assistant", "Wait. <|start|>assistant"),
        ("`[TOOL_CALLS]", "`[TOOL_CALLS]"),
        ("[", "["),
    ],
)
def test_the_start_of_markup_is_hidden_where_the_length_limit_cuts_it(
    text: str, shown: str
) -> None:
    policy = TextPolicy(frozenset({"mistral-tool-calls", "harmony", "gemma", "pythonic"}))
    for pieces in ([text], list(text)):
        deltas = [TextDelta(piece) for piece in pieces]
        cut = _turn([*deltas, Finish(FinishReason.LENGTH, "length")], policy)
        assert (cut.text, cut.tool_calls, cut.parse_errors) == (shown, (), ())
        assert _turn([*deltas, _STOP], policy).text == text


def test_white_space_before_sealed_data_is_not_held() -> None:
    """Sealed data belongs to the text before it, and a space may always be the last of a text."""
    deltas: list[Delta] = [TextDelta("Oslo. "), SealedDelta("signature", "value", "text"), _STOP]
    policy = TextPolicy(frozenset(TEXT_DIALECTS) - {"action-protocol"})
    assert list(read_text_calls(deltas, TOOLS, policy)) == deltas
