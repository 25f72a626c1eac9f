"""A raw body is taken however it was cut, and as its bytes are."""

from pathlib import PurePath

from harness.recording.importing import Imported, Labels, import_file
from harness.wire.aws import encode_event
from tests.tables import each_row

LINE = b'{"model":"m","created_at":"now","message":{"content":"a"},"done":false}'
LAST = b'{"model":"m","created_at":"now","message":{"content":""},"done":true}'
CHUNK = b'{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}'
V1 = b'{"event_type":"text-generation","text":"a"}'
V1_END = b'{"event_type":"stream-end","finish_reason":"COMPLETE"}'
MESSAGE = encode_event(b'{"role":"assistant"}', "messageStart")


def imported(data: bytes, dialect: str = "") -> Imported:
    return import_file(PurePath("a"), data, "a", Labels(dialect=dialect))


def told(data: bytes, dialect: str = "") -> tuple[str, str, bytes]:
    result = imported(data, dialect)
    (cassette,) = result.cassettes
    (interaction,) = cassette.interactions
    assert cassette.origin.kept == "response body; no request, headers, reads or times"
    return result.container, interaction.dialect, interaction.body


@each_row(
    "data",
    [
        LINE + b"\n" + LINE[:9],
        b"[" + CHUNK + b"," + CHUNK[:9],
        b'{"error":"overloaded"}',
        b"<html>502</html>",
        b"",
        b" \n",
        b"[" * 100_000,
        b"\x00\x00",
        MESSAGE[:5],
    ],
)
def test_with_a_dialect_any_bytes_are_a_body(data: bytes) -> None:
    assert told(data, "tgi") == ("raw-body", "tgi", data)


@each_row(
    ("data", "dialect"),
    [
        (MESSAGE, "bedrock-converse"),
        (MESSAGE + MESSAGE[:20], "bedrock-converse"),
        (LINE + b"\r\n\r\n" + LINE[:9], "ollama"),
        (b"[" + CHUNK + b",\n" + CHUNK[:9], "gemini"),
        (b" [" + CHUNK, "gemini"),
        (V1 + b"\n" + V1_END[:9], "cohere"),
    ],
)
def test_a_body_is_known_by_its_start(data: bytes, dialect: str) -> None:
    assert told(data) == ("raw-body", dialect, data)


@each_row(
    "data",
    [
        b"",
        MESSAGE[:11],
        b"\0" * 20,
        b'{"a":1}\n{"b"',
        LINE + b"\nno\n" + LINE,
        b"[" * 100_000,
        b"[" + CHUNK + b"}",
        b"[1,",
        b"<html>",
    ],
)
def test_other_bytes_are_nobodys_recording(data: bytes) -> None:
    assert imported(data).container == ""


@each_row("end", [b"", b"\n", b"\r\n"])
@each_row("gap", [b"\n", b"\r\n", b"\n\n"])
def test_lines_of_one_response_stay_as_they_are(gap: bytes, end: bytes) -> None:
    for first, last, dialect in ((LINE, LAST, "ollama"), (V1, V1_END, "cohere")):
        data = first + gap + last + end
        assert told(data) == ("chunk-list", dialect, data)


def test_lines_of_two_responses_are_parted() -> None:
    (cassette,) = imported(b"\r\n".join([LINE, LAST, LINE, LAST])).cassettes
    bodies = [interaction.body for interaction in cassette.interactions]
    assert bodies == [LINE + b"\n" + LAST + b"\n"] * 2
    assert "framing rebuilt" in cassette.origin.kept
