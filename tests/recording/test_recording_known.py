"""A credential of a request is removed wherever a body repeats it, in each encoding."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from harness.recording.secrets.known import iter_credentials, known_secrets, literal_detectors
from harness.recording.secrets.scan import without_secrets
from harness.wire.interaction import Request
from tests.attack.planted import PLACES, REPEATS, REPEATS_OF_SHORT, traces_in
from tests.tables import each_row

SECRETS = st.text("abXYZ019-_+/=&%:é", min_size=8, max_size=30).filter(
    lambda text: len(set(text)) > 3 and text.isascii() is not None and "x" not in text
)


def clean(body: bytes, request: Request) -> bytes:
    return without_secrets(body, "here", known_secrets([request]))


@each_row("repeat", REPEATS)
@each_row("place", ["bearer", "basic", "cookie", "key parameter", "tool headers"])
def test_a_credential_is_found_in_each_encoding(place: str, repeat: str) -> None:
    value = "k7+Zx/81aB3=dE6&gH9"
    body = f'data: {{"text": "[{REPEATS[repeat](value)}]"}}\n\n'.encode()
    found = clean(body, PLACES[place](value))
    assert len(found) == len(body)
    assert not list(traces_in(found, value))


@each_row("repeat", REPEATS_OF_SHORT)
def test_a_short_credential_is_found_as_a_word(repeat: str) -> None:
    body = f"you sent '{REPEATS[repeat]('k7Zx')}', not k7Zxy or ak7Zx".encode()
    found = clean(body, PLACES["bearer"]("k7Zx"))
    assert found.startswith(b"you sent '")
    assert not found.startswith(f"you sent '{REPEATS[repeat]('k7Zx')}'".encode())
    assert found.endswith(b", not k7Zxy or ak7Zx")


@given(value=SECRETS, before=st.binary(max_size=4), after=st.binary(max_size=4))
def test_base64_around_a_credential_hides_nothing(value: str, before: bytes, after: bytes) -> None:
    body = base64.b64encode(before + value.encode() + after)
    found = without_secrets(body, "here", tuple(literal_detectors(value)))
    assert value.encode() not in base64.b64decode(found)
    assert len(found) == len(body)


@each_row("word", ["EMPTY", "none", "ollama", "lm-studio", "dummy", "1234", "test"])
def test_a_dummy_is_not_removed_elsewhere(word: str) -> None:
    assert not list(iter_credentials(PLACES["bearer"](word)))
    body = f"a {word} b".encode()
    assert clean(body, PLACES["x-api-key"](word)) == body


def test_a_signed_request_has_a_key_and_a_signature() -> None:
    value = (
        "AWS4-HMAC-SHA256 Credential=AKIAQ3EGSKZ7VBNM2XYW/20260101/us-east-1/bedrock/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6"
    )
    found = set(iter_credentials(Request(headers=(("Authorization", value),))))
    assert found == {"AKIAQ3EGSKZ7VBNM2XYW", "5d672d79c15b13162d9279b0855cfba6"}


def test_basic_has_a_password() -> None:
    found = set(iter_credentials(PLACES["basic"]("k7Zx81")))
    assert found == {base64.b64encode(b"bob:k7Zx81").decode(), "bob:k7Zx81", "k7Zx81"}
