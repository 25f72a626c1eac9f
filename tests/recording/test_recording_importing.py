"""One file gives one cassette for each model, honestly labelled; the rest is counted."""

import json
from pathlib import PurePath

import yaml

from harness.recording.importing import Imported, Labels, import_file
from harness.wire.interaction import Headers

CHUNK = 'data: {"object":"chat.completion.chunk","model":"m-1","choices":[]}\n\n'
OPENAI = "https://api.openai.com/v1/chat/completions"
STREAMED = {"stream": True}


def recorded(*parts: tuple[str, object, str], headers: object = None) -> bytes:
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


def test_what_is_not_taken_is_counted_with_its_reason() -> None:
    plain = '{"object": "chat.completion"}'
    result = imported(
        recorded(
            ("https://api.anthropic.com/v1/messages", STREAMED, "data: {}\n\n"),
            ("https://api.openai.com/v1/embeddings", {}, "{}"),
            (OPENAI, {"model": "m"}, plain),
            (OPENAI, STREAMED, ""),
            (OPENAI, STREAMED, '{"error": {"message": "overloaded"}}'),
        )
    )
    assert result.skipped == (
        "dialect anthropic is not read yet",
        "no dialect recognised",
        "no stream was asked for",
        "empty response",
    )
    assert [c.origin.source for c in result.cassettes] == ["a.yaml#4"]


def test_a_body_that_we_cannot_decode_is_not_taken() -> None:
    data = recorded((OPENAI, STREAMED, "?"), headers={"Content-Encoding": ["br"]})
    assert imported(data).skipped == ("content encoding br is not read",)


def test_credentials_do_not_come_along() -> None:
    secret = {"Authorization": ["Bearer s"], "Set-Cookie": ["s"], "X-API-Key": ["s"], "Date": ["d"]}
    (cassette,) = imported(recorded((OPENAI, STREAMED, CHUNK), headers=secret)).cassettes
    kept: Headers = (("Date", "d"),)
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
