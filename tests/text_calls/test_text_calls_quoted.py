"""A call that a string argument quotes is never executed, however the text is cut or broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn

_TOOLS = tuple(
    Tool(name, "", {"type": "object", "properties": {key: {"type": "string"}}})
    for name, key in (("write_file", "content"), ("delete_all", "path"))
)
_AROUND = (("", ""), ("Use ", " as shown"), ('say "', '" now'), ("\n", "\n"), ("```\n", "\n```"))
_UNESCAPED: tuple[dict[str, str], ...] = (
    {},
    {r"\n": "\n"},
    {r"\"": '"'},
    {r"\n": "\n", r"\"": '"'},
)
_CUTS = 4
# The end of the text is the end of an input without a closing marker, or follows what may be the
# closing marker of a value in GLM: only the finish reason shows that it was truncated.
_ENDED_BY_THE_TEXT = {"glm", *(name for name, each in TEXT_DIALECTS.items() if each.open_ended)}


@st.composite
def _answers(draw: st.DrawFn, outer: str) -> tuple[str, dict[str, str], frozenset[str]]:
    """Return a call that quotes another one, its arguments, and the dialects that are read."""
    quoted = draw(st.sampled_from(sorted(TEXT_DIALECTS)))
    before, after = draw(st.sampled_from(_AROUND))
    arguments = draw(st.sampled_from(("{}", '{"path": "/tmp"}')))
    inner = TEXT_DIALECTS[quoted].write([WrittenCall("delete_all", arguments)])
    value = {"content": f"{before}{inner}{after}"}
    text = TEXT_DIALECTS[outer].write([WrittenCall("write_file", json.dumps(value))])
    for escape, character in draw(st.sampled_from(_UNESCAPED)).items():
        text = text.replace(escape, character)
    return (
        text,
        value,
        draw(st.sampled_from((frozenset(TEXT_DIALECTS), frozenset((outer, quoted))))),
    )


def _read(text: str, dialects: frozenset[str], reason: FinishReason) -> Turn:
    deltas: list[Delta] = [TextDelta(text), Finish(reason, str(reason.value))]
    return fold(read_text_calls(deltas, _TOOLS, TextPolicy(dialects)))


@pytest.mark.parametrize("outer", sorted(TEXT_DIALECTS))
@given(data=st.data())
def test_a_quoted_call_is_never_executed(outer: str, data: st.DataObject) -> None:
    text, value, dialects = data.draw(_answers(outer))
    cuts = data.draw(st.lists(st.integers(1, len(text)), min_size=_CUTS, max_size=_CUTS))
    for cut in (*cuts, len(text)):
        for reason in (FinishReason.STOP, FinishReason.LENGTH):
            turn = _read(text[:cut], dialects, reason)
            assert {call.name for call in turn.tool_calls} <= {"write_file"}
            if reason is FinishReason.LENGTH or outer not in _ENDED_BY_THE_TEXT:
                assert all(json.loads(it.arguments or "{}") == value for it in turn.tool_calls)
