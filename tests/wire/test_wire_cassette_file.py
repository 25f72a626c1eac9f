"""Saved cassettes come back byte-exact, here and in vcrpy; what was touched is refused."""

import gzip
import zlib
from pathlib import Path

import httpx
import pytest
import vcr  # type: ignore[import-untyped]  # vcrpy ships no types
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.files import load
from harness.providers import provider_of
from harness.wire import decompress as decompress_module
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette, parse_cassette, save_cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.interaction import Interaction, Read, Request
from harness.wire.reads import format_reads, parse_reads, synthetic_reads
from tests.tables import each_row

URI = "https://api.example.com/v1/chat/completions"
STREAM = 'data: {"id": "é"}\n\ndata: [DONE]\n\n'.encode()
HARD = [
    "\r\n",
    "\u2028",
    "\x85",
    "\ufeff",
    "\x00",
    " ",
    "\t",
    "\n\n\n",
    " \n",
    "#",
    "---\n",
    '"',
    "\\",
]
HARD += ["\x7f", "\ufffe", "\u200e", "\U0001f600", "'", "{a: b}", "- ", "|+", "é", "\x1b[31m"]

BODIES = (
    st.binary(max_size=60)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(str.encode)
    | st.lists(st.sampled_from([*HARD, "data: x", "\n"]), max_size=8).map(
        lambda pieces: "".join(pieces).encode()
    )
).filter(lambda body: not body.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")))  # compressed
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def interaction(body: bytes = STREAM, reads: tuple[Read, ...] | None = None) -> Interaction:
    request = Request("POST", URI, (("content-type", "application/json"),), b'{"model": "m"}')
    headers = (("Content-Type", "text/event-stream"),)
    if reads is None:
        return Interaction(request, 200, headers, body, synthetic_reads(body), reads_kept=False)
    return Interaction(request, 200, headers, body, reads)


def cassette(*interactions: Interaction) -> Cassette:
    origin = Origin("recorded", by="tests", at="2026-11-02", source="here")
    return Cassette("a/b", interactions, origin, "dashscope", "qwen", "p/v1")


def plain(**response: object) -> bytes:
    """Return a vcrpy cassette as vcrpy itself writes one."""
    answer = {"status": {"code": 200, "message": "OK"}, "headers": {}, **response}
    request: dict[str, object] = {"method": "POST", "uri": URI, "headers": {}, "body": None}
    return yaml.safe_dump(
        {"interactions": [{"request": request, "response": answer}], "version": 1}
    ).encode()


@given(BODIES, BODIES)
def test_any_bytes_come_back_here_and_in_vcrpy(body: bytes, sent: bytes) -> None:
    request = Request("POST", URI, (), sent)
    reads = (Read(1, 7), Read(len(body) - 1, 0)) if len(body) > 1 else synthetic_reads(body)
    saved = cassette(Interaction(request, 200, (), body, reads))
    text = format_cassette(saved)
    assert parse_cassette(text.encode(), "a/b", where="x") == saved
    requests, responses = vcr.serialize.deserialize(text, vcr.serializers.yamlserializer)
    assert responses[0]["body"]["string"] == body
    assert (requests[0].body or b"") == sent
    assert yaml.safe_load(text) == yaml.load(text, yaml.CSafeLoader)


@given(WORDS, WORDS, WORDS)
def test_any_words_come_back(name: str, value: str, model: str) -> None:
    request = Request("POST", value, ((name, value), (name, model)), b"")
    origin = Origin("imported", source=value, licence=model)
    saved = Cassette("a", (Interaction(request, 418, (), b"", ()),), origin, model=model)
    assert parse_cassette(format_cassette(saved).encode(), "a", where="x") == saved


def test_vcrpy_replays_what_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "c.yaml"
    bodies = (STREAM, STREAM.replace(b"\n", b"\r\n"), b"data: \xff\n\n", b"")
    save_cassette(cassette(*(interaction(body) for body in bodies)), path)
    with vcr.use_cassette(str(path), record_mode="none"), httpx.Client() as client:
        answers = [client.post(URI, json={"model": "m"}) for _ in bodies]
    assert tuple(answer.content for answer in answers) == bodies
    assert answers[0].headers["content-type"] == "text/event-stream"


def test_save_and_load_keep_reads_and_make_ids(tmp_path: Path) -> None:
    saved = cassette(interaction(STREAM, (Read(10, 31), Read(len(STREAM) - 10, 0))), interaction())
    path = tmp_path / "a" / "b.yaml"
    save_cassette(saved, path)
    save_cassette(saved, path)
    assert load_cassette(path, tmp_path) == saved
    assert load_cassette(path).id == "b"
    assert [item.name for item in path.parent.iterdir()] == ["b.yaml"]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    save_cassette(cassette(interaction()), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="add up"):
        save_cassette(cassette(interaction(STREAM, (Read(1),))), path)
    assert path.read_bytes() == before


def test_bodies_are_readable_blocks_where_yaml_allows() -> None:
    text = format_cassette(cassette(interaction(STREAM + b"data: x \n")))
    assert '      string: |\n        data: {"id": "é"}\n\n        data: [DONE]\n' in text
    crlf = format_cassette(cassette(interaction(b"data: 1\r\n\r\n data: 2\r\n")))
    assert '"data: 1\\r\\n\\\n        \\r\\n\\\n        \\ data: 2\\r\\n"' in crlf
    assert "string: !!binary |\n" in format_cassette(cassette(interaction(b"\xff" * 100)))


@each_row(
    ("stored", "headers"),
    [
        (gzip.compress(STREAM, mtime=0), {}),
        (
            gzip.compress(STREAM[:9], mtime=0) + gzip.compress(STREAM[9:], mtime=0),
            {"Content-Encoding": ["gzip"]},
        ),
        (zlib.compress(STREAM), {"content-encoding": "deflate"}),
        (zlib.compress(STREAM, wbits=-15), {"content-encoding": ["deflate"]}),
        (STREAM, {"content-encoding": ["gzip"], "content-length": ["3"]}),
        (STREAM.decode(), {}),
    ],
)
def test_plain_vcrpy_cassettes_load(stored: bytes | str, headers: dict[str, object]) -> None:
    loaded = parse_cassette(plain(body={"string": stored}, headers=headers), "x", where="x")
    (only,) = loaded.interactions
    assert only.body == STREAM
    assert (only.headers, only.reads_kept) == ((), False)
    assert [read.size for read in only.reads] == [20, 14]
    assert (loaded.origin.kind, loaded.model, loaded.dialect) == ("imported", "unknown", "unknown")


def test_a_parsed_request_body_is_json_again() -> None:
    request = {"method": "POST", "uri": "https://api.openai.com/v1", "parsed_body": {"a": ["é"]}}
    response = {"status": {"code": 200}, "body": {"string": None}, "headers": {"X": [1, "b"]}}
    text = yaml.safe_dump({"interactions": [{"request": request, "response": response}]})
    loaded = parse_cassette(text.encode(), "x", where="x")
    assert loaded.interactions[0].request.body == '{"a":["é"]}'.encode()
    assert loaded.interactions[0].headers == (("X", "1"), ("X", "b"))
    assert (loaded.interactions[0].body, loaded.provider) == (b"", "openai")


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompress_module, "MAX_BODY_BYTES", 1000)
    bomb = plain(body={"string": gzip.compress(b"0" * 1001)})
    with pytest.raises(UnreadableError, match="when expanded"):
        parse_cassette(bomb, "x", where="x")
    many = plain(body={"string": gzip.compress(b"0") * 17})
    with pytest.raises(UnreadableError, match="16 members"):
        parse_cassette(many, "x", where="x")
    with pytest.raises(UnreadableError, match="damaged"):
        parse_cassette(plain(body={"string": b"\x1f\x8b\x00\x00"}), "x", where="x")


GOOD = format_cassette(cassette(interaction(STREAM, (Read(len(STREAM), 3),))))


@each_row(
    ("old", "new", "place", "fact"),
    [
        ("[DONE]", "[done]", "harness.body_sha256[0]", "an editor or a git filter"),
        ('reads: "3:34"', 'reads: "3:30"', "interactions[0].response.reads", "body's 34 bytes"),
        ('reads: "3:34"', 'reads: "34"', "interactions[0].response.reads", "milliseconds:bytes"),
        ('reads: "3:34"', "reads: [34]", "interactions[0].response.reads", "a list"),
        ('reads: "3:34"', 'reads: "0:0 3:34"', "interactions[0].response.reads", "bytes"),
        ("  model: qwen", "  modl: qwen", "harness", "Did you mean 'model'?"),
        ("    kind: ", "    kid: ", "harness.origin", "Did you mean 'kind'?"),
        ("kind: recorded", "kind: copied", "harness.origin.kind", "recorded, imported, emulated"),
        ("harness:", "harnes:", "x.yaml", "Did you mean 'harness'?"),
        ("model: qwen", "model: 3", "harness.model", "a whole number 3"),
        ("code: 200", "code: OK", "interactions[0].response.status", "status code"),
        ("code: 200", "code: OK", "interactions[0].response.status", "`harness import FILE`"),
        ("interactions:", "interaction:", "x.yaml", "'interactions'"),
        ("interactions:", "interaction:", "x.yaml", "`harness import FILE`"),
        ("  response:", "  respons:", "interactions[0].response", "a response"),
        ("method: POST", "method: [POST]", "interactions[0].request.method", "text"),
        ("body_sha256:", "body_sha256: []\n  #", "x.yaml", "expected"),
    ],
)
def test_what_was_touched_is_refused(old: str, new: str, place: str, fact: str) -> None:
    assert old in GOOD
    with pytest.raises(UnreadableError) as caught:
        parse_cassette(GOOD.replace(old, new, 1).encode(), "x", where="x.yaml")
    assert place in caught.value.where
    assert fact in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "a: b", "interactions: 3", "interactions: [3]"])
def test_what_is_no_cassette_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="expected"):
        parse_cassette(text.encode(), "x", where="x.yaml")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="can be read"):
        load_cassette(tmp_path / "none.yaml")
    with pytest.raises(UnreadableError, match="can be read"):
        load_cassette(tmp_path)


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**9))))
def test_reads_come_back(pairs: list[tuple[int, int]]) -> None:
    reads = tuple(Read(size, delay) for size, delay in pairs)
    assert parse_reads(format_reads(reads)) == reads


@given(BODIES)
def test_synthetic_reads_add_up(body: bytes) -> None:
    assert sum(read.size for read in synthetic_reads(body)) == len(body)


@each_row(
    ("uri", "provider"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai"),
        ("https://x.services.ai.azure.com/models/chat/completions", "azure-ai"),
        ("http://localhost:11434/v1/chat/completions", "ollama"),
        ("http://localhost:8000/v1", "unknown"),
        ("https://notapi.openai.com.evil.example/", "unknown"),
        ("<HOST>/chat/completions", "unknown"),
        ("http://[::1", "unknown"),
        ("http://a:99999999/", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_provider_is_known_by_its_host(uri: str, provider: str) -> None:
    assert provider_of(uri) == provider


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_a_device_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 1000)
    with pytest.raises(UnreadableError, match="at most 1000 bytes"):
        load_cassette(Path("/dev/zero"))
