"""Credentials in the fields of a request are found, and nothing else changes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.recording.secrets.fields import credential_fields
from harness.recording.secrets.known import known_secrets
from harness.recording.secrets.scan import without_secrets
from harness.recording.secrets.scrubber import Scrubber
from harness.wire.interaction import Request
from tests.attack.planted import PLACES
from tests.tables import each_row

VALUE = "q7Zx81aB3dE6gH9jK2mN5p"
SCHEMA = {
    "type": "object",
    "properties": {
        "token": {"type": "string", "description": "The token to cancel"},
        "password": {"type": "string", "default": "hunter2222"},
        "api_key": "string",
    },
    "required": ["token"],
}
CALL = {"name": "f", "arguments": json.dumps({"token": "abcdef", "key": "Enter", "code": "x1"})}
HARMLESS: dict[str, object] = {
    "tools": [{"type": "function", "function": {"name": "login", "parameters": SCHEMA}}],
    "input_schema": SCHEMA,
    "max_tokens": 100,
    "stop_token": "<|end|>",
    "prompt_cache_key": "session-17-of-carol",
    "logprobs": True,
    "labels": [{"key": "sort_key", "value": "name7"}, {"name": "token", "value": "first1"}],
    "metadata": {"sort_key": "name7", "page_token": "CAUQAA17", "author": "Jo", "key": "k1"},
    "messages": [
        {"role": "user", "content": "Is the password `correct horse` good? My token count is 17."},
        {"role": "assistant", "tool_calls": [{"id": "call_aB3dE6gH9jK2", "function": CALL}]},
        {"role": "tool", "content": '{"next_token": "b2Zmc2V0PTE3", "key": "value1"}'},
        {"role": "user", "content": [{"type": "tool_use", "input": {"token": "abc", "key": "a"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "signature": "EqQBCgIYAhIk+w=="}]},
    ],
}
STREAMS = (
    '{"usage":{"prompt_tokens":17,"completion_tokens":12,"token":"ab"},"token_type":"input"}',
    '{"logprobs":{"content":[{"token":"hello","logprob":-0.1,"bytes":[1]}]}}',
    '{"token":{"id":17,"text":"secret","logprob":-1}}',
    '{"text":"Use `password: str` and `password=hash(value1234)`; see https://h/p?page=1&token=x"}',
    '{"text":"Basic information about token: the first one. Authorization: see below."}',
    '{"signature":"EqQBCgIYAhIkVGhpbmtpbmcgb25l+w","encrypted_content":"gAAAAABpq7Zx81aB3dE6gH9"}',
    '{"text":"postgres://user:password@localhost/db, $PASSWORD, {\\"token\\": \\"<API_TOKEN>\\"}"}',
    '{"error":{"code":"invalid_api_key","message":"Set OPENAI_API_KEY=your-key-goes-here17"}}',
)


def scrubbed(request: Request) -> bytes:
    return without_secrets(request.body, "here", known_secrets([request]))


@each_row(
    "place",
    sorted(set(PLACES) - {"form", "multipart", "multipart without quotes", "compressed body"}),
)
def test_a_credential_is_replaced_in_its_place_alone(place: str) -> None:
    request = PLACES[place](VALUE)
    clean = scrubbed(request)
    assert VALUE.encode() not in clean
    assert len(clean) == len(request.body)
    assert json.loads(clean).keys() == json.loads(request.body).keys()
    assert clean == request.body.replace(VALUE.encode(), b"x" * len(VALUE))


@each_row("place", ["form", "multipart"])
@each_row("value", ["ab", "pass word+&=", "päss1"])
def test_a_field_of_a_form_is_replaced(place: str, value: str) -> None:
    request = PLACES[place](value)
    (field,) = credential_fields(request.body)
    assert field.meaning == value
    assert not list(credential_fields(scrubbed(request)))


@pytest.mark.parametrize("value", ["ab", "a\"b\\c'd", "päss 1", "\x00\n1", "1234"])
def test_a_field_of_any_length_is_replaced(value: str) -> None:
    request = Request(body=json.dumps({"password": value, "model": value}).encode())
    clean = json.loads(scrubbed(request))
    assert not any(char.isalnum() and char != "x" for char in clean["password"])
    assert without_secrets(scrubbed(request), "here", known_secrets([request])) == scrubbed(request)


@each_row(
    "body",
    [
        b'{"password": "a\\ud800b17890", "token": "\\udc80"}',
        b'{"password": "\xff\xfe17890abc"}',
        b"password=\xff\xfeabc17890&a=1",
        b'--b\r\nname="password"\r\n\r\n\xff17890abc\r\n--b--',
        b'{"password": ' + b"[" * 5000,
        b'\xef\xbb\xbf{"password": "abc17890"}',
    ],
)
def test_a_damaged_body_is_scrubbed(body: bytes) -> None:
    clean = scrubbed(Request(body=body))
    assert len(clean) == len(body)
    assert b"17890" not in clean


def test_a_name_in_the_conversation_or_a_schema_is_not_a_credential() -> None:
    body = json.dumps(HARMLESS).encode()
    assert not list(credential_fields(body))
    assert scrubbed(Request(body=body)) == body


@each_row("text", STREAMS)
def test_a_stream_without_secrets_stays(text: str) -> None:
    body = f"data: {text}\n\ndata: {text}\n\n".encode()
    assert without_secrets(body, "here") == body


@each_row("value", ["", "xxxx", "REDACTED", "<KEY>", "${KEY}", "your-api-key"])
def test_a_placeholder_is_not_a_credential(value: str) -> None:
    assert not list(credential_fields(json.dumps({"api_key": value}).encode()))


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["auth", "headers", "key", "token", "name", "value", "a"]), inner
            )
        ),
        max_leaves=20,
    )
)
def test_any_json_is_scrubbed_once(value: object) -> None:
    request = Request(body=json.dumps(value).encode())
    clean = scrubbed(request)
    assert len(clean) == len(request.body)
    again = Request(body=clean)
    assert without_secrets(clean, "here", known_secrets([again])) == clean


def test_a_compressed_body_is_stored_as_text_without_its_credential() -> None:
    clean = Scrubber().request(PLACES["compressed body"](VALUE))
    assert json.loads(clean.body)["connection"] == {"password": "x" * len(VALUE)}


def test_numbers_that_are_credentials_stay_numbers() -> None:
    body = b'{"otp": 482913, "max_tokens": 4096, "api_key": [123456, "none"], "pin": null}'
    clean = json.loads(scrubbed(Request("POST", "http://h/v1", (), body)))
    assert clean == {"otp": 111111, "max_tokens": 4096, "api_key": [111111, "none"], "pin": None}
