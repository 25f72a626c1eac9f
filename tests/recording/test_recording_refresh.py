"""What a new recording means otherwise is told; what it only says otherwise is not."""

import msgspec

from harness.recording.refresh import differences
from harness.wire.interaction import Interaction, Read, Request
from tests.tables import each_row

SAID = 'data: {{"choices":[{{"index":0,"delta":{{"content":"{}"}},"finish_reason":{}}}]}}\n\n'


def interaction(*texts: str, finish: str = '"stop"', **changes: object) -> Interaction:
    events = "".join(SAID.format(text, "null") for text in texts) + SAID.format("", finish)
    body = (events + "data: [DONE]\n\n").encode()
    made = Interaction(Request(), 200, (), body, (Read(len(body)),))
    return msgspec.structs.replace(made, **changes)


def test_differences_ignores_texts_and_reads() -> None:
    assert differences(interaction("It rains."), interaction("The sun", " shines", ".")) == ()


@each_row(
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
def test_differences_reports_changes_of_meaning(new: Interaction, told: str) -> None:
    assert told in differences(interaction("a"), new)


def test_differences_of_unknown_dialects() -> None:
    old = interaction("a", dialect="unknown")
    assert differences(old, interaction("b", dialect="unknown")) == ()
    deep = b"data: " + b'{"a":' * 40 + b"1" + b"}" * 40 + b"\n\n"
    assert differences(old, interaction("b", dialect="unknown", body=deep))
