"""Every dialect of the table: the oracle agrees with the reader or abstains, and never raises.

Agreement on written and truncated streams is tested in `test_dialects_every`, with the round trip.
"""

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects import table
from harness.dialects.table import DIALECTS, oracle_reading
from harness.errors import UsageError
from harness.turns.arguments import same_value
from harness.turns.deltas import FinishReason
from harness.turns.fold import fold
from tests.dialects.oracle_agreement import assert_agrees, assert_sound, interaction
from tests.dialects.round_trips import ROUND_TRIPS
from tests.dialects.scripted_turns import scripts
from tests.dialects.shipped_bodies import bodies, shipped

each_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))
# The most bundled bodies of one dialect that are compared.
_MOST_BODIES = 300


@each_dialect
def test_the_oracle_agrees_on_bundled_bodies(dialect: str) -> None:
    bundled = shipped()[dialect]
    assert len(bundled) >= 10
    for one in bundled[:: 1 + len(bundled) // _MOST_BODIES]:
        assert_agrees(one)


@each_dialect
def test_a_last_blank_line_that_an_editor_cut_leaves_bundled_bodies_judged(dialect: str) -> None:
    whole = [one for one in shipped()[dialect] if one.body.endswith((b"}\n\n", b"}\r\n\r\n"))]
    for one in whole[:: 1 + len(whole) // _MOST_BODIES]:
        before = oracle_reading(one)
        after = oracle_reading(msgspec.structs.replace(one, body=one.body.rstrip()))
        if before.calls is not None and before.knows("text") and before.knows("end"):
            assert after.calls is not None, one.body
            assert before.text in [it.text for it in (after, *after.alternatives)]


@each_dialect
@given(data=st.data())
def test_the_oracle_does_not_abstain_from_the_contract(dialect: str, data: st.DataObject) -> None:
    row = ROUND_TRIPS[dialect]
    script = data.draw(scripts(row.finishes, text_only=row.text_only, interleaves=False))
    body = b"".join(DIALECTS[dialect].write(script.deltas()))
    # Without the rule about text calls, which holds for all dialects.
    reading = DIALECTS[dialect].oracle().read(interaction(dialect, body))
    turn = fold(script.deltas())
    assume("think" not in turn.text)  # a tag may separate reasoning
    assert reading.finish == script.finish.raw
    if reading.knows("text") or not DIALECTS[dialect].may_send_snapshots:
        assert reading.knows("text")
        assert (reading.text, reading.reasoning) == (turn.text, turn.reasoning)
    if reading.calls is not None:
        assert [call.name for call in reading.calls] == [call.name for call in script.calls]
        pairs = zip(reading.calls, script.calls, strict=True)
        assert all(same_value(call.arguments or "{}", it.arguments or "{}") for call, it in pairs)
    known = row.finishes[0].raw == script.finish.raw
    if known and not any("\ud800" <= mark <= "\udfff" for mark in reading.text):
        assert reading.knows("end")


def test_an_interaction_is_read_once_as_long_as_it_lives() -> None:
    one, other = (interaction("openai-chat", b"data: [DONE]\n\n") for _ in range(2))
    first = oracle_reading(one)
    assert oracle_reading(one) is first
    assert oracle_reading(other) == first
    assert oracle_reading(other) is not first
    kept = len(table._READINGS)
    del one, other
    assert len(table._READINGS) == kept - 2


SIGNS = st.text('[]{},"a:\n', max_size=40).map(str.encode)
LINES = st.lists(
    st.sampled_from([b"data:", b"\n", b"\r", b" ", b"{", b'"', b"}", b":", b"[DONE]"])
).map(b"".join)


@each_dialect
@given(st.binary(max_size=80) | SIGNS | LINES)
def test_no_bytes_raise(dialect: str, body: bytes) -> None:
    assert_sound(oracle_reading(interaction(dialect, body)), body)


@each_dialect
@given(data=st.data(), junk=st.binary(max_size=8))
def test_no_damaged_body_raises(dialect: str, data: st.DataObject, junk: bytes) -> None:
    body = data.draw(st.sampled_from(bodies(dialect)))
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, len(body)))
    damaged = body[:start] + junk + body[end:]
    assert_sound(oracle_reading(interaction(dialect, damaged)), damaged)


@each_dialect
def test_an_error_status_is_an_error(dialect: str) -> None:
    assert oracle_reading(interaction(dialect, b"", 500)).error is not None


@each_dialect
def test_each_finish_word_of_the_contract_has_a_meaning(dialect: str) -> None:
    row = ROUND_TRIPS[dialect]
    for finish in row.finishes:
        body = b"".join(DIALECTS[dialect].write([finish]))
        meaning = oracle_reading(interaction(dialect, body)).meaning
        reason = finish.reason
        expected = FinishReason.STOP if reason is FinishReason.TOOL_CALLS else reason
        assert meaning in (expected, None)


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no oracle for the dialect 'nonsense'") as caught:
        oracle_reading(interaction("nonsense", b""))
    assert "anthropic, bedrock-converse" in caught.value.hint
