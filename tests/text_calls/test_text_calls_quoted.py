"""A call that a string argument quotes is never executed, however the text is cut or broken."""

import json
import os
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fuzzing.turns.text_calls import OFFERED, quoting_calls
from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.turns.deltas import (
    CUT_SHORT,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.tables import each_row

_NAMES = sorted(TEXT_DIALECTS)
_CUTS = 4
# The end of the text is the end of an input without a closing marker, or of a Harmony message
# without one, and then only the finish reason shows that it was truncated.
_ENDED_BY_THE_TEXT = {"harmony", *(name for name, each in TEXT_DIALECTS.items() if each.open_ended)}


def _read(text: str, dialects: frozenset[str], reason: FinishReason) -> Turn:
    deltas: list[Delta] = [TextDelta(text), Finish(reason, str(reason.value))]
    return fold(read_text_calls(deltas, OFFERED, TextPolicy(dialects)))


@pytest.mark.parametrize("outer", _NAMES)
@given(data=st.data())
def test_a_quoted_call_is_never_executed(outer: str, data: st.DataObject) -> None:
    quoted = data.draw(st.sampled_from(_NAMES))
    text, written = data.draw(quoting_calls(outer, quoted))
    dialects = data.draw(st.sampled_from((frozenset(_NAMES), frozenset((outer, quoted)))))
    cuts = data.draw(st.lists(st.integers(1, len(text)), min_size=_CUTS, max_size=_CUTS))
    value = json.loads(written.arguments)
    for cut in (*cuts, len(text)):
        for reason in (FinishReason.STOP, FinishReason.LENGTH):
            calls = _read(text[:cut], dialects, reason).tool_calls
            assert {call.name for call in calls} <= {written.name}
            if reason is FinishReason.LENGTH or outer not in _ENDED_BY_THE_TEXT:
                assert all(json.loads(call.arguments or "{}") == value for call in calls)


_ENDS: Final[tuple[Finish | StreamFailure, ...]] = (
    *(Finish(reason, str(reason.value)) for reason in FinishReason),
    StreamFailure("interrupted", "the stream ended before its end"),
)
_POLICY: Final = TextPolicy(frozenset(_NAMES))
# Each pair at each cut with each end, in the deep profile (more than 200,000 readings); else a few.
_IS_DEEP: Final = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
_STEP: Final = 1 if _IS_DEEP else 151


@each_row("outer", _NAMES)
def test_no_cut_of_a_call_that_quotes_another_is_a_call(outer: str) -> None:
    for number, quoted in enumerate(_NAMES):
        inner = TEXT_DIALECTS[quoted].write([WrittenCall("search", '{"query": "b"}')])
        value = {"city": f"Use {inner} as\n{inner}"}
        text = TEXT_DIALECTS[outer].write([WrittenCall("get_weather", json.dumps(value))])
        for cut in range(1 + number % _STEP, len(text), _STEP):
            for end in _ENDS:
                deltas: list[Delta] = [TextDelta(text[:cut]), end]
                turn = fold(read_text_calls(deltas, OFFERED, _POLICY))
                where = (quoted, cut, end)
                assert {call.name for call in turn.tool_calls} <= {"get_weather"}, where
                is_cut = isinstance(end, StreamFailure) or end.reason in CUT_SHORT
                if is_cut or outer not in _ENDED_BY_THE_TEXT:
                    for call in turn.tool_calls:
                        assert json.loads(call.arguments) == value, where
