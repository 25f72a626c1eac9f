"""One file gives one cassette for each model, honestly labelled; the rest is counted."""

import json
from pathlib import Path, PurePath

import msgspec
import pytest
import yaml

from harness.dialects.table import DIALECTS
from harness.recording.importing import (
    Imported,
    Labels,
    import_file,
    only_answers,
    reasons_to_skip,
)
from harness.recording.recorder import Recorder
from harness.wire.aws import encode_event
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette, parse_cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.interaction import Headers
from tests.attack.planted import PLACES
from tests.tables import each_row

CHUNK = 'data: {"object":"chat.completion.chunk","model":"m-1","choices":[]}\n\n'
OPENAI = "https://api.openai.com/v1/chat/completions"
STREAMED = {"stream": True}


def recorded(*parts: tuple[str, object, str | bytes], headers: object = None) -> bytes:
    """Return a vcrpy cassette of (address, JSON request, response body)."""
    items = [
        {
            "request": {"method": "POST", "uri": uri, "headers": headers, "body": json.dumps(sent)},
            "response": {"status": {"code": 200}, "headers": headers, "body": {"string": body}},
        }
        for uri, sent, body in parts
    ]
    return yaml.safe_dump({"interactions": items}).encode()


def imported(data: bytes, path: str = "x/a.yaml", **labels: str) -> Imported:
    return import_file(PurePath(path), data, "a.yaml", Labels(**labels))


def test_each_model_is_a_cassette() -> None:
    parts = [(OPENAI, STREAMED | {"model": model}, CHUNK) for model in ("a", "b", "a")]
    result = imported(recorded(*parts))
    assert [(c.model, len(c.interactions)) for c in result.cassettes] == [("a", 2), ("b", 1)]
    assert [c.origin.source for c in result.cassettes] == ["a.yaml#0,2", "a.yaml#1"]
    assert {c.provider for c in result.cassettes} == {"openai"}
    assert (result.container, result.skipped) == ("vcr-yaml", ())


def test_the_origin_is_honest() -> None:
    (cassette,) = imported(recorded((OPENAI, STREAMED, CHUNK)), licence="MIT").cassettes
    origin = cassette.origin
    assert (origin.kind, origin.by, origin.licence) == ("imported", "harness import", "MIT")
    assert origin.kept == "bodies and headers; no reads"


def test_what_is_not_taken_is_counted_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(DIALECTS, "tgi")
    plain = '{"object": "chat.completion"}'
    result = imported(
        recorded(
            ("http://h/generate_stream", STREAMED, "data: {}\n\n"),
            ("https://api.openai.com/v1/embeddings", {}, "{}"),
            (OPENAI, {"model": "m"}, plain),
            (OPENAI, "not kept", ""),
            (OPENAI, STREAMED, CHUNK),
        )
    )
    assert result.skipped == (
        "dialect tgi is not supported",
        "no recognized dialect",
        "the request was not for a stream",
        "empty response to an unknown request",
    )
    assert [c.origin.source for c in result.cassettes] == ["a.yaml#4"]
    assert [(n, found.confidence) for n, found in result.detected] == [(4, "certain")]


@pytest.mark.parametrize(
    "body",
    [
        "",
        " \n",
        "<html><h1>502 Bad Gateway</h1></html>",
        '{"error": {"message": "overloaded"}}',
        '{"object": "chat.completion", "choices": []}',
    ],
)
def test_what_came_instead_of_a_stream_is_a_turn_too(body: str) -> None:
    result = imported(recorded((OPENAI, STREAMED, body)))
    (cassette,) = result.cassettes
    assert (cassette.dialect, cassette.interactions[0].body) == ("openai-chat", body.encode())
    assert result.skipped == ()


@each_row(
    ("uri", "asked", "taken"),
    [
        ("https://x/v1beta/models/g:streamGenerateContent", {"contents": []}, True),
        ("https://x/v1beta/models/g:generateContent", {"contents": []}, False),
        ("https://x/model/anthropic.c/invoke-with-response-stream", {"messages": []}, True),
        ("https://x/model/anthropic.c/invoke", {"messages": []}, False),
        ("http://h/api/chat", {"messages": []}, True),
        ("http://h/api/chat", {"messages": [], "stream": False}, False),
        ("https://api.anthropic.com/v1/messages", {"stream": True}, True),
        ("https://api.anthropic.com/v1/messages", {}, False),
    ],
)
def test_each_api_asks_for_a_stream_in_its_own_way(uri: str, asked: object, *, taken: bool) -> None:
    result = imported(recorded((uri, asked, "")))
    assert bool(result.cassettes) is taken
    assert result.skipped == (() if taken else ("the request was not for a stream",))


def test_each_provider_and_dialect_is_a_cassette_of_its_own() -> None:
    anthropic = "https://api.anthropic.com/v1/messages"
    start = 'event: message_start\ndata: {"type": "message_start"}\n\n'
    asked = STREAMED | {"model": "m"}
    result = imported(recorded((OPENAI, asked, CHUNK), (anthropic, asked, start)))
    told = [(c.provider, c.model, c.dialect, c.origin.source) for c in result.cassettes]
    assert told == [
        ("openai", "m", "openai-chat", "a.yaml#0"),
        ("anthropic", "m", "anthropic", "a.yaml#1"),
    ]


def test_a_plain_cassette_is_judged_without_what_is_no_answer() -> None:
    login: tuple[str, object, str | bytes] = (
        "https://oauth2.googleapis.com/token",
        {},
        '{"access_token": "x"}',
    )
    data = recorded(login, (OPENAI, STREAMED, CHUNK), (OPENAI, {"stream": False}, "{}"))
    plain = parse_cassette(data, "a", where="a")
    assert reasons_to_skip(plain) == (
        "an OAuth token exchange",
        "",
        "the request was not for a stream",
    )
    assert [each.request.uri for each in only_answers(plain).interactions] == [OPENAI]
    nothing = parse_cassette(recorded(login), "a", where="a")
    assert only_answers(nothing) == nothing
    (own,) = imported(data).cassettes
    assert only_answers(own) == own


@pytest.mark.parametrize("dialect", ["", "gemini"])
def test_a_token_exchange_is_skipped_whatever_its_headers_and_the_user_say(dialect: str) -> None:
    login = "https://oauth2.googleapis.com/token"
    headers = {"x-goog-api-client": ["gl-python/3.12"]}
    sent = {"grant_type": "refresh_token", "refresh_token": "SECRET"}
    data = recorded((login, sent, '{"access_token": "SECRET"}'), (OPENAI, STREAMED, CHUNK))
    data = data.replace(b"headers: null", f"headers: {json.dumps(headers)}".encode(), 1)
    result = imported(data, dialect=dialect)
    assert result.skipped == ("an OAuth token exchange",)
    (cassette,) = result.cassettes
    assert len(cassette.interactions) == 1
    assert "SECRET" not in format_cassette(cassette)
    own = msgspec.structs.replace(parse_cassette(data, "a", where="a"), origin=cassette.origin)
    assert reasons_to_skip(own) == ("an OAuth token exchange", "")


def test_a_body_that_we_cannot_decode_is_not_taken() -> None:
    for encoding, body, reason in (
        ("compress", b"\x1f\x9d\x90", "content encoding compress is not read"),
        ("gzip", b"\x1f\x8b\x00\x00", "expected a compressed body, found damaged bytes"),
    ):
        data = recorded((OPENAI, STREAMED, body), headers={"Content-Encoding": [encoding]})
        (skipped,) = imported(data).skipped
        assert skipped.startswith(reason)


def test_a_body_that_was_decoded_already_is_taken() -> None:
    data = recorded((OPENAI, STREAMED, CHUNK), headers={"Content-Encoding": ["br"]})
    (cassette,) = imported(data).cassettes
    assert cassette.interactions[0].headers == ()


def test_credentials_do_not_come_along() -> None:
    secret = {"Authorization": ["Bearer s"], "Set-Cookie": ["s"], "X-API-Key": ["s"], "Date": ["d"]}
    secret["Content-Type"] = ["text/event-stream"]
    (cassette,) = imported(recorded((OPENAI, STREAMED, CHUNK), headers=secret)).cassettes
    kept: Headers = (("Content-Type", "text/event-stream"),)
    assert (cassette.interactions[0].headers, cassette.interactions[0].request.headers) == (
        kept,
        kept,
    )


def test_the_user_outranks_the_recording() -> None:
    labels = {"provider": "p", "model": "m", "prompt": "q", "dialect": "openai-chat"}
    (cassette,) = imported(recorded(("", {}, "?")), **labels).cassettes
    assert (cassette.provider, cassette.model, cassette.prompt) == ("p", "m", "q")


def test_the_folder_names_the_provider_only_where_no_address_does() -> None:
    raw = CHUNK.encode()
    assert imported(raw, "fixtures/deepseek/a.sse").cassettes[0].provider == "deepseek"
    assert imported(raw, "fixtures/a.sse").cassettes[0].provider == "unknown"
    known = recorded((OPENAI, STREAMED, CHUNK))
    assert imported(known, "fixtures/deepseek/a.yaml").cassettes[0].provider == "openai"


def test_a_file_of_no_known_kind_gives_nothing() -> None:
    assert imported(b"hello") == Imported("")


def test_credentials_in_the_address_do_not_come_along_either() -> None:
    uri = OPENAI.replace("//", "//user:hunter2@") + "?api-key=SECRETKEY123&alt=sse"
    names = ("X-Auth-Token", "cf-aig-authorization", "xi-api-key", "Api_Key")
    given = recorded((uri, STREAMED, CHUNK), headers={name: ["s"] for name in names})
    (cassette,) = imported(given).cassettes
    request = cassette.interactions[0].request
    assert (request.uri, request.headers) == (f"{OPENAI}?api-key=REDACTED&alt=sse", ())
    assert cassette.provider == "openai"


def test_a_dialect_of_the_user_overrules_no_more_than_the_dialect() -> None:
    parts = [
        (OPENAI, {"model": "m", "messages": []}, '{"object": "chat.completion"}'),
        (OPENAI, STREAMED, CHUNK),
    ]
    data = recorded(*parts)
    result = imported(data, dialect="mistral")
    assert result.skipped == ("the request was not for a stream",)
    assert [c.origin.source for c in result.cassettes] == ["a.yaml#1"]
    listed = recorded(("https://h/v1/models", {}, "{}")).replace(b"POST", b"GET")
    assert imported(listed, dialect="mistral").skipped == ("the request was not for a stream",)


@pytest.mark.parametrize("place", sorted(PLACES))
def test_an_import_removes_what_a_recording_does(place: str, tmp_path: Path) -> None:
    secret = "k7Zx81aB3dE6gH9jK2mN5p"  # noqa: S105 - not a password of anything
    sent, answer = PLACES[place](secret), CHUNK.replace("m-1", f"m {secret}").encode()
    # The recorder frees the memory of what is on the disk: in its journal, or in the cassette.
    with Recorder(tmp_path / "a.yaml", mode="all", allow_in_ci=True, journal=False) as recorder:
        tape = recorder.record(sent)
        tape.head(200, ())
        tape.add(answer)
        tape.end("complete")
        whole = Cassette("a", (tape.interaction(),), Origin("imported", by="harness import"))
    given = format_cassette(whole).encode()
    (cassette,) = imported(given).cassettes
    (mine,), (other,) = cassette.interactions, load_cassette(tmp_path / "a.yaml").interactions
    assert (mine.request, mine.body, mine.headers) == (other.request, other.body, other.headers)
    assert secret not in format_cassette(cassette)


def test_a_secret_that_cannot_be_replaced_costs_its_interaction() -> None:
    secret = encode_event(
        b'{"contentBlockDelta": {"delta": {"text": "sk-aB3dE6gH9jK2mN5pQ8sT"}}}', "x"
    )
    data = recorded((OPENAI, STREAMED, secret), (OPENAI, STREAMED, CHUNK))
    result = imported(data, dialect="openai-chat")
    (reason,) = result.skipped
    assert reason.startswith("a secret cannot be replaced: ")
    assert len(result.cassettes[0].interactions) == 1
