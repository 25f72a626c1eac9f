"""The formats of recorders in other languages: each fixture is written after its documentation.

A hostile file is refused with the place in it, and costs no other file.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli.import_ import import_command
from harness.errors import UnreadableError
from harness.files import yaml_text
from harness.recording.importers import read
from harness.recording.importing import Imported, Labels, import_file
from tests.recording.format_fixtures import FIXTURES, FORMATS, STREAM, WITHOUT_REQUEST
from tests.tables import each_row

URI = "https://api.avian.io/v1/chat/completions"


def imported(path: Path, data: bytes | None = None) -> Imported:
    return import_file(path, path.read_bytes() if data is None else data, path.name, Labels())


@each_row("name", FIXTURES)
def test_fixture_gives_its_streams_and_its_request(name: str) -> None:
    container, count, _ = FIXTURES[name]
    found = imported(FORMATS / name)
    assert (found.container, found.skipped) == (container, ())
    (cassette,) = found.cassettes
    assert [each.body for each in cassette.interactions] == [STREAM] * count
    labels = (cassette.provider, cassette.model, cassette.dialect)
    assert labels == ("avian", "deepseek-v3", "openai-chat")
    assert {each.status for each in cassette.interactions} == {200}
    assert all("text/event-stream" in each.header("content-type") for each in cassette.interactions)
    request = cassette.interactions[0].request
    assert (request.method, request.uri.replace(":443", "")) == ("POST", URI)
    if name not in WITHOUT_REQUEST:
        assert json.loads(request.body)["tools"][0]["function"]["name"] == "get_weather"


@each_row("name", FIXTURES)
def test_fixture_in_gzip_gives_the_same(name: str) -> None:
    plain, packed = FORMATS / name, FORMATS / f"{name}.gz"
    found, again = imported(plain), imported(packed, gzip.compress(plain.read_bytes()))
    assert again.container == found.container
    assert [each.interactions for each in again.cassettes] == [
        each.interactions for each in found.cassettes
    ]


@pytest.mark.parametrize("cut", [3, 12, -9, -1])
def test_damaged_gzip_is_refused(cut: int) -> None:
    with pytest.raises(UnreadableError):
        imported(Path("a.yaml.gz"), gzip.compress(STREAM)[:cut])


def test_a_gzip_bomb_is_refused() -> None:
    bomb = gzip.compress(bytes(1 << 20)) * 257
    with pytest.raises(UnreadableError, match="expected at most 268435456 bytes"):
        imported(Path("a.json.gz"), bomb)


def test_a_chunk_list_gets_the_request_in_the_file_next_to_it(tmp_path: Path) -> None:
    events = [line.removeprefix("data: ") for line in STREAM.decode().split("\n") if line]
    pair = json.loads((FORMATS / "request-response.json").read_bytes())
    for name in ("", "followup-"):
        response = tmp_path / f"{name}response-streaming.json"
        response.write_text(f"[{', '.join(events[:-1])}]")
        (tmp_path / f"{name}request.json").write_text(json.dumps(pair["request"]["body"]))
        (cassette,) = imported(response).cassettes
        assert json.loads(cassette.interactions[0].request.body) == pair["request"]["body"]
    (tmp_path / "request.json").write_text("[" * 100_000)
    (cassette,) = imported(tmp_path / "response-streaming.json").cassettes
    assert cassette.interactions[0].request.body == b""


def test_a_stream_of_the_assistants_api_is_named_as_unsupported() -> None:
    # https://platform.openai.com/docs/api-reference/assistants-streaming/events
    found = imported(FORMATS / "assistants.sse")
    assert found.cassettes == ()
    assert found.skipped == ("no dialect reads the OpenAI Assistants API",)
    pair = json.loads((FORMATS / "request-response.json").read_bytes())
    pair["request"] |= {"url": f"{URI}/threads/runs", "headers": {"OpenAI-Beta": "assistants=v2"}}
    pair["response"]["body"] = "event: error\ndata: {}\n\n"
    del pair["request"]["body"]
    assert imported(Path("a.json"), json.dumps(pair).encode()).skipped == found.skipped


def test_a_disabled_header_of_postman_was_not_sent() -> None:
    path = FORMATS / "postman.json"
    found = read(path, path.read_bytes())
    assert found is not None
    (only,) = found[1].cassette.interactions
    assert only.request.headers == (("Content-Type", "application/json"),)


def test_a_postman_collection_of_format_1_is_refused() -> None:
    schema = "https://schema.getpostman.com/json/collection/v1.0.0/collection.json"
    data = json.dumps({"info": {"schema": schema}, "requests": []}).encode()
    with pytest.raises(UnreadableError, match=r"format 2\.0 or 2\.1") as caught:
        imported(Path("a.json"), data)
    assert "Collection v2.1" in caught.value.hint


# Hostile files


def load(name: str) -> Any:  # noqa: ANN401 - any JSON
    data = (FORMATS / name).read_bytes()
    return yaml_text.load_yaml(data, name) if name.endswith((".yaml", ".yml")) else json.loads(data)


# Bodies of requests; facts that no reader uses; requests of entries after the first one.
SKIPPED = {"body", "timings", "cookies", "globalActions", "meta"}
AGAIN = {"request", "cache", "headers"}


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each value of a document that a reader may look at."""
    yield path
    is_first = not any(isinstance(step, int) and step for step in path)
    if path and (path[-1] in SKIPPED or (path[-1] in AGAIN and not is_first)):
        return
    items: Any = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield from places(item, (*path, key))


def changed(document: object, path: tuple[str | int, ...], value: object) -> object:
    if not path:
        return value
    copy: Any = deepcopy(document)
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if value is MISSING:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copy


def nested(depth: int) -> object:
    value: object = "deep"
    for _ in range(depth):
        value = [{"a": value}]
    return value


def refusal(
    reader: Callable[[Path, bytes], object], path: Path, data: bytes
) -> UnreadableError | None:
    try:
        reader(path, data)
    except UnreadableError as error:
        return error
    return None


MISSING = object()
HALF = "\ud800"  # of a pair of surrogates
HOSTILE: tuple[object, ...] = (
    MISSING,
    None,
    [],
    {},
    [[]],
    True,
    -1,
    10**400,
    HALF,
    "../../etc/passwd",
    nested(20),
)


@each_row("name", FIXTURES)
def test_a_hostile_value_anywhere_is_refused_with_its_place_or_read(name: str) -> None:
    document = load(name)
    path = FORMATS / name
    for place in places(document):
        for value in HOSTILE[place == () :]:
            text = json.dumps(changed(document, place, value)).encode()
            # The rest of an import takes long, and only texts without encoding concern it.
            reader = imported if value == HALF else read
            error = refusal(reader, path, text)
            assert error is None or (error.what and error.where.startswith(str(path))), place


@each_row("name", FIXTURES)
@each_row("depth", [200, 100_000])
def test_deep_nesting_is_refused_or_another_container(name: str, depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    data = (FORMATS / name).read_bytes().replace(b"200", deep, 1)
    error = refusal(imported, FORMATS / name, data)
    if error is not None:
        assert error.where.startswith(str(FORMATS / name))
        return
    found = imported(FORMATS / name, data)  # another file, or only one of its entries is damaged
    assert found.container == "" or found.skipped


NOCK = {"scope": "https://api.avian.io", "path": "/v1/chat/completions", "status": 200}
AZURE = {"RequestUri": URI, "uri": URI}
BLOB = {"status": 200, "body_type": "blob", "body_blob": "!"}
BYTES = {"statusCode": 200, "body": {"type": "BINARY", "base64Bytes": 3}}
REFUSED = [
    ("go-vcr-v3.yaml", ("interactions", 0, "response", "code"), "x", "a status code"),
    ("go-vcr-v2.yaml", ("interactions", 0, "response", "headers"), "x", "a mapping"),
    ("nock.json", (0, "status"), 10**400, "a status code"),
    ("nock-hex.json", (), [{**NOCK, "response": "zz", "responseIsBinary": True}], "hexadecimal"),
    ("nock.json", (0, "scope"), {}, "expected text"),
    ("nock.json", (0, "status"), True, "a status code"),
    ("wiremock/mappings/body-file.json", ("response", "bodyFileName"), "a\0b", "below the folder"),
    ("wiremock/mappings/body-file.json", ("response", "bodyFileName"), "https://a/b", "No such"),
    ("request-response.json", ("response", "status"), 1_000, "a status code"),
    ("flat.json", ("headers",), 3, "a mapping"),
    ("vcrpy.json", ("interactions", 0, "response", "body", "string"), [1], "expected text"),
    ("polly-browser.json", ("Weather_823972681", "log", "entries"), {}, "a list"),
    ("wiremock/mappings/body-file.json", ("response", "bodyFileName"), "../a", "below the folder"),
    ("wiremock/mappings/body-file.json", ("response", "bodyFileName"), "/etc/passwd", "below the"),
    ("wiremock/mappings/body-file.json", ("response", "bodyFileName"), "none", "No such file"),
    ("wiremock/mappings/body-file.json", ("response", "fault"), "EMPTY_RESPONSE", "a fault"),
    ("hoverfly/v1.json", ("data", "pairs"), {}, "a list"),
    ("hoverfly/v1.json", ("data", "pairs", 0, "response", "bodyFile"), "../v5.json", "below the"),
    ("hoverfly/v5.json", ("data", "pairs"), [{"response": {"status": "?"}}], "a status code"),
    ("postman.json", ("item", 0, "item", 0, "response", 0, "code"), None, "a status code"),
    ("postman.json", ("item", 0, "item", 0, "response", 0, "header"), 4, "a mapping"),
    ("azure-test-proxy.json", ("Entries",), [{**AZURE, "StatusCode": "x"}], "a status code"),
    ("req-cassette.json", ("interactions",), [{"request": AZURE, "response": BLOB}], "base64"),
    ("mockserver.json", (), [{"httpRequest": {}, "httpResponse": BYTES}], "expected text"),
    ("easyvcr.json", (0, "Response", "Status", "Code"), 10**400, "a status code"),
    ("scotch.json", (0, "Response", "ContentHeaders"), 3, "a mapping"),
    ("charles.chlsj", (0, "request", "header", "headers"), [3], "a mapping"),
    ("keploy.yaml", ("spec", "resp", "status_code"), True, "a status code"),
    ("responses.yaml", ("responses", 0, "response", "status"), [], "a status code"),
    ("proxay.yml", ("http_interactions", 0, "response", "body", "encoding"), "base64", "base64"),
]


@pytest.mark.parametrize(("name", "place", "value", "error"), REFUSED)
def test_hostile_file_costs_no_other_file(
    tmp_path: Path, name: str, place: tuple[str | int, ...], value: object, error: str
) -> None:
    bad = tmp_path / "in" / name
    bad.parent.mkdir(parents=True)
    bad.write_text(json.dumps(changed(load(name), place, value)))
    (tmp_path / "in" / "good.sse").write_bytes(STREAM)
    args = [str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--format", "json"]
    result = CliRunner().invoke(import_command, args)
    told = json.loads(result.stdout)
    assert (result.exit_code, told["cassettes"]) == (2, 1)
    (refused,) = told["not_imported"]
    assert refused["file"] == name
    assert error in refused["reason"]
    assert str(tmp_path) not in refused["reason"]


def test_a_link_out_of_the_folder_of_bodies_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(STREAM)
    (tmp_path / "stubs/__files/chat").mkdir(parents=True)
    (tmp_path / "stubs/__files/chat/stream.txt").symlink_to(tmp_path / "secret")
    mapping = tmp_path / "stubs/mappings/a.json"
    data = (FORMATS / "wiremock/mappings/body-file.json").read_bytes()
    with pytest.raises(UnreadableError, match="below the folder"):
        imported(mapping, data)
    (tmp_path / "stubs/__files/chat/stream.txt").unlink()
    (tmp_path / "stubs/__files/chat/stream.txt").write_bytes(STREAM)
    assert len(imported(mapping, data).cassettes) == 1


def test_a_damaged_entry_costs_no_other_entry() -> None:
    path = FORMATS / "wiremock/mappings/several.json"
    document = changed(load("wiremock/mappings/several.json"), ("mappings", 0, "response"), 1)
    found = imported(path, json.dumps(document).encode())
    assert [len(each.interactions) for each in found.cassettes] == [1]
    (reason,) = found.skipped
    assert reason.startswith("damaged: expected a mapping with text keys")
    assert "mappings[0].response" in reason
