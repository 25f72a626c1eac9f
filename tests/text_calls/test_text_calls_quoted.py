"""A call that a string argument quotes is never executed, however the text is cut or broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fuzzing.turns.text_calls import OFFERED, quoting_calls
from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Turn

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
