"""What a new recording means otherwise is told; what it only says otherwise is not."""

import msgspec
import pytest

from harness.runs.refresh import differences
from harness.wire.interaction import Interaction, Read, Request

SAID = 'data: {{"choices":[{{"index":0,"delta":{{"content":"{}"}},"finish_reason":{}}}]}}\n\n'


def interaction(*texts: str, finish: str = '"stop"', **changes: object) -> Interaction:
    events = "".join(SAID.format(text, "null") for text in texts) + SAID.format("", finish)
    body = (events + "data: [DONE]\n\n").encode()
    made = Interaction(Request(), 200, (), body, (Read(len(body)),))
    return msgspec.structs.replace(made, **changes)


def test_other_words_cut_otherwise_mean_the_same() -> None:
    assert differences(interaction("It rains."), interaction("The sun", " shines", ".")) == ()


@pytest.mark.parametrize(
    ("new", "told"),
    [
        (interaction("a", finish='"length"'), "finish: was 'stop', is 'length'"),
        (interaction("a", status=429), "status: was 200, is 429"),
        (interaction("a", ended="reset"), "ended: was 'complete', is 'reset'"),
        (interaction(), "text: was True, is False"),
        (
            interaction("a", headers=(("content-type", "text/plain"),)),
            "content type: was '', is 'text/plain'",
        ),
        (
            interaction("a", body=b'data: {"choices":[{"delta":{"tool_calls":[]}}]}\n\n'),
            "event kind or field new: choices[].delta.tool_calls",
        ),
        (interaction("a", body=b"event: x\ndata: {}\n\n"), "event kind or field new: event x"),
        (
            interaction("a", body=b'data: {"choices":[{"index":0}]}\n\n'),
            "event kind or field gone: choices[].delta.content",
        ),
    ],
)
def test_what_means_otherwise_is_told(new: Interaction, told: str) -> None:
    assert told in differences(interaction("a"), new)


def test_bodies_of_no_dialect_are_compared_too() -> None:
    old = interaction("a", dialect="unknown")
    assert differences(old, interaction("b", dialect="unknown")) == ()
    deep = b"data: " + b'{"a":' * 40 + b"1" + b"}" * 40 + b"\n\n"
    assert differences(old, interaction("b", dialect="unknown", body=deep))
