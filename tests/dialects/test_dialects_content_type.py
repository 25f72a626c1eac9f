"""A response that was stored without headers gets the content type of its body."""

from harness.dialects.table import with_content_type
from harness.wire.aws import AWS_CONTENT_TYPE
from harness.wire.interaction import Interaction, Request
from tests.tables import each_row


def _stored(dialect: str, body: bytes, status: int = 200) -> Interaction:
    return Interaction(Request(), status, (), body, (), dialect=dialect)


@each_row(
    ("dialect", "body", "status", "kind"),
    [
        ("cohere", b"event: message-start\n", 200, "text/event-stream"),
        ("mistral", b"", 200, "text/event-stream"),
        ("ollama", b'{"done": true}\n', 200, "application/x-ndjson"),
        ("gemini", b'[{"candidates": []}]', 200, "application/json"),
        ("openai-chat", b'\n{"choices": []}', 200, "application/json"),
        ("openai-chat", b"busy", 503, "application/json"),
        ("bedrock-converse", b"\0\0\0\x10", 200, AWS_CONTENT_TYPE),
        ("anthropic", b"\0\0\0\x10", 200, AWS_CONTENT_TYPE),
    ],
)
def test_the_content_type_is_that_of_the_body(
    dialect: str, body: bytes, status: int, kind: str
) -> None:
    found = with_content_type(_stored(dialect, body, status))
    assert found.headers == (("content-type", kind),)


def test_nothing_is_added_to_headers_or_of_an_unknown_dialect() -> None:
    unknown = _stored("unknown", b"data: {}\n\n")
    assert with_content_type(unknown) is unknown
    kept = Interaction(Request(), 200, (("x-a", "b"),), b"", (), dialect="cohere")
    assert with_content_type(kept) is kept
