"""Frames of a body: joined they are the body, and one that changes leaves the others alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fuzzing.mutators.sent import dumped, sent, value_of
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from tests.dialects.shipped_bodies import shipped

# Deferred, because each process of the tests imports this module.
SAMPLES = st.deferred(
    lambda: st.sampled_from([each for them in shipped().values() for each in them[:12]])
)


@given(SAMPLES)
def test_joined_frames_equal_the_body(interaction: Interaction) -> None:
    found = sent(interaction.body)
    if found is None:
        return
    assert found.into(interaction).body == interaction.body
    told = [(frame.data, frame.event) for frame in found.frames if frame.data is not None]
    assert told == [(frame.data, frame.event) for frame in iter_frames([interaction.body])]


@given(SAMPLES, st.data())
def test_changed_frame_keeps_the_bytes_of_the_others(
    interaction: Interaction, data: st.DataObject
) -> None:
    found = sent(interaction.body)
    if found is None or not found.payload_indexes():
        return
    at = data.draw(st.sampled_from(found.payload_indexes()))
    payload = b'{"x": "\xc3\xa9"}'
    changed = found.put(at, found.changed(found.frames[at], payload))
    told = [frame.data for frame in iter_frames([changed.into(interaction).body])]
    assert told[found.payload_indexes().index(at)] == payload
    assert changed.frames[:at] == found.frames[:at]
    assert changed.frames[at + 1 :] == found.frames[at + 1 :]


@given(SAMPLES)
def test_payload_value_round_trips(interaction: Interaction) -> None:
    found = sent(interaction.body)
    for frame in found.frames if found is not None else ():
        value = value_of(frame)
        if value is not None:
            assert json.loads(dumped(value, frame.data)) == json.loads(frame.data or b"")


@pytest.mark.parametrize(
    "payload", [b'{"a": 1.10}', b'{"a": 1e400}', b'{"a": 1, "a": 2}', b"[1]", b"[DONE]", b'{"a":']
)
def test_value_of_is_none_if_encoding_changes_it(payload: bytes) -> None:
    found = sent(b"data: " + payload + b"\n\n")
    assert found is not None
    assert value_of(found.frames[0]) is None


@pytest.mark.parametrize("body", [b"", b"<html></html>", b"\0\0", b"{\n}\n" * 2])
def test_body_without_frames_is_none(body: bytes) -> None:
    found = sent(body)
    assert found is None or all(value_of(frame) is None for frame in found.frames)
